use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use p256::ecdsa::{VerifyingKey, signature::Verifier as _};

use super::{KeyId, Signature, VerifyErrorKind};

/// The bytes that precede the 65 bytes of an uncompressed point in the DER of a P-256
/// `SubjectPublicKeyInfo`: `SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING }`.
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The first byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;
const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// A key of a [`KeySet`](super::KeySet).
///
/// A key that is not a P-256 key is retained as unsupported, so that a request with its identifier
/// is refused with [`UnsupportedKey`](VerifyErrorKind::UnsupportedKey).
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    identifier: KeyId,
    key: Option<VerifyingKey>,
    is_current: bool,
}

impl PublicKey {
    /// Reads the PEM of a `SubjectPublicKeyInfo` in the form that GitHub publishes: P-256, named
    /// curve, uncompressed point. A literal backslash followed by `n` is read as a newline. Any
    /// other form gives an unsupported key.
    pub fn from_pem(identifier: KeyId, pem: &str, is_current: bool) -> Self {
        let key = point(&pem.replace("\\n", "\n"))
            .and_then(|point| VerifyingKey::from_sec1_bytes(&point).ok());
        Self {
            identifier,
            key,
            is_current,
        }
    }

    pub(super) fn unsupported(identifier: KeyId, is_current: bool) -> Self {
        Self {
            identifier,
            key: None,
            is_current,
        }
    }

    /// Returns the identifier of the key.
    pub fn identifier(&self) -> &KeyId {
        &self.identifier
    }

    /// Returns `true` if the platform marks the key as current. During a rotation no key or several
    /// keys can be marked, which is why requests are matched by identifier.
    pub fn is_current(&self) -> bool {
        self.is_current
    }

    /// Returns `true` if signatures can be verified with this key.
    pub fn is_supported(&self) -> bool {
        self.key.is_some()
    }

    pub(super) fn check(&self, body: &[u8], signature: &Signature) -> Result<(), VerifyErrorKind> {
        let key = self.key.as_ref().ok_or(VerifyErrorKind::UnsupportedKey)?;
        key.verify(body, signature.as_ecdsa())
            .map_err(|_| VerifyErrorKind::SignatureMismatch)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("is_current", &self.is_current)
            .field("is_supported", &self.is_supported())
            .finish_non_exhaustive()
    }
}

/// Returns the point in a PEM text, which must be exactly its two boundary lines with base64
/// between them.
fn point(pem: &str) -> Option<Vec<u8>> {
    let mut lines = pem.lines();
    let bounded = lines.next() == Some(BEGIN) && lines.next_back() == Some(END);
    let der = BASE64_STANDARD.decode(lines.collect::<String>());
    let der = der.ok().filter(|_| bounded)?;
    let point = der.strip_prefix(P256_PREFIX)?;
    // The length fields in the prefix (0x59, 0x42) are fixed, so the point must have this length.
    (point.len() == 65 && point.first() == Some(&UNCOMPRESSED)).then(|| point.to_vec())
}
