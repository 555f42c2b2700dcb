use http::StatusCode;

use super::KeyError;

/// The reason why a request was refused.
///
/// `Display` and `Debug` print only the [kind](VerifyErrorKind): no signature, no key identifier,
/// no body. If the keys were not available, [`source`](std::error::Error::source) is the [`KeyError`].
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind}")]
pub struct VerifyError {
    kind: VerifyErrorKind,
    source: Option<KeyError>,
}

impl VerifyError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> VerifyErrorKind {
        self.kind
    }

    /// Returns the status of the response, see [`VerifyErrorKind::status`].
    pub fn status(&self) -> StatusCode {
        self.kind.status()
    }
}

from! {
    VerifyErrorKind => VerifyError: |kind| Self { kind, source: None },
    KeyError => VerifyError: |source| Self {
        kind: VerifyErrorKind::KeysUnavailable,
        source: Some(source),
    },
}

/// The kind of a [`VerifyError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyErrorKind {
    /// The body is empty. The protocol has no such request, signed or not.
    #[error("request body is empty")]
    EmptyBody,
    /// The signature header is absent or empty, as in requests of `gh debug-cli`.
    #[error("request is not signed")]
    MissingSignature,
    /// The key identifier header is absent or empty.
    #[error("request has no key identifier")]
    MissingKeyIdentifier,
    /// No key has the identifier.
    #[error("request has an unknown key identifier")]
    UnknownKeyIdentifier,
    /// The signature is not canonical base64 of a DER `SEQUENCE { r INTEGER, s INTEGER }` with both
    /// in `[1, n-1]`.
    #[error("signature is malformed")]
    MalformedSignature,
    /// The identifier belongs to a key that is not a readable P-256 key.
    #[error("key is not a P-256 key")]
    UnsupportedKey,
    /// The signature is not one of this body with this key.
    #[error("signature does not match")]
    SignatureMismatch,
    /// The keys could not be fetched, so the request could not be verified.
    #[error("signing keys are unavailable")]
    KeysUnavailable,
}

impl VerifyErrorKind {
    /// Returns the status of the response: 400 for an empty body, 503 if the keys are not
    /// available, otherwise 401.
    pub fn status(self) -> StatusCode {
        match self {
            Self::EmptyBody => StatusCode::BAD_REQUEST,
            Self::KeysUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// Returns the kind as a stable label for logs and metrics, such as `missing-signature`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyBody => "empty-body",
            Self::MissingSignature => "missing-signature",
            Self::MissingKeyIdentifier => "missing-key-identifier",
            Self::UnknownKeyIdentifier => "unknown-key-identifier",
            Self::MalformedSignature => "malformed-signature",
            Self::UnsupportedKey => "unsupported-key",
            Self::SignatureMismatch => "signature-mismatch",
            Self::KeysUnavailable => "keys-unavailable",
        }
    }
}
