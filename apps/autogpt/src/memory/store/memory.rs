//! Runs in the memory of this process.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::claim::LocalClaims;
use super::{Claim, Conversation, RunStore, Saved, StoreError};

/// The default number of conversations.
const CAPACITY: usize = 1000;

/// The default idle time. It is longer than any step of a turn, so a run that was idle for this time is not in
/// progress.
const MIN_IDLE: Duration = Duration::from_secs(30 * 60);

/// A store of runs in memory, which drops unused ones.
///
/// At most 1000 conversations are stored. A further one replaces the least recently used, if that was idle for half an
/// hour, so that no run in progress is dropped.
#[derive(Debug)]
pub struct MemoryStore {
    expiry: Duration,
    capacity: usize,
    min_idle: Duration,
    slots: Mutex<HashMap<Conversation, Slot>>,
    claims: LocalClaims,
}

#[derive(Debug)]
struct Slot {
    saved: Option<Saved>,
    started: HashSet<String>,
    used_at: Instant,
}

impl MemoryStore {
    /// Creates a store that drops a conversation this long after its last use.
    pub fn new(expiry: Duration) -> Self {
        Self {
            expiry,
            capacity: CAPACITY,
            min_idle: MIN_IDLE,
            slots: Mutex::default(),
            claims: LocalClaims::default(),
        }
    }

    /// Sets the number of conversations, and the idle time after which one may be replaced.
    #[must_use]
    pub fn with_capacity(self, capacity: usize, min_idle: Duration) -> Self {
        Self {
            capacity,
            min_idle,
            ..self
        }
    }

    /// Returns the slot of a conversation. A new one may replace another.
    fn slot<'s>(
        &self,
        slots: &'s mut HashMap<Conversation, Slot>,
        conversation: &Conversation,
    ) -> Result<&'s mut Slot, StoreError> {
        if !slots.contains_key(conversation) && slots.len() >= self.capacity {
            let idle = slots.iter();
            let idle = idle.filter(|(_, slot)| slot.used_at.elapsed() >= self.min_idle);
            let oldest = idle.min_by_key(|(_, slot)| slot.used_at);
            let oldest = oldest.map(|(conversation, _)| conversation.clone());
            // An error, because a run in progress that is replaced would lose the marks of its started commands.
            slots.remove(&oldest.ok_or(StoreError::Full)?);
        }
        let slot = slots.entry(conversation.clone()).or_insert_with(Slot::new);
        slot.used_at = Instant::now();
        Ok(slot)
    }

    /// Locks the slots and drops the expired ones.
    fn slots(&self) -> MutexGuard<'_, HashMap<Conversation, Slot>> {
        // A poisoned lock is usable: a panic cannot interrupt a change.
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| slot.used_at.elapsed() < self.expiry);
        slots
    }
}

/// Creates a store with an expiry of one day.
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
            used_at: Instant::now(),
        }
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    async fn claim(&self, conversation: &Conversation) -> Result<Option<Claim>, StoreError> {
        Ok(self.claims.claim(conversation))
    }

    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        let slots = self.slots();
        Ok(slots.get(conversation).and_then(|slot| slot.saved.clone()))
    }

    async fn save(&self, claim: &Claim, expected: u64, record: &str) -> Result<u64, StoreError> {
        let conversation = claim.conversation();
        let mut slots = self.slots();
        // Compared before `slot` makes room, so that a refused save replaces nothing.
        let saved = slots.get(conversation).and_then(|slot| slot.saved.as_ref());
        let revision = saved.map_or(0, |saved| saved.revision);
        if revision != expected {
            return Err(StoreError::Conflict);
        }
        let slot = self.slot(&mut slots, conversation)?;
        slot.saved = Some(Saved::new(revision + 1, record.to_owned()));
        Ok(revision + 1)
    }

    async fn start(&self, claim: &Claim, id: &str) -> Result<bool, StoreError> {
        let mut slots = self.slots();
        let slot = self.slot(&mut slots, claim.conversation())?;
        Ok(slot.started.insert(id.to_owned()))
    }
}
