//! Connecting a store.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use copilot_wire::conversations::RecordError;
use copilot_wire::replies::StoreError;

use crate::connection::Connection;
use crate::conversations::RedisConversationStore;
use crate::fault::Fault;
use crate::names::Names;
use crate::scripts::Scripts;
use crate::store::RedisReplyStore;
use crate::url;

/// A builder that connects a store to Redis when it is awaited.
#[must_use = "does nothing unless awaited"]
pub struct Connect<S> {
    url: String,
    prefix: String,
    store: PhantomData<fn() -> S>,
}

/// The parts that both stores share.
pub(crate) struct Redis {
    pub(crate) connection: Connection,
    pub(crate) names: Names,
    pub(crate) scripts: Scripts,
}

impl<S> Connect<S> {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            prefix: "copilot-wire:".to_owned(),
            store: PhantomData,
        }
    }

    /// Sets the prefix of all keys and channels, by default `copilot-wire:`. Servers that share replies and
    /// conversations need the same prefix. A prefix with braces is an error.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    fn redis(self) -> Result<Redis, Fault> {
        Ok(Redis {
            connection: Connection::new(url::parse(&self.url)?),
            names: Names::new(self.prefix)?,
            scripts: Scripts::new(),
        })
    }
}

impl IntoFuture for Connect<RedisReplyStore> {
    type Output = Result<RedisReplyStore, StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(RedisReplyStore::open(self.redis()?).await?) })
    }
}

impl IntoFuture for Connect<RedisConversationStore> {
    type Output = Result<RedisConversationStore, RecordError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let redis = self.redis()?;
            redis.connection.try_open().await?;
            Ok(RedisConversationStore::new(Arc::new(redis)))
        })
    }
}

impl<S> Clone for Connect<S> {
    fn clone(&self) -> Self {
        Self {
            url: self.url.clone(),
            prefix: self.prefix.clone(),
            store: PhantomData,
        }
    }
}

/// Hides the URL, which may have a password.
impl<S> fmt::Debug for Connect<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
