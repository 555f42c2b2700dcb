//! Where runs are kept between turns.

mod disk;
mod memory;

use std::fmt;

use async_trait::async_trait;

use crate::digest::hex_digest;

pub use disk::DiskStore;
pub use memory::MemoryStore;

/// Whose conversation a run belongs to.
///
/// Two users never share a run, even when a front end gives them the same conversation id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conversation(String);

impl Conversation {
    /// The conversation of a user who is known; both texts may come from outside.
    #[must_use]
    pub fn of_user(user: &str, id: &str) -> Self {
        Self(hex_digest(&["user", user, id]))
    }

    /// The conversation of nobody in particular.
    #[must_use]
    pub fn anonymous(id: &str) -> Self {
        Self(hex_digest(&["anonymous", id]))
    }

    /// Hexadecimal text, the same for the same conversation; safe as a file name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Keeps one record for each conversation: its newest run with the turn that is being answered.
#[async_trait]
pub trait RunStore: Send + Sync + fmt::Debug {
    /// The newest record.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`]
    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError>;

    /// Replaces the record, if its revision still is the expected one (0 for none). Returns the new
    /// revision.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if somebody else was faster, [`StoreError::Full`] if there is no room;
    /// nothing is written then.
    async fn save(
        &self,
        conversation: &Conversation,
        expected: u64,
        record: &str,
    ) -> Result<u64, StoreError>;

    /// Marks an execution as started; false if it was marked before. Of any number of calls with one
    /// id, whenever and in whatever process, exactly one gets true.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`]
    async fn start(&self, conversation: &Conversation, id: &str) -> Result<bool, StoreError>;
}

/// A stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// Grows by one with each save.
    pub revision: u64,
    /// The record.
    pub record: String,
}

impl Saved {
    /// A record with its revision.
    #[must_use]
    pub fn new(revision: u64, record: String) -> Self {
        Self { revision, record }
    }
}

/// A store that did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The record has changed since it was loaded.
    #[error("the run was changed by somebody else")]
    Conflict,
    /// There are too many runs, and none that may be dropped for a new one.
    #[error("there are too many runs")]
    Full,
    /// The record cannot be read or written.
    #[error("the run could not be read or written")]
    Io(#[from] std::io::Error),
}
