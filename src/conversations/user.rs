//! The conversations of a user.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::running::RunningLists;
use super::{ConnectionTurns, ConversationStore, RecordError, RecordKey};
use crate::json::wire::object;
use crate::json::{Escape, Json, ValueWriter};
use crate::protocol::{Env, Refusal};

/// The maximum number of earlier turns that a record names. They are read with one call of the store.
pub(super) const PARENTS: usize = 32;

/// The time limit of a call of the store.
const ANSWER: Duration = Duration::from_secs(5);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The limits of stored conversations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) keep: Duration,
    pub(super) turns: usize,
    pub(super) bytes: usize,
    /// `true` if all callers are one user.
    pub(super) single: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep: 24 * HOUR,
            turns: 1000,
            bytes: 16 << 20,
            single: false,
        }
    }
}

/// Returns the id of the record of an entry.
pub(super) fn entry(list: &str, number: usize) -> String {
    format!("{list}/{number}")
}

/// Returns `true` if the id is the id of an entry's record.
fn is_entry(id: &str) -> bool {
    id.contains('/')
}

/// The conversations of one user below one path. The ids of other users' turns are unknown.
///
/// If the router has a store, this is an extension of every request that a protocol [reads](crate::Protocol::read).
#[derive(Clone)]
pub struct UserConversations {
    /// `None` if turns are kept only for the connection.
    store: Option<Arc<dyn ConversationStore>>,
    pub(super) limits: Limits,
    pub(super) running: RunningLists,
    /// The turns of the request's connection, if turns are kept for it.
    connection: Option<ConnectionTurns>,
    user: Arc<str>,
    path: Arc<str>,
    env: Env,
}

/// One turn in a store: an object with `parents` and `data`.
pub(super) struct Record {
    /// The ids of up to 32 earlier turns, the last one first.
    parents: Vec<String>,
    /// The data that the protocol has recorded.
    pub(super) data: Json,
    /// The size of the record in bytes.
    pub(super) size: usize,
}

impl Record {
    fn read(record: Bytes) -> Option<Self> {
        let size = record.len();
        let record = Json::parse(record).ok()?;
        let parents = record.get("parents").unwrap_or_default();
        let parents = parents.elements().take(PARENTS);
        Some(Self {
            parents: parents
                .map(|id| Some(id.string()?.into_owned()))
                .collect::<Option<_>>()?,
            data: record.get("data")?,
            size,
        })
    }

    /// Returns the id of the conversation's entry that contains the turn, if this record is only a link to the entry.
    fn entry(&self) -> Option<String> {
        Some(self.data.get("entry")?.string()?.into_owned())
    }
}

/// The turns of a conversation, up to one of them.
#[derive(Clone, Default)]
pub struct Chain {
    /// The record of each turn, the first one first.
    pub turns: Vec<Json>,
    /// The ids of the last turns, the last one first.
    pub(super) parents: Vec<String>,
}

/// The reason why a conversation cannot be continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// A turn was never stored, was deleted, has expired, or belongs to another user.
    #[error("no such conversation")]
    Unknown,
    /// The conversation has reached its limit.
    #[error("the stored conversation is too long")]
    TooLong,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] RecordError),
}

impl UserConversations {
    /// Creates the conversations of a user below a path.
    pub(super) fn new(
        store: Arc<dyn ConversationStore>,
        limits: Limits,
        running: RunningLists,
        user: Arc<str>,
        path: &str,
        env: &Env,
    ) -> Self {
        Self {
            store: Some(store),
            limits,
            running,
            connection: None,
            user,
            path: path.into(),
            env: env.clone(),
        }
    }

    /// Creates the conversations of a request that arrived over a connection with its own turns, in addition to the
    /// `stored` turns.
    pub(crate) fn of_connection(
        stored: Option<Self>,
        connection: ConnectionTurns,
        env: &Env,
    ) -> Self {
        let conversations = stored.unwrap_or_else(|| Self {
            store: None,
            limits: Limits::default(),
            running: RunningLists::default(),
            connection: None,
            user: "".into(),
            path: "".into(),
            env: env.clone(),
        });
        Self {
            connection: Some(connection),
            ..conversations
        }
    }

    /// Returns `true` if turns can be stored. Otherwise they are kept only for their connection, if at all.
    pub fn is_store(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the conversations for a turn that must not be stored, which is kept only for the request's connection.
    /// `None` if no turns are kept for the connection.
    #[must_use]
    pub fn unstored(self) -> Option<Self> {
        let store = None;
        self.connection.is_some().then_some(Self { store, ..self })
    }

    /// Returns the conversations for a request that adds nothing to them, which neither waits for a turn nor holds one
    /// up.
    #[allow(dead_code, reason = "only dialects of models count tokens")]
    pub(crate) fn unlocked(self) -> Self {
        let running = RunningLists::default();
        Self { running, ..self }
    }

    pub(super) fn key(&self, id: &str) -> RecordKey {
        RecordKey::new(&self.user, &self.path, id)
    }

    /// Returns the time for which a turn is kept when it is read by its id. For an entry of a list it is zero: if not
    /// only the list extended its time, the list could lose its end unnoticed.
    fn keep(&self, id: &str) -> Duration {
        match is_entry(id) {
            true => Duration::ZERO,
            false => self.limits.keep,
        }
    }

    /// Waits for a call of the store, at most for the time limit.
    async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, RecordError>>,
    ) -> Result<T, RecordError> {
        let answer = self.env.within(ANSWER, call).await;
        answer.unwrap_or_else(|| Err(RecordError::Unavailable("no answer".into())))
    }

