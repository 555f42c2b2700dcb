//! A signer of requests in place of the platform.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use p256::{
    NonZeroScalar,
    ecdsa::{SigningKey, signature::Signer as _},
    elliptic_curve::{Generate as _, ops::Reduce as _},
};
use sha2::{Digest as _, Sha256};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use copilot_wire::github::verify::{HeaderPair, KeyId, KeySet, PublicKey};

/// The bytes that precede the 65 bytes of an uncompressed point in the DER of a P-256
/// `SubjectPublicKeyInfo`: `SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING }`.
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A signer of requests that signs as the platform does, for verification in tests and local work.
///
/// Serve [`key_document`](Self::key_document) and point
/// [`CachedKeys::url`](copilot_wire::github::verify::CachedKeys::url) at it, or pass [`key_set`](Self::key_set) to a
/// [`Verifier`](copilot_wire::github::verify::Verifier).
///
/// ```
/// use copilot_wire::github::verify::{KeySet, verify};
/// use copilot_wire_kit::github::RequestSigner;
///
/// let signer = RequestSigner::generate()?;
/// let request = http::Request::post("/github");
/// # let mut request = request.body(br#"{"messages":[]}"#.as_slice())?;
/// request.headers_mut().extend(signer.sign(br#"{"messages":[]}"#));
///
/// let keys = KeySet::from_json(&RequestSigner::key_document([(&signer, true)]))?;
/// verify(request.body(), request.headers(), &keys)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RequestSigner {
    key: SigningKey,
    pem: String,
    identifier: KeyId,
}

impl RequestSigner {
    /// Creates a signer with a new key, from the operating system's random numbers.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`] if the operating system has no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        SigningKey::try_generate()
            .map(Self::with_key)
            .map_err(|_| NoRandomness)
    }

    /// Creates a signer whose key is derived from a seed, the same on every machine: for fixtures.
    /// Anyone who knows the seed can sign.
    pub fn from_seed(seed: &[u8]) -> Self {
        Self::with_key(SigningKey::from(NonZeroScalar::reduce(&Sha256::digest(
            seed,
        ))))
    }

    fn with_key(key: SigningKey) -> Self {
        let pem = to_pem(&key);
        Self {
            key,
            identifier: KeyId::from_pem(&pem),
            pem,
        }
    }

    /// Signs a body and returns both pairs of headers, as the platform sent them in early 2025.
    pub fn sign(&self, body: &[u8]) -> HeaderMap {
        let mut headers = self.sign_as(HeaderPair::Newer, body);
        headers.extend(self.sign_as(HeaderPair::Older, body));
        headers
    }

    /// Signs a body and returns one pair of headers.
    pub fn sign_as(&self, pair: HeaderPair, body: &[u8]) -> HeaderMap {
        // Both texts are visible ASCII, so this cannot fail; an empty value would be refused as
        // absent.
        let value =
            |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""));
        HeaderMap::from_iter([
            (pair.identifier(), value(self.identifier.as_str())),
            (pair.signature(), value(&self.signature(body))),
        ])
    }

    /// Returns the signature of a body in the form of the header: base64 of DER.
    pub fn signature(&self, body: &[u8]) -> String {
        let signature: p256::ecdsa::Signature = self.key.sign(body);
        STANDARD.encode(signature.to_der().as_bytes())
    }

    /// Returns the identifier of the key: the SHA-256 of [its PEM text](Self::pem), as at GitHub.
    pub fn identifier(&self) -> &KeyId {
        &self.identifier
    }

    /// Returns the public key as PEM, as in the key document.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the public key, marked as current.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_pem(self.identifier.clone(), &self.pem, true)
    }

    /// Returns a set with this key only.
    pub fn key_set(&self) -> KeySet {
        [self.public_key()].into_iter().collect()
    }

    /// Returns the body of a key endpoint that lists the keys of these signers, in the form that [`KeySet::from_json`]
    /// reads. The `bool` marks a key as current.
    pub fn key_document<'a>(signers: impl IntoIterator<Item = (&'a Self, bool)>) -> Bytes {
        let public_keys: Vec<_> = signers
            .into_iter()
            .map(|(signer, is_current)| {
                let identifier = signer.identifier.as_str();
                serde_json::json!({
                    "key_identifier": identifier,
                    "key": signer.pem,
                    "is_current": is_current,
                })
            })
            .collect();
        serde_json::json!({ "public_keys": public_keys })
            .to_string()
            .into()
    }
}

/// Writes the public key in the form that [`PublicKey::from_pem`] reads.
fn to_pem(key: &SigningKey) -> String {
    let point = key.verifying_key().to_sec1_point(false);
    let text = STANDARD.encode([P256_PREFIX, point.as_bytes()].concat());
    let (first, second) = text.split_at_checked(64).unwrap_or((&text, ""));
    format!("-----BEGIN PUBLIC KEY-----\n{first}\n{second}\n-----END PUBLIC KEY-----\n")
}

impl fmt::Debug for RequestSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSigner").finish_non_exhaustive()
    }
}

/// The error if the operating system has no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system has no random bytes")]
#[non_exhaustive]
pub struct NoRandomness;
