//! The interface of a store for records of turns, which several servers may share.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// A store for the records of turns, each under its own key. The store does not read the content of records.
///
/// A record is written once and never changes. Every method may be called at any time, concurrently, from any server.
///
/// # Cancel safety
///
/// A call whose future is dropped has had its complete effect or none. Calls may be repeated.
///
/// # Time
///
/// If the environment has a [timer](crate::protocol::Environment::ticks), a call is abandoned after 5 seconds, and all
/// calls before a turn together after 20 seconds.
#[async_trait]
pub trait ConversationStore: Send + Sync + fmt::Debug {
    /// Stores a record for at least `keep` from now on, unless a record with this key exists, which is not changed.
    /// Returns `true` if the record was stored: of several concurrent calls with the same key, exactly one returns
    /// `true`.
    ///
    /// # Errors
    ///
    /// [`RecordError`]. Nothing is then stored.
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError>;

    /// Returns the records of `keys`, in the order of the keys, with `None` for records that were never stored, were
    /// deleted or have expired. The records found are kept for at least `keep` from now on, so that a conversation does
    /// not lose its beginning while it continues.
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

/// The reason why a store of conversations could not do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is larger than the store accepts, or the store has no space left.
    #[error("conversation store is full")]
    Full,
    /// The store cannot be reached now. Operators see the text of the source, so the text must not contain secrets.
    #[error("conversation store unavailable: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// The key of a record in a store: a digest of the user, and a digest of the user, the path and the id.
///
/// So an id gives no access to another user's record, and a store can count the records of each user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey {
    user: [u8; 16],
    record: [u8; 32],
}

impl RecordKey {
    /// Creates the key of `id` below a path, for one user.
    pub fn new(user: &str, path: &str, id: &str) -> Self {
        let digest = |texts: &[&str]| -> [u8; 32] {
            let mut digest = Sha256::new();
            // With lengths, so that different lists of texts have different digests.
            for text in texts {
                digest.update(text.len().to_be_bytes());
                digest.update(text);
            }
            digest.finalize().into()
        };
        // Half of the digest is enough to tell users apart.
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
    pub const fn user(&self) -> &[u8; 16] {
        &self.user
    }

    /// Returns the digest of the user, the path and the id.
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
