//! The stores of runs.

mod claim;
mod disk;
mod memory;
#[cfg(feature = "redis")]
mod redis;

use std::fmt;

use async_trait::async_trait;

use crate::digest::hex_digest;

pub use claim::Claim;
pub use disk::DiskStore;
pub use memory::MemoryStore;
#[cfg(feature = "redis")]
pub use redis::RedisRunStore;

/// The key of a conversation.
///
/// Two users never share a run, even when a front end gives them the same conversation id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conversation(String);

impl Conversation {
    /// Returns the key of a user's conversation. Both texts may be untrusted.
    pub fn of_user(user: &str, id: &str) -> Self {
        // The first word distinguishes conversations with a user from those without one, whatever the texts are.
        Self(hex_digest(&["user", user, id]))
    }

    /// Returns the key of a conversation without a user.
    pub fn anonymous(id: &str) -> Self {
        Self(hex_digest(&["anonymous", id]))
    }

    /// Returns the key in hexadecimal, which is safe as a file name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A store with one record for each conversation: its last run, and the turn that is being
/// answered.
///
/// Servers that share a store coordinate by claims. A claim makes servers wait for each other, but need not be
/// reliable: `save` and `start` check it, so a server without a valid claim cannot do damage.
#[async_trait]
pub trait RunStore: Send + Sync + fmt::Debug {
    /// Claims a conversation. Returns `None` while another claim exists.
    ///
    /// Dropping the future, or the claim, releases it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`]
    async fn claim(&self, conversation: &Conversation) -> Result<Option<Claim>, StoreError>;

    /// Extends the lease of a claim, if it has one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the conversation was claimed again since, [`StoreError::Io`]
    async fn renew(&self, claim: &Claim) -> Result<(), StoreError> {
        let _ = claim;
        Ok(())
    }

    /// Returns the last saved record.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`]
    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError>;

    /// Replaces the record, if its revision is the expected one (0 for none). Returns the new
    /// revision.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the record was saved or the conversation claimed again since; [`StoreError::Full`]
    /// if there is no space. Nothing is written then.
    async fn save(&self, claim: &Claim, expected: u64, record: &str) -> Result<u64, StoreError>;

    /// Marks an execution as started. Of any number of calls with one id, at any time and in any
    /// process, exactly one returns `true`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the conversation was claimed again since, [`StoreError::Io`]
    async fn start(&self, claim: &Claim, id: &str) -> Result<bool, StoreError>;
}

/// A stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The revision, which increases by one with each save.
    pub revision: u64,
    /// The record.
    pub record: String,
}

impl Saved {
    /// Creates a record with its revision.
    pub fn new(revision: u64, record: String) -> Self {
        Self { revision, record }
    }
}

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The record was saved, or the conversation claimed, by somebody else.
    #[error("another server has changed or claimed the run")]
    Conflict,
    /// The store is full, and all of its runs may be in progress.
    #[error("too many stored runs")]
    Full,
    /// The record cannot be read or written.
    #[error("the stored run cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
}
