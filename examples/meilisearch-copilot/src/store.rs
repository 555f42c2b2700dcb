//! The state between two requests.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

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

/// A store in memory, which forgets conversations that have been silent for a while.
#[derive(Debug)]
pub struct Memory {
    expiry: Duration,
    capacity: usize,
    conversations: Mutex<HashMap<String, Entry>>,
}

#[derive(Debug)]
struct Entry {
    used: Instant,
    turns: Vec<Turn>,
}

impl Memory {
    /// Forgets what has not been used for `expiry`, and the longest unused past `capacity`
    /// conversations.
    #[must_use]
    pub fn new(expiry: Duration, capacity: usize) -> Self {
        Self {
            expiry,
            capacity,
            conversations: Mutex::default(),
        }
    }

    /// Returns the number of stored conversations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns `true` if no conversation is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.conversations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    /// Creates a store for one hour and ten thousand conversations.
    fn default() -> Self {
        Self::new(Duration::from_secs(60 * 60), 10_000)
    }
}

#[async_trait]
impl Store for Memory {
    async fn load(&self, conversation: &str) -> Vec<Turn> {
        let now = Instant::now();
        match self.lock().get_mut(conversation) {
            Some(entry) if now.duration_since(entry.used) <= self.expiry => {
                entry.used = now;
                entry.turns.clone()
            }
            _ => Vec::new(),
        }
    }

    async fn save(&self, conversation: &str, turns: Vec<Turn>) {
        let used = Instant::now();
        let mut conversations = self.lock();
        conversations.insert(conversation.to_owned(), Entry { used, turns });
        // Looks at all of them only when there is no more room.
        if conversations.len() > self.capacity {
            conversations.retain(|_, entry| used.duration_since(entry.used) <= self.expiry);
        }
        if conversations.len() > self.capacity {
            let oldest = conversations
                .iter()
                .min_by_key(|(_, entry)| entry.used)
                .map(|(key, _)| key.clone());
            conversations.remove(&oldest.unwrap_or_default());
        }
    }
}
