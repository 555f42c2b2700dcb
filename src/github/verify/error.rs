use std::{error::Error, fmt};

use http::StatusCode;

use super::KeyError;

/// Why a request was refused.
///
/// Neither `Display` nor `Debug` tells more than the [kind](VerifyErrorKind): no signature, no key
/// identifier, no body. Where the keys could not be had, [`source`](Error::source) is the
/// [`KeyError`].
#[derive(Debug, Clone)]
pub struct VerifyError {
    kind: VerifyErrorKind,
    source: Option<KeyError>,
}

impl VerifyError {
    /// What went wrong.
    pub fn kind(&self) -> VerifyErrorKind {
        self.kind
    }

    /// The status to answer with; see [`VerifyErrorKind::status`].
    pub fn status(&self) -> StatusCode {
        self.kind.status()
    }
}

impl From<VerifyErrorKind> for VerifyError {
    fn from(kind: VerifyErrorKind) -> Self {
        Self { kind, source: None }
    }
}

impl From<KeyError> for VerifyError {
    fn from(source: KeyError) -> Self {
        Self {
            kind: VerifyErrorKind::KeysUnavailable,
            source: Some(source),
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)
    }
}

impl Error for VerifyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// The kinds of [`VerifyError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VerifyErrorKind {
    /// The body has no bytes. The protocol has no such request, signed or not.
    EmptyBody,
    /// No signature header, or an empty one: what `gh debug-cli` sends.
    MissingSignature,
    /// No key identifier header, or an empty one.
    MissingKeyIdentifier,
    /// The identifier names none of the keys.
    UnknownKeyIdentifier,
    /// The signature is not canonical base64 of a DER `SEQUENCE { r INTEGER, s INTEGER }` with both
    /// in `[1, n-1]`.
    MalformedSignature,
    /// The identifier names a key that is not a readable P-256 key.
    UnsupportedKey,
    /// Another body or another key was signed.
    SignatureMismatch,
    /// The keys could not be fetched, so nothing can be said about the request.
    KeysUnavailable,
}

impl VerifyErrorKind {
    /// The status to answer with: 400 for an empty body, 503 where the fault is ours, otherwise
    /// 401.
    pub fn status(self) -> StatusCode {
        match self {
            Self::EmptyBody => StatusCode::BAD_REQUEST,
            Self::KeysUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// The kind as a stable label for logs and metrics: `missing-signature`.
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

impl fmt::Display for VerifyErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EmptyBody => "request body is empty",
            Self::MissingSignature => "request is not signed",
            Self::MissingKeyIdentifier => "request names no key",
            Self::UnknownKeyIdentifier => "request names an unknown key",
            Self::MalformedSignature => "signature is malformed",
            Self::UnsupportedKey => "key is not a P-256 key",
            Self::SignatureMismatch => "signature does not match",
            Self::KeysUnavailable => "signing keys are unavailable",
        })
    }
}
