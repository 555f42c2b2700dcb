//! The state between two requests.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use copilot_wire::meilisearch::Message;

use crate::Turn;

/// Keeps the turns of conversations: front ends carry what was said, and not what was found.
///
/// It may forget at any time; the conversation is then rebuilt from what the front end shows.
#[async_trait]
pub trait Store: Send + Sync {
    /// Returns the turns of a conversation, oldest first; empty if it is unknown.
    async fn load(&self, conversation: &str) -> Vec<Turn>;

    /// Replaces the turns of a conversation.
    async fn save(&self, conversation: &str, turns: Vec<Turn>);
}

/// A store in memory, which forgets conversations that have been silent for a while, and the longest unused ones
/// first where there are too many.
#[derive(Debug)]
pub struct Memory {
    expiry: Duration,
    capacity: usize,
    each: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    conversations: HashMap<Arc<str>, Entry>,
    /// The conversations by their last use.
    order: BTreeMap<u64, Arc<str>>,
    /// The number of uses so far.
    uses: u64,
    /// The sum of the sizes.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    used: Instant,
    /// The place in the order.
    place: u64,
    bytes: usize,
    turns: Vec<Turn>,
}

/// The estimated size in bytes of a conversation, a turn or a message beside its texts: places in maps and lists,
/// and blocks of the allocator.
const OVERHEAD: usize = 256;

impl Memory {
    /// Creates a store that forgets what has not been used for `expiry`.
    ///
    /// All conversations together have at most `capacity` bytes. One has at most `each` bytes: of a longer one the
    /// searches of the oldest turns are dropped, and then all of it.
    pub fn new(expiry: Duration, capacity: usize, each: usize) -> Self {
        Self {
            expiry,
            capacity,
            each: each.min(capacity),
            state: Mutex::default(),
        }
    }

    /// Returns the number of stored conversations.
    pub fn len(&self) -> usize {
        self.lock().conversations.len()
    }

    /// Returns `true` if no conversation is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of the stored conversations in bytes.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes a conversation.
    fn remove(&mut self, conversation: &str) -> Option<Entry> {
        let entry = self.conversations.remove(conversation)?;
        self.order.remove(&entry.place);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Adds a conversation as the last one used.
    fn insert(&mut self, conversation: &str, bytes: usize, turns: Vec<Turn>) {
        self.uses += 1;
        let name: Arc<str> = conversation.into();
        self.order.insert(self.uses, Arc::clone(&name));
        self.bytes += bytes;
        let entry = Entry {
            used: Instant::now(),
            place: self.uses,
            bytes,
            turns,
        };
        self.conversations.insert(name, entry);
    }

    /// Removes the conversation that has not been used for the longest time, if `is_due`.
    fn evict(&mut self, is_due: impl Fn(&Self, &Entry) -> bool) -> bool {
        let Some((_, oldest)) = self.order.first_key_value() else {
            return false;
        };
        let oldest = Arc::clone(oldest);
        let entry = self.conversations.get(&oldest);
        entry.is_some_and(|entry| is_due(self, entry)) && self.remove(&oldest).is_some()
    }
}

/// Returns the size of turns in bytes.
fn size(turns: &[Turn]) -> usize {
    let message = |message: &Message| OVERHEAD + message.json().as_bytes().len();
    let turn = |turn: &Turn| {
        let messages = turn.messages.iter().map(message);
        OVERHEAD + turn.prompt.len() + messages.sum::<usize>()
    };
    turns.iter().map(turn).sum()
}

/// Drops the searches of the oldest turns until the rest has at most `limit` bytes. What was said stays: it is
/// what the front end shows.
fn shorten(turns: &mut [Turn], limit: usize) -> usize {
    let mut bytes = size(turns);
    for turn in turns {
        if bytes <= limit {
            break;
        }
        let before = size(std::slice::from_ref(turn));
        let is_said =
            |message: &Message| message.role() == "assistant" && message.tool_calls().is_empty();
        turn.messages.retain(is_said);
        bytes = bytes + size(std::slice::from_ref(turn)) - before;
    }
    bytes
}

impl Default for Memory {
    /// Creates a store for one hour, 64 MiB in all and 1 MiB for each conversation.
    fn default() -> Self {
        Self::new(Duration::from_secs(60 * 60), 64 << 20, 1 << 20)
    }
}

#[async_trait]
impl Store for Memory {
    async fn load(&self, conversation: &str) -> Vec<Turn> {
        let mut state = self.lock();
        match state.remove(conversation) {
            Some(entry) if entry.used.elapsed() <= self.expiry => {
                state.insert(conversation, entry.bytes, entry.turns.clone());
                entry.turns
            }
            _ => Vec::new(),
        }
    }

    async fn save(&self, conversation: &str, mut turns: Vec<Turn>) {
        // The name is there twice.
        let name = OVERHEAD + 2 * conversation.len();
        let bytes = name + shorten(&mut turns, self.each.saturating_sub(name));
        let mut state = self.lock();
        state.remove(conversation);
        if bytes <= self.each {
            state.insert(conversation, bytes, turns);
        }
        while state
            .evict(|state, entry| state.bytes > self.capacity || entry.used.elapsed() > self.expiry)
        {
        }
    }
}
