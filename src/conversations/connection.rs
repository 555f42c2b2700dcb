//! Turns that are kept in memory as long as one connection is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;

use super::memory::MemoryConversationStore;
use super::store::{ConversationStore as _, RecordError, RecordKey};

/// The memory for the turns of all connections.
///
/// The limits are 256 MiB for all connections and 16 MiB for each. The turns used most recently are kept.
#[derive(Clone)]
pub(crate) struct Connections(Arc<MemoryConversationStore>);

impl Default for Connections {
    fn default() -> Self {
        let store = MemoryConversationStore::new();
        Self(Arc::new(store.limit(256 << 20).user_limit(16 << 20)))
    }
}

/// One connection. Its turns are deleted when it is dropped.
pub(crate) struct Connection {
    store: Arc<MemoryConversationStore>,
    /// The name of the connection in the store, in place of a user's.
    name: Box<str>,
}

impl Connection {
    pub(crate) fn new(connections: &Connections) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Relaxed, because the numbers only have to be unique.
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            store: Arc::clone(&connections.0),
            name: number.to_string().into(),
        })
    }

    /// Returns the turns of this connection, for its requests.
    pub(crate) fn turns(self: &Arc<Self>) -> ConnectionTurns {
        ConnectionTurns(Arc::downgrade(self))
    }

    fn key(&self, id: &str) -> RecordKey {
        RecordKey::new(&self.name, "", id)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.store.forget(self.key("").user());
    }
}

/// The turns that are kept for a connection: an extension of the requests that arrive over it.
#[derive(Clone)]
pub(crate) struct ConnectionTurns(Weak<Connection>);

impl ConnectionTurns {
    /// Returns the records of turns, in the order of their ids.
    pub(super) async fn get(&self, ids: &[String], keep: Duration) -> Vec<Option<Bytes>> {
        let Some(connection) = self.0.upgrade() else {
            return Vec::new();
        };
        let keys: Vec<_> = ids.iter().map(|id| connection.key(id)).collect();
        let records = connection.store.get(&keys, keep).await;
        records.unwrap_or_default()
    }

    /// Stores the record of a turn, as [`put`](super::ConversationStore::put) does.
    pub(super) async fn put(
        &self,
        id: &str,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let gone = || RecordError::Unavailable("the connection is closed".into());
        let connection = self.0.upgrade().ok_or_else(gone)?;
        let key = connection.key(id);
        connection.store.put(&key, record, keep).await
    }

    /// Deletes the record of a turn. Returns `false` if the id is unknown.
    pub(super) async fn delete(&self, id: &str) -> bool {
        let Some(connection) = self.0.upgrade() else {
            return false;
        };
        let deleted = connection.store.delete(&connection.key(id)).await;
        deleted.unwrap_or_default()
    }
}
