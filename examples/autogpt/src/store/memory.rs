use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::{Conversation, RunStore, Saved, StoreError};

/// How many conversations are kept.
const CAPACITY: usize = 1000;

/// Longer than any step of a turn takes: a run that was touched later may be at work.
const REST: Duration = Duration::from_secs(30 * 60);

/// Runs in memory; those that nobody touched for a while are forgotten.
///
/// At most 1000 conversations are kept. For one more, the one goes that rests longest, if it rests
/// for at least half an hour: a run that is at work is never dropped.
#[derive(Debug)]
pub struct MemoryStore {
    expiry: Duration,
    capacity: usize,
    rest: Duration,
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
            capacity: CAPACITY,
            rest: REST,
            slots: Mutex::default(),
        }
    }

    /// The same with room for another number of conversations, of which one may be dropped for a new
    /// one after another rest.
    #[must_use]
    pub fn with_capacity(self, capacity: usize, rest: Duration) -> Self {
        Self {
            capacity,
            rest,
            ..self
        }
    }

    /// The slot of a conversation; for a new one another may have to go.
    fn slot<'s>(
        &self,
        slots: &'s mut HashMap<Conversation, Slot>,
        conversation: &Conversation,
    ) -> Result<&'s mut Slot, StoreError> {
        if !slots.contains_key(conversation) && slots.len() >= self.capacity {
            let resting = slots.iter();
            let resting = resting.filter(|(_, slot)| slot.touched.elapsed() >= self.rest);
            let oldest = resting.min_by_key(|(_, slot)| slot.touched);
            let oldest = oldest.map(|(conversation, _)| conversation.clone());
            slots.remove(&oldest.ok_or(StoreError::Full)?);
        }
        let slot = slots.entry(conversation.clone()).or_insert_with(Slot::new);
        slot.touched = Instant::now();
        Ok(slot)
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
        let saved = slots.get(conversation).and_then(|slot| slot.saved.as_ref());
        let revision = saved.map_or(0, |saved| saved.revision);
        if revision != expected {
            return Err(StoreError::Conflict);
        }
        let slot = self.slot(&mut slots, conversation)?;
        slot.saved = Some(Saved::new(revision + 1, record.to_owned()));
        Ok(revision + 1)
    }

    async fn start(&self, conversation: &Conversation, id: &str) -> Result<bool, StoreError> {
        let mut slots = self.slots();
        let slot = self.slot(&mut slots, conversation)?;
        Ok(slot.started.insert(id.to_owned()))
    }
}
