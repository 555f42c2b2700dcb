//! The conversations with their own ids in which a turn is running.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RecordKey;

/// The conversations in which this process runs a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningLists(Arc<Mutex<HashSet<RecordKey>>>);

impl RunningLists {
    /// Begins a turn in the conversation `list`, whose first entry has this key. Returns `None` if a turn is running in
    /// it.
    pub(super) fn begin(&self, key: RecordKey, list: &str) -> Option<ListTurn> {
        self.lock().insert(key).then(|| ListTurn {
            lists: self.clone(),
            key,
            list: list.to_owned(),
            entries: 0,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RecordKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running turn in a conversation with its own id. Dropping it ends the turn.
pub struct ListTurn {
    lists: RunningLists,
    key: RecordKey,
    /// The id of the conversation.
    pub(super) list: String,
    /// The number of entries in the conversation when the turn began.
    pub(super) entries: usize,
}

impl Drop for ListTurn {
    fn drop(&mut self) {
        self.lists.lock().remove(&self.key);
    }
}

opaque_debug!(ListTurn);
