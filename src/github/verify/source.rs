use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;

use super::{KeyError, KeyId, KeySet};

/// A source of the platform's keys.
///
/// [`CachedKeys`](super::CachedKeys) fetches them; a [`KeySet`] is a constant source.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// Returns the current keys. A source that can renew its keys does so if `wanted` is not among
    /// them; the result need not contain it.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the keys are not available. The request must then be answered with 503.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels only this call.
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
