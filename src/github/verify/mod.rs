//! Request signatures of the Copilot platform (feature `verify`).
//!
//! The platform signs the raw body of every request with ECDSA on P-256 over SHA-256, sends the
//! signature and the identifier of its key in two headers, and publishes its keys at one URL.
//! [`Verifier`] checks a request against a [`KeySource`] and returns a
//! [`Verified`](super::Verified) body, which cannot be created otherwise by accident.
//!
//! ```
//! use bytes::Bytes;
//! use copilot_wire::github::verify::{CachedKeys, FetchKeys, Verifier, VerifyError};
//!
//! async fn handle<F: FetchKeys + 'static>(
//!     verifier: &Verifier<CachedKeys<F>>,
//!     request: http::Request<Bytes>,
//! ) -> http::Response<String> {
//!     let (parts, body) = request.into_parts();
//!     let answer = match verifier.verify(body, &parts.headers).await {
//!         Ok(body) => (http::StatusCode::OK, format!("{} bytes, verified", body.len())),
//!         Err(error) => (error.status(), error.to_string()),
//!     };
//!     let mut response = http::Response::new(answer.1);
//!     *response.status_mut() = answer.0;
//!     response
//! }
//! ```
//!
//! **Replay.** The signature covers only the body: no time, no URL, no header. A recorded request
//! can be sent again, and it verifies. If that matters, store the ids of handled requests, or use a
//! private channel.
//!
//! **Locally** a `RequestSigner` of the package `copilot-wire-kit` signs requests and writes a key
//! document, so that verification also runs in tests and on a laptop.

mod cache;
mod error;
mod fetch;
mod flight;
mod headers;
mod key_error;
mod key_id;
mod key_set;
mod public_key;
mod signature;
mod source;
mod verifier;

pub use cache::CachedKeys;
pub use error::{VerifyError, VerifyErrorKind};
pub use fetch::FetchKeys;
pub use headers::{HeaderPair, SignatureHeaders};
pub use key_error::{KeyError, KeyErrorKind};
pub use key_id::KeyId;
pub use key_set::KeySet;
pub use public_key::PublicKey;
pub use signature::Signature;
pub use source::KeySource;
pub use verifier::{Verifier, verify};
