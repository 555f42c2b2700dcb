//! Errors of key sources.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use http::StatusCode;

/// The reason why keys are not available, or cannot be read.
///
/// `Display` and `Debug` print the kind only. The HTTP client's error is the
/// [`source`](Error::source): its text is not controlled by this crate and should at most be
/// logged.
#[derive(Clone, thiserror::Error)]
#[error("{kind}")]
pub struct KeyError {
    kind: KeyErrorKind,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl KeyError {
    /// Creates an error without a source.
    pub fn new(kind: KeyErrorKind) -> Self {
        Self { kind, source: None }
    }

    /// Sets the error of the HTTP client or the key store as the source.
    #[must_use]
    pub fn cause(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into().into()),
            ..self
        }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> KeyErrorKind {
        self.kind
    }
}

impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyError")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The kind of a [`KeyError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum KeyErrorKind {
    /// There was no response.
    #[error("key endpoint is not reachable")]
    Transport,
    /// The response had a status without keys.
    #[error("key endpoint answered with status {}", .0.as_u16())]
    Status(StatusCode),
    /// The response was not a key document.
    #[error("response of the key endpoint is not a key document")]
    Document,
    /// The text is not a valid [`KeyId`](super::KeyId).
    #[error("key identifier is not 1 to 256 visible ASCII characters")]
    Identifier,
}
