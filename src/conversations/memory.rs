//! Records of turns in the memory of this process.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use super::store::{ConversationStore, RecordError, RecordKey};
use crate::protocol::Env;

/// The estimated memory in bytes for a record, in addition to its content.
const OVERHEAD: usize = 512;

/// A [`ConversationStore`] in the memory of this process, for a single server and for tests.
///
/// Records expire by the clock of the store's environment. The default limits are 1 GiB for all records, and 64 MiB for
/// the records of each user. If a new record exceeds a limit, the records that expire first are removed: those of the
/// same user, or of all users.
///
/// ```
/// use copilot_wire::Router;
/// use copilot_wire::conversations::{Conversations, MemoryConversationStore};
///
/// let store = MemoryConversationStore::new().limit(256 << 20).user_limit(16 << 20);
/// let router = Router::new().conversations(Conversations::per_user(store));
/// # let _ = router;
/// ```
#[must_use]
pub struct MemoryConversationStore {
    env: Env,
    limit: usize,
    user_limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: HashMap<RecordKey, Entry>,
    users: HashMap<[u8; 16], Shelf>,
    all: Shelf,
}

struct Entry {
    record: Bytes,
    expires: SystemTime,
}

/// The records of one user, or of all users.
#[derive(Default)]
struct Shelf {
    /// The times at which records expire.
    expiry: BTreeSet<(SystemTime, RecordKey)>,
    /// The size of the records, in bytes.
    size: usize,
}

impl MemoryConversationStore {
    /// Creates a store with the system's clock.
    pub fn new() -> Self {
        Self {
            env: Env::default(),
            limit: 1 << 30,
            user_limit: 64 << 20,
            state: Mutex::default(),
        }
    }

    /// Sets the environment, whose clock the store uses.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Sets the maximum size of all records together, in bytes.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the maximum size of the records of one user, in bytes. On a server with a single user this limit covers all
    /// records.
    pub fn user_limit(mut self, bytes: usize) -> Self {
        self.user_limit = bytes;
        self
    }

    /// Returns the number of records that have not expired.
    pub fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// Returns `true` if all records have expired.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of all records, in bytes, including an estimate of the memory for storing them.
    pub fn size(&self) -> usize {
        self.lock().all.size
    }

    /// Removes all records of a user.
    pub(super) fn forget(&self, user: &[u8; 16]) {
        let mut state = self.lock();
        while let Some((_, key)) = state.users.get(user).and_then(Shelf::first) {
            state.remove(&key);
        }
    }

    /// Returns the time at which a record expires if it is kept for `keep` from now on.
    fn expiry(&self, keep: Duration) -> SystemTime {
        // A time beyond the end of the clock is reduced to about three centuries.
        const LONGEST: Duration = Duration::from_secs(10_000_000_000);
        self.env.now() + keep.min(LONGEST)
    }

    /// Locks the state and removes expired records.
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that runs under the lock can panic in the middle of a change.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.env.now();
        while let Some(key) = state.all.first().filter(|(expires, _)| *expires <= now) {
            state.remove(&key.1);
        }
        state
    }
}

impl Shelf {
    fn first(&self) -> Option<(SystemTime, RecordKey)> {
        self.expiry.first().copied()
    }

    fn lacks(&self, size: usize, limit: usize) -> bool {
        size > limit.saturating_sub(self.size)
    }
}

impl State {
    fn remove(&mut self, key: &RecordKey) -> bool {
        let Some(entry) = self.records.remove(key) else {
            return false;
        };
        let size = entry.record.len() + OVERHEAD;
        self.all.expiry.remove(&(entry.expires, *key));
        self.all.size -= size;
        if let Some(user) = self.users.get_mut(key.user()) {
            user.expiry.remove(&(entry.expires, *key));
            user.size -= size;
            if user.expiry.is_empty() {
                self.users.remove(key.user());
            }
        }
        true
    }

    fn add(&mut self, key: RecordKey, record: Bytes, expires: SystemTime) {
        let size = record.len() + OVERHEAD;
        self.records.insert(key, Entry { record, expires });
        let user = self.users.entry(*key.user()).or_default();
        for shelf in [user, &mut self.all] {
            shelf.expiry.insert((expires, key));
            shelf.size += size;
        }
    }
}

#[async_trait]
impl ConversationStore for MemoryConversationStore {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let size = record.len() + OVERHEAD;
        if size > self.limit.min(self.user_limit) {
            return Err(RecordError::Full);
        }
        let expires = self.expiry(keep);
        let mut state = self.lock();
        if state.records.contains_key(key) {
            return Ok(false);
        }
        while let Some(user) = state.users.get(key.user()) {
            match user.first().filter(|_| user.lacks(size, self.user_limit)) {
                Some((_, first)) => state.remove(&first),
                None => break,
            };
        }
        while let Some((_, first)) = state
            .all
            .first()
            .filter(|_| state.all.lacks(size, self.limit))
        {
            state.remove(&first);
        }
        state.add(*key, record, expires);
        Ok(true)
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let expires = self.expiry(keep);
        let mut state = self.lock();
        let records = keys.iter().map(|key| {
            let entry = state.records.get(key)?;
            let (record, later) = (entry.record.clone(), entry.expires < expires);
            if later {
                state.remove(key);
                state.add(*key, record.clone(), expires);
            }
            Some(record)
        });
        Ok(records.collect())
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        Ok(self.lock().remove(key))
    }
}

impl Default for MemoryConversationStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints the number of records, without their contents.
impl fmt::Debug for MemoryConversationStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MemoryConversationStore")
            .field("limit", &self.limit)
            .field("user_limit", &self.user_limit)
            .field("len", &state.records.len())
            .field("size", &state.all.size)
            .finish_non_exhaustive()
    }
}
