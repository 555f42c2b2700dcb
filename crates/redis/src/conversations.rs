//! The store of conversations.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};
use redis::Value;

use crate::connect::{Connect, Redis};
use crate::fault::Fault;
use crate::store::{millis, word};

/// The estimated size of a record in Redis without its bytes.
const OVERHEAD: usize = 256;
/// The number of attempts to free space for a record, each of which deletes up to a thousand records.
const ATTEMPTS: usize = 300;

/// A [`ConversationStore`] in Redis, for servers that share their conversations.
///
/// The records of one user may take 64 MiB by default, plus 256 bytes for each; when a new record does not fit, the
/// records that expire first are deleted. All users share the memory of Redis: with `maxmemory` and the policy
/// `noeviction`, a record that does not fit is [`RecordError::Full`]. In a cluster, all records of one user are on one
/// server, and so are those of an application with a single user.
///
/// ```no_run
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// use copilot_wire::Router;
/// use copilot_wire::conversations::Conversations;
/// use copilot_wire_redis::RedisConversationStore;
///
/// let store = RedisConversationStore::connect("redis://127.0.0.1/").prefix("chat:").await?;
/// let router = Router::new().conversations(Conversations::per_user(store));
/// # drop(router);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The time limit of a command is 2 seconds. A command that takes longer, and every other failure of Redis, is
/// [`RecordError::Unavailable`], whose text names the kind of failure and never a key, a record or a part of the URL.
pub struct RedisConversationStore {
    redis: Arc<Redis>,
    user_limit: usize,
}

impl RedisConversationStore {
    /// Connects to the servers at a URL, as [`RedisReplyStore::connect`](crate::RedisReplyStore::connect) does, over a
    /// separate connection. [`RedisReplyStore::conversations`](crate::RedisReplyStore::conversations) shares the
    /// connection of a store of replies.
    ///
    /// # Errors
    ///
    /// As for the store of replies, with [`RecordError::Unavailable`].
    pub fn connect(url: impl Into<String>) -> Connect<Self> {
        Connect::new(url.into())
    }

    pub(crate) fn new(redis: Arc<Redis>) -> Self {
        Self {
            redis,
            user_limit: 64 << 20,
        }
    }

    /// Sets the limit of the records of one user, in bytes. With a single user, this limits all records.
    #[must_use]
    pub fn user_limit(mut self, bytes: usize) -> Self {
        self.user_limit = bytes;
        self
    }
}

#[async_trait]
impl ConversationStore for RedisConversationStore {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        if record.len().saturating_add(OVERHEAD) > self.user_limit {
            return Err(RecordError::Full);
        }
        let keys = self.redis.names.records(key.user());
        let script = self.redis.scripts.put.on(keys).arg(key.record());
        let script = script.arg(&*record).arg(millis(keep));
        let script = script.arg(self.user_limit).arg(OVERHEAD);
        for _ in 0..ATTEMPTS {
            match &*word(self.redis.connection.script(&script).await?)? {
                "ok" => return Ok(true),
                "exists" => return Ok(false),
                "again" => {}
                _ => return Err(Fault::unexpected().into()),
            }
        }
        Err(RecordError::Full)
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let mut users = BTreeMap::<_, Vec<_>>::new();
        for (at, key) in keys.iter().enumerate() {
            users.entry(key.user()).or_default().push((at, key));
        }
        let mut records = vec![None; keys.len()];
        for (user, keys) in users {
            let script = self.redis.scripts.get.on(self.redis.names.records(user));
            let mut script = script.arg(millis(keep));
            for (_, key) in &keys {
                script = script.arg(key.record());
            }
            let Value::Array(found) = self.redis.connection.script(&script).await? else {
                return Err(Fault::unexpected().into());
            };
            if found.len() != keys.len() {
                return Err(Fault::unexpected().into());
            }
            for ((at, _), found) in keys.into_iter().zip(found) {
                let record = match found {
                    Value::BulkString(record) => Some(record.into()),
                    Value::Nil => None,
                    _ => return Err(Fault::unexpected().into()),
                };
                if let Some(place) = records.get_mut(at) {
                    *place = record;
                }
            }
        }
        Ok(records)
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        let keys = self.redis.names.records(key.user());
        let script = self.redis.scripts.delete.on(keys).arg(key.record());
        let answer = self.redis.connection.script(&script.arg(OVERHEAD)).await?;
        match &*word(answer)? {
            "ok" => Ok(true),
            "gone" => Ok(false),
            _ => Err(Fault::unexpected().into()),
        }
    }
}

impl fmt::Debug for RedisConversationStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisConversationStore")
            .field("names", &self.redis.names)
            .field("user_limit", &self.user_limit)
            .finish()
    }
}
