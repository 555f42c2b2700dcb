use bytes::Bytes;
use http::HeaderMap;

use super::{KeySet, KeySource, SignatureHeaders, VerifyError, VerifyErrorKind};
use crate::github::Verified;

/// Verifies one request with available keys. It uses no clock and no network.
///
/// `body` is the complete body of the request, before parsing. The checks are made in this order:
/// body, headers, form of the signature, key, signature.
///
/// Only the body is signed, so a recorded request verifies again: this protocol has **no protection
/// against replay**.
///
/// ```
/// use copilot_wire::github::verify::{VerifyErrorKind, verify};
/// use copilot_wire_kit::github::RequestSigner;
///
/// let signer = RequestSigner::from_seed(b"a test");
/// let body = br#"{"messages":[]}"#;
/// let headers = signer.sign(body);
///
/// assert!(verify(body, &headers, &signer.key_set()).is_ok());
/// let refused = verify(b"{}", &headers, &signer.key_set()).unwrap_err();
/// assert_eq!(refused.kind(), VerifyErrorKind::SignatureMismatch);
/// ```
///
/// # Errors
///
/// [`VerifyError`] of any kind except [`KeysUnavailable`](VerifyErrorKind::KeysUnavailable).
pub fn verify<'a>(
    body: &'a [u8],
    headers: &HeaderMap,
    keys: &KeySet,
) -> Result<Verified<&'a [u8]>, VerifyError> {
    keys.check(body, &claim(body, headers)?)?;
    Ok(Verified::assume_verified(body))
}

/// A verifier of requests with the keys of a [`KeySource`].
#[derive(Debug, Clone)]
pub struct Verifier<K> {
    keys: K,
}

impl<K: KeySource> Verifier<K> {
    /// Creates a verifier with a source of keys.
    pub fn new(keys: K) -> Self {
        Self { keys }
    }

    /// Verifies one request, with the checks of [`verify`]. A request that fails a check without
    /// keys never reaches the key source, and so never causes a fetch.
    ///
    /// # Errors
    ///
    /// [`VerifyError`]. The response should have its [status](VerifyError::status) and at most its
    /// `Display`.
    ///
    /// # Cancel safety
    ///
    /// Cancelling is safe if the key source allows it, as [`CachedKeys`](super::CachedKeys) does.
    pub async fn verify(
        &self,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Result<Verified<Bytes>, VerifyError> {
        // Everything that needs no key comes first: a request with an unusable signature costs no
        // fetch.
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
    SignatureHeaders::from_headers(headers)
}