    pub(super) async fn records(
        &self,
        ids: &[String],
        keep: Duration,
    ) -> Result<Vec<Option<Record>>, RecordError> {
        let of_connection = match &self.connection {
            Some(connection) => connection.get(ids, keep).await,
            None => Vec::new(),
        };
        let is_known =
            of_connection.len() == ids.len() && of_connection.iter().all(Option::is_some);
        let stored = match &self.store {
            Some(store) if !is_known => {
                let keys: Vec<_> = ids.iter().map(|id| self.key(id)).collect();
                self.ask(store.get(&keys, keep)).await?
            }
            _ => Vec::new(),
        };
        // One result for each id, even if a store returns more or fewer records.
        let (mut first, mut second) = (of_connection.into_iter(), stored.into_iter());
        let records = ids.iter().map(|_| {
            let (first, second) = (first.next().flatten(), second.next().flatten());
            Record::read(first.or(second)?)
        });
        Ok(records.collect())
    }

    /// Returns the record of one turn: `null` after [`forget`](Self::forget), and `None` if the id is unknown.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the store fails.
    pub async fn turn(&self, id: &str) -> Result<Option<Json>, RecordError> {
        let mut id = id.to_owned();
        // Two reads at most: a link always names an entry.
        for _ in 0..2 {
            let keep = self.keep(&id);
            let records = self.records(&[id], keep).await?;
            let Some(record) = records.into_iter().next().flatten() else {
                break;
            };
            match record.entry() {
                Some(entry) => id = entry,
                None => return Ok(Some(record.data)),
            }
        }
        Ok(None)
    }

    /// Returns the conversation up to and including a turn.
    ///
    /// # Errors
    ///
    /// [`ChainError`] if the conversation cannot be continued.
    pub async fn chain(&self, id: &str) -> Result<Chain, ChainError> {
        let limits = self.limits;
        let mut chain = Chain::default();
        let mut bytes = 0;
        let mut is_linked = false;
        let mut wanted = vec![id.to_owned()];
        while !wanted.is_empty() {
            let mut next = Vec::new();
            let keep = wanted.iter().map(|id| self.keep(id)).min();
            let records = self.records(&wanted, keep.unwrap_or_default()).await?;
            for (record, id) in records.into_iter().zip(wanted) {
                let record = record.ok_or(ChainError::Unknown)?;
                bytes += record.size;
                if let Some(entry) = record.entry().filter(|_| !is_linked) {
                    is_linked = true;
                    next = vec![entry];
                    continue;
                }
                if chain.parents.len() < PARENTS {
                    chain.parents.push(id);
                }
                next = record.parents.clone();
                if record.data.is_null() {
                    return Err(ChainError::Unknown);
                }
                chain.turns.push(record.data);
                if chain.turns.len() >= limits.turns || bytes >= limits.bytes {
                    return Err(ChainError::TooLong);
                }
            }
            wanted = next;
        }
        chain.turns.reverse();
        Ok(chain)
    }

    /// Deletes the record of a turn. If the turn is still running, it is not recorded when it ends.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the store fails.
    pub async fn forget(&self, id: &str) -> Result<(), RecordError> {
        let keep = self.limits.keep;
        // A turn ends only once, so its record can be written between the two calls at most once.
        for _ in 0..3 {
            self.delete(id).await?;
            if self.put(id, &[], &Json::default(), keep).await? {
                return Ok(());
            }
        }
        Err(RecordError::Unavailable("records come back".into()))
    }

    /// Deletes the record of a turn, in the store and in the request's connection: the turn and the turns after it can
    /// no longer be continued. Returns `false` if the id is unknown.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the store fails.
    pub async fn delete(&self, id: &str) -> Result<bool, RecordError> {
        let of_connection = match &self.connection {
            Some(connection) => connection.delete(id).await,
            None => false,
        };
        let stored = match &self.store {
            Some(store) => self.ask(store.delete(&self.key(id))).await?,
            None => false,
        };
        Ok(of_connection || stored)
    }

    /// Stores the record of a turn that follows `parents`. Returns `false` if a record with this id exists.
    pub(super) async fn put(
        &self,
        id: &str,
        parents: &[String],
        data: &Json,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let mut record = Vec::new();
        object(ValueWriter::new(&mut record, Escape::Json), |record| {
            // Writing a text cannot fail.
            let _ = record.array("parents", parents, |id, to| {
                to.str(id);
                Ok(())
            });
            record.raw("data", data);
        });
        // A turn with such a record could not be continued.
        if record.len() >= self.limits.bytes {
            return Err(RecordError::Full);
        }
        // Without spare capacity, because a store counts only the bytes of a record.
        let record = record.into_boxed_slice().into();
        let key = self.key(id);
        match (&self.store, &self.connection) {
            (Some(store), _) => self.ask(store.put(&key, record, keep)).await,
            (None, Some(connection)) => connection.put(id, record, keep).await,
            (None, None) => Ok(false),
        }
    }

    /// Returns `true` if the new part of a request is smaller than the limit of a complete conversation. A larger part
    /// is not recorded.
    pub fn takes(&self, new: &Json) -> bool {
        new.as_bytes().len() < self.byte_limit()
    }

    /// Returns the maximum number of turns in one conversation.
    pub fn turn_limit(&self) -> usize {
        self.limits.turns
    }

    /// Returns the maximum size of one conversation in bytes.
    pub fn byte_limit(&self) -> usize {
        self.limits.bytes
    }
}

opaque_debug!(UserConversations);

opaque_debug!(Chain);

impl From<RecordError> for Refusal {
    /// Creates the refusal of a request for which the store failed.
    fn from(_: RecordError) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self::new(status, "conversations cannot be read now")
            .code("overloaded")
            .retryable()
    }
}
