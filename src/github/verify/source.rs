use std::{error::Error, fmt, ops::Deref, sync::Arc};

use async_trait::async_trait;
use http::StatusCode;

use super::{KeyId, KeySet};

/// Where the keys of the platform come from.
///
/// [`CachedKeys`](super::CachedKeys) fetches them; a [`KeySet`] is a source that never changes.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// The keys as they are now. A source that can renew its keys does so when `wanted` is not
    /// among them; it need not be among them afterwards.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when the keys cannot be had. That is not the fault of the request, which must
    /// then be answered with 503.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but this one answer.
    async fn keys(&self, wanted: &KeyId) -> Result<KeySet, KeyError>;
}

#[async_trait]
impl KeySource for KeySet {
    async fn keys(&self, _: &KeyId) -> Result<Self, KeyError> {
        Ok(self.clone())
    }
}

#[async_trait]
impl<K: KeySource + ?Sized> KeySource for Arc<K> {
    async fn keys(&self, wanted: &KeyId) -> Result<KeySet, KeyError> {
        self.deref().keys(wanted).await
    }
}

#[async_trait]
impl<K: KeySource + ?Sized> KeySource for Box<K> {
    async fn keys(&self, wanted: &KeyId) -> Result<KeySet, KeyError> {
        self.deref().keys(wanted).await
    }
}

/// Why there are no keys.
///
/// `Display` and `Debug` tell the kind alone. What the HTTP client said is the
/// [`source`](Error::source): it is the client's own text, and goes to logs or nowhere.
#[derive(Clone)]
pub struct KeyError {
    kind: KeyErrorKind,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl KeyError {
    /// An error that has no further cause.
    pub fn new(kind: KeyErrorKind) -> Self {
        Self { kind, source: None }
    }

    /// Sets the cause that the HTTP client or the store of the keys gave.
    #[must_use]
    pub fn cause(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into().into()),
            ..self
        }
    }

    /// What went wrong.
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

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            KeyErrorKind::Transport => f.write_str("key endpoint cannot be reached"),
            KeyErrorKind::Status(status) => {
                write!(f, "key endpoint answered with status {}", status.as_u16())
            }
            KeyErrorKind::Document => f.write_str("key endpoint answered without a key document"),
        }
    }
}

impl Error for KeyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// The kinds of [`KeyError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyErrorKind {
    /// No answer.
    Transport,
    /// An answer with a status that carries no keys.
    Status(StatusCode),
    /// An answer that is not a key document.
    Document,
}
