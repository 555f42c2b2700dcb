use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{VerifyError, VerifyErrorKind};

/// The maximum length of a signature in base64: the DER of two 32-byte integers has up to 72 bytes,
/// which are 96 characters.
const LONGEST: usize = 96;

/// A well-formed signature: two integers in `[1, n-1]`. It is not yet verified. `Debug` does not
/// print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(p256::ecdsa::Signature);

impl Signature {
    /// Reads the value of the signature header: base64 of DER.
    ///
    /// High `s` is accepted, since GitHub sends it in half of all requests, and so are short
    /// integers. A signature has only one valid text, see
    /// [`MalformedSignature`](VerifyErrorKind::MalformedSignature).
    ///
    /// # Errors
    ///
    /// [`MalformedSignature`](VerifyErrorKind::MalformedSignature) for base64 that is not canonical
    /// (other characters, white space, URL-safe alphabet, missing padding), for DER with trailing
    /// bytes, negative or non-minimal integers, long-form or indefinite lengths, and for `r` or `s`
    /// outside `[1, n-1]`.
    pub fn from_base64(text: &[u8]) -> Result<Self, VerifyError> {
        Some(text)
            .filter(|text| text.len() <= LONGEST)
            .and_then(|text| BASE64_STANDARD.decode(text).ok())
            .and_then(|der| p256::ecdsa::Signature::from_der(&der).ok())
            .map(Self)
            .ok_or_else(|| VerifyErrorKind::MalformedSignature.into())
    }

    pub(super) fn as_ecdsa(&self) -> &p256::ecdsa::Signature {
        &self.0
    }
}

opaque_debug!(Signature);
