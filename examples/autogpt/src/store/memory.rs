use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::{Conversation, RunStore, Saved, StoreError};

/// Runs in memory; those that nobody touched for a while are forgotten.
#[derive(Debug)]
pub struct MemoryStore {
    expiry: Duration,
    slots: Mutex<HashMap<Conversation, Slot>>,
}

#[derive(Debug)]
struct Slot {
    saved: Option<Saved>,
    started: HashSet<String>,
    touched: Instant,
}

impl MemoryStore {
    /// A store that forgets a conversation this long after its last turn.
    #[must_use]
    pub fn new(expiry: Duration) -> Self {
        Self {
            expiry,
            slots: Mutex::default(),
        }
    }

    /// The slots without the expired ones.
    fn slots(&self) -> MutexGuard<'_, HashMap<Conversation, Slot>> {
        // Every change is one step, so a panic elsewhere leaves the slots whole.
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| slot.touched.elapsed() < self.expiry);
        slots
    }
}

/// A day.
impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Duration::from_secs(24 * 60 * 60))
    }
}

impl Slot {
    fn new() -> Self {
        Self {
            saved: None,
            started: HashSet::new(),
            touched: Instant::now(),
        }
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        let slots = self.slots();
        Ok(slots.get(conversation).and_then(|slot| slot.saved.clone()))
    }

    async fn save(
        &self,
        conversation: &Conversation,
        expected: u64,
        record: &str,
    ) -> Result<u64, StoreError> {
        let mut slots = self.slots();
        let slot = slots.entry(conversation.clone()).or_insert_with(Slot::new);
        let revision = slot.saved.as_ref().map_or(0, |saved| saved.revision);
        if revision != expected {
            return Err(StoreError::Conflict);
        }
        slot.saved = Some(Saved::new(revision + 1, record.to_owned()));
        slot.touched = Instant::now();
        Ok(revision + 1)
    }

    async fn start(&self, conversation: &Conversation, id: &str) -> Result<bool, StoreError> {
        let mut slots = self.slots();
        let slot = slots.entry(conversation.clone()).or_insert_with(Slot::new);
        slot.touched = Instant::now();
        Ok(slot.started.insert(id.to_owned()))
    }
}
