use std::fmt;

use p256::ecdsa::{VerifyingKey, signature::Verifier as _};

use super::{KeyId, Signature, VerifyErrorKind, base64};

/// What comes before the 65 bytes of an uncompressed point in the DER of a P-256
/// `SubjectPublicKeyInfo`: `SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING }`.
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The first byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;
const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// One key of a [`KeySet`](super::KeySet).
///
/// A key that is not a P-256 key stays in the set as an unsupported one, so that a request that
/// names it is refused with [`UnsupportedKey`](VerifyErrorKind::UnsupportedKey).
#[derive(Clone)]
pub struct PublicKey {
    identifier: KeyId,
    key: Option<VerifyingKey>,
    is_current: bool,
}

impl PublicKey {
    /// Reads the PEM of a `SubjectPublicKeyInfo` in the one form that GitHub publishes: P-256,
    /// named curve, uncompressed point. A literal backslash and `n` stands for a newline.
    /// Anything else makes an unsupported key.
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

    /// The name of the key.
    pub fn identifier(&self) -> &KeyId {
        &self.identifier
    }

    /// Whether the platform says that it signs with this key now. During a rotation that may be
    /// true of none or of several, which is why requests are matched by identifier.
    pub fn is_current(&self) -> bool {
        self.is_current
    }

    /// Whether signatures can be checked with this key.
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

/// The point inside a PEM text: exactly its two boundary lines, and base64 between them.
fn point(pem: &str) -> Option<Vec<u8>> {
    let mut lines = pem.lines();
    let bounded = lines.next() == Some(BEGIN) && lines.next_back() == Some(END);
    let der = base64::decode(lines.collect::<String>().as_bytes()).filter(|_| bounded)?;
    let point = der.strip_prefix(P256_PREFIX)?;
    // The length is in the prefix (0x59, 0x42); the point must keep to it.
    (point.len() == 65 && point.first() == Some(&UNCOMPRESSED)).then(|| point.to_vec())
}

/// Writes what [`PublicKey::from_pem`] reads.
#[cfg(feature = "testing")]
pub(super) fn to_pem(key: &VerifyingKey) -> String {
    let der = [P256_PREFIX, key.to_sec1_point(false).as_bytes()].concat();
    let text = base64::encode(&der);
    let (first, second) = text.split_at_checked(64).unwrap_or((&text, ""));
    format!("{BEGIN}\n{first}\n{second}\n{END}\n")
}
