//! Records of turns, in a store that several servers may share.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// Stores the records of turns, each under a key of its own. It never looks into a record.
///
/// A record is written once and never changes. Every method may be called at any time, concurrently, from any server.
///
/// # Cancel safety
///
/// A future that is dropped has had its effect as a whole or not at all. Calls may be repeated.
///
/// # Time
///
/// Nobody waits for a call for longer than 5 seconds, nor for all calls before a turn for longer than 20, if there is
/// a [timer](crate::protocol::Environment::ticks).
#[async_trait]
pub trait ConversationStore: Send + Sync + fmt::Debug {
    /// Stores a record for at least `keep` from now on, unless there is one under this key, which stays as it is.
    /// Returns `true` if it was stored: of those that store different records at the same time, one gets `true`.
    ///
    /// # Errors
    ///
    /// [`RecordError`]. Nothing is stored then.
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError>;

    /// Returns the records of `keys`, in their order, with `None` for those that were never stored, are deleted or
    /// have expired. Those that are found are kept for at least `keep` from now on, so that a conversation that goes
    /// on does not lose its beginning.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unavailable`].
    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError>;

    /// Deletes a record. Returns `false` if no record has this key.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unavailable`].
    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError>;
}

#[async_trait]
impl<S: ConversationStore + ?Sized> ConversationStore for Arc<S> {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        (**self).put(key, record, keep).await
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        (**self).get(keys, keep).await
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        (**self).delete(key).await
    }
}

/// The reason for which a store of conversations did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is larger than the store takes, or the store has no space left.
    #[error("conversation store is full")]
    Full,
    /// The store cannot be reached now. Operators see the text of the source, so it must not have secrets.
    #[error("conversation store unavailable: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// The key of a record in a store: a digest of its user, and one of its user, its path and its id.
///
/// So the id of another user's record leads nowhere, and a store can count what each user has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey {
    user: [u8; 16],
    record: [u8; 32],
}

impl RecordKey {
    /// Creates the key of `id` below a path, for one user.
    #[must_use]
    pub fn new(user: &str, path: &str, id: &str) -> Self {
        let digest = |texts: &[&str]| -> [u8; 32] {
            let mut digest = Sha256::new();
            // Each with its length, so that no two lists of texts have the same digest.
            for text in texts {
                digest.update(text.len().to_be_bytes());
                digest.update(text);
            }
            digest.finalize().into()
        };
        // Half of it is enough to count by.
        let mut half = [0; 16];
        for (to, from) in half
            .iter_mut()
            .zip(digest(&["user of conversations", user]))
        {
            *to = from;
        }
        Self {
            user: half,
            record: digest(&["record of a conversation", user, path, id]),
        }
    }

    /// Returns the digest of the user.
    #[must_use]
    pub const fn user(&self) -> &[u8; 16] {
        &self.user
    }

    /// Returns the digest of the user, the path and the id.
    #[must_use]
    pub const fn record(&self) -> &[u8; 32] {
        &self.record
    }
}

/// Both digests as hexadecimal digits, with a colon between them.
impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        digits(f, &self.user)?;
        f.write_str(":")?;
        digits(f, &self.record)
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordKey({self})")
    }
}
