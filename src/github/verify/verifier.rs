use bytes::Bytes;
use http::HeaderMap;

use super::{KeySet, KeySource, SignatureHeaders, VerifyError, VerifyErrorKind};
use crate::github::Verified;

/// Verifies one request with keys that are at hand. Pure: no clock, no network.
///
/// `body` is the body of the request as it came, read to its end and not yet parsed. Order of the
/// checks: body, headers, the form of the signature, the key, the signature.
///
/// Nothing but the body is signed, so a recorded request verifies again: **there is no protection
/// against replay** in this protocol.
///
/// ```
/// # #[cfg(feature = "testing")] {
/// use copilot_wire::github::verify::{RequestSigner, VerifyErrorKind, verify};
///
/// let signer = RequestSigner::from_seed(b"a test");
/// let body = br#"{"messages":[]}"#;
/// let headers = signer.sign(body);
///
/// assert!(verify(body, &headers, &signer.key_set()).is_ok());
/// let refused = verify(b"{}", &headers, &signer.key_set()).unwrap_err();
/// assert_eq!(refused.kind(), VerifyErrorKind::SignatureMismatch);
/// # }
/// ```
///
/// # Errors
///
/// [`VerifyError`] of any kind but [`KeysUnavailable`](VerifyErrorKind::KeysUnavailable).
pub fn verify<'a>(
    body: &'a [u8],
    headers: &HeaderMap,
    keys: &KeySet,
) -> Result<Verified<&'a [u8]>, VerifyError> {
    keys.check(body, &claim(body, headers)?)?;
    Ok(Verified::assume_verified(body))
}

/// Verifies requests with the keys of a [`KeySource`].
#[derive(Debug, Clone)]
pub struct Verifier<K> {
    keys: K,
}

impl<K: KeySource> Verifier<K> {
    /// Verifies with these keys.
    pub fn new(keys: K) -> Self {
        Self { keys }
    }

    /// Verifies one request. The same checks as [`verify`]; a request that fails one of those that
    /// need no key never reaches the key source, and so never causes a fetch.
    ///
    /// # Errors
    ///
    /// [`VerifyError`]; answer with its [status](VerifyError::status) and no more than its
    /// `Display`.
    ///
    /// # Cancel safety
    ///
    /// As safe as the key source: with [`CachedKeys`](super::CachedKeys) nothing is lost.
    pub async fn verify(
        &self,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Result<Verified<Bytes>, VerifyError> {
        let claim = claim(&body, headers)?;
        let keys = self.keys.keys(claim.key_identifier()).await?;
        keys.check(&body, &claim)?;
        Ok(Verified::assume_verified(body))
    }
}

fn claim(body: &[u8], headers: &HeaderMap) -> Result<SignatureHeaders, VerifyError> {
    if body.is_empty() {
        return Err(VerifyErrorKind::EmptyBody.into());
    }
    SignatureHeaders::read(headers)
}
