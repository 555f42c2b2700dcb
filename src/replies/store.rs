//! The log of a reply, in a store that several servers may share.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use sha2::{Digest, Sha256};

use crate::protocol::{Framing, Refusal};

/// A store of the logs of replies: one log per reply. One server appends to it, and any server reads it.
///
/// A log is a sequence of events, numbered from 0, and an end. Readers get exactly what the log contains; its end may
/// be written by another server than its events. A store never reuses a log, and every log expires. A store does not
/// parse events: the [framing](Framing) of the protocol determines which bytes are an event, and readers find the
/// events that they need in the pieces as they were appended.
///
/// Every method may be called at any time, concurrently, from any server. `copilot-wire-kit` has a test suite for the
/// rules of a store.
///
/// # Cancel safety
///
/// A future that is dropped has had its whole effect or none. Calls may be repeated.
///
/// # Time
///
/// Every call except [`cancelled`](Self::cancelled) should fail with [`StoreError::Unavailable`] after a few seconds
/// without a response. Callers wait at most 5 seconds.
#[async_trait]
pub trait ReplyStore: Send + Sync + fmt::Debug {
    /// Creates an empty log, and makes it the [latest](Self::latest) of its conversation.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`], [`StoreError::Full`] or [`StoreError::Unavailable`].
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError>;

    /// Appends the events with the given numbers. `events` contains their bytes one after the other. Neither argument
    /// is empty.
    ///
    /// The method is idempotent: if the log already has the first of the events, it has all of them, and the call has
    /// no effect. So a caller repeats an append with the same events.
    ///
    /// Returns the time for which the writer should gather new events before its next append: zero if an append costs
    /// nothing, a short time while the log is read on another server, and a longer time while it is not. Gathered
    /// events are lost if the writer's process is killed. The first append of a log, a full batch of 64 KiB and the
    /// last events are never delayed. A time of more than one second counts as one second.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sealed`] when the log has an end, [`StoreError::Gone`] when there is no such log or earlier events
    /// are missing, [`StoreError::Full`] or [`StoreError::Unavailable`].
    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError>;

    /// Writes the end of a log, after which nothing can be appended. Returns the end; it is the earlier one if the log
    /// already had an end.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`] or [`StoreError::Unavailable`].
    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError>;

    /// Reads whole pieces as they were appended, from the piece that contains event number `from`: at most 64 KiB
    /// together, or one larger piece. If there are none yet, waits up to one second; the page is then empty. `from` may
    /// be greater than the number of the last event: the page then has no events, but it has the end.
    ///
    /// A log whose server has died is sealed with [`ReplyEnd::Lost`] by this call.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`] when there is no such log or an event is missing, and
    /// [`StoreError::Unavailable`].
    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError>;

    /// Returns the state of a log.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`] or [`StoreError::Unavailable`].
    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError>;

    /// Records that a reader is present.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`] or [`StoreError::Unavailable`].
    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError>;

    /// Returns the reply that was created last in a conversation, unless it has expired.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`]
    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError>;

    /// Tells the server that runs this reply to cancel it. Has no effect on a log with an end.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`] or [`StoreError::Unavailable`].
    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError>;

    /// Waits until this reply is cancelled. It never returns for another reason, such as a broken connection.
    async fn cancelled(&self, id: &ReplyId);
}

/// The end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyEnd {
    /// The agent answered.
    Done,
    /// The agent failed, or the reply exceeded its limits without a reader.
    Failed,
    /// The reply was cancelled.
    Cancelled,
    /// The log is not complete: the server that ran the agent died or was cut off from the store, or the reply exceeded
    /// its limits.
    Lost,
}

impl ReplyEnd {
    /// Returns the end as a word: `done`, `failed`, `cancelled` or `lost`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for ReplyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReplyEnd {
    type Err = StoreError;

    fn from_str(word: &str) -> Result<Self, StoreError> {
        let all = [Self::Done, Self::Failed, Self::Cancelled, Self::Lost];
        let end = all.into_iter().find(|end| end.as_str() == word);
        end.ok_or_else(|| StoreError::Unavailable("not an end of a reply".into()))
    }
}

/// The data about a reply that a store needs when its log is created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ReplyMeta {
    /// The conversation, if the front end can request its latest reply.
    pub conversation: Option<ConversationKey>,
    /// The time from its creation after which a log without an end expires.
    pub lifetime: Duration,
    /// The time from its end after which a log expires.
    pub retention: Duration,
}

impl ReplyMeta {
    /// Creates the data of a reply that belongs to no conversation.
    pub fn new(lifetime: Duration, retention: Duration) -> Self {
        Self {
            conversation: None,
            lifetime,
            retention,
        }
    }

    /// Sets the conversation.
    pub fn conversation(mut self, conversation: ConversationKey) -> Self {
        self.conversation = Some(conversation);
        self
    }
}

/// The state of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplyState {
    /// The number of events.
    pub next: u64,
    /// The end, if the log has one.
    pub end: Option<ReplyEnd>,
    /// `true` if a reader was [noted](ReplyStore::note_reader) within the last minute.
    pub attended: bool,
}

impl ReplyState {
    /// Creates the state of a log without an end and without readers.
    pub fn new(next: u64) -> Self {
        Self {
            next,
            ..Self::default()
        }
    }
}

/// A part of a log.
///
/// `Debug` prints the length of the events, not their contents.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogPage {
    /// The number of the first event in this page, which may be less than the requested number. The requested number if
    /// there are no events.
    pub first: u64,
    /// The number of the event after the last one in this page; [`first`](Self::first) if there are no events.
    pub next: u64,
    /// The bytes of whole events.
    pub events: Bytes,
    /// The end, if this page contains the last event and the log has an end.
    pub end: Option<ReplyEnd>,
}

impl LogPage {
    /// Creates a page with the events of the given numbers.
    pub fn new(numbers: Range<u64>, events: Bytes, end: Option<ReplyEnd>) -> Self {
        Self {
            first: numbers.start,
            next: numbers.end,
            events,
            end,
        }
    }

    /// Checks that this page has whole events, and removes the events before number `from`.
    pub(super) fn check(mut self, from: u64, framing: Framing) -> Result<Self, StoreError> {
        let is_whole = self.events.is_empty() || self.events.ends_with(framing.boundary());
        let next = self.first.checked_add(framing.count(&self.events));
        let before = from.checked_sub(self.first);
        match before.filter(|_| is_whole && next == Some(self.next) && from <= self.next) {
            Some(before) => {
                self.events = self.events.slice(framing.skip(&self.events, before)..);
                self.first = from;
                Ok(self)
            }
            None => Err(StoreError::Unavailable("invalid page".into())),
        }
    }
}

impl fmt::Debug for LogPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogPage")
            .field("first", &self.first)
            .field("bytes", &self.events.len())
            .field("next", &self.next)
            .field("end", &self.end)
            .finish()
    }
}

/// The reason why a call to the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A log with this id already exists.
    #[error("reply already exists")]
    Exists,
    /// The log has an end.
    #[error("reply already ended: {0}")]
    Sealed(ReplyEnd),
    /// There is no such log, it has expired, or a part of it is missing.
    #[error("no such reply")]
    Gone,
    /// The store has no space left.
    #[error("reply store is full")]
    Full,
    /// The store is not reachable now. Operators see the text of the source, so it must not contain secrets.
    #[error("reply store unavailable: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// Converts the error of a store into the refusal of the request.
impl From<StoreError> for Refusal {
    fn from(_: StoreError) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self::new(status, "replies cannot be read now")
            .code("overloaded")
            .retryable()
    }
}

/// Returns the digest of a request as text.
pub(super) fn digest(query: &str, body: &[u8]) -> String {
    let mut digest = Sha256::new();
    // With the length, no other pair of query and body has the same input.
    digest.update(query.len().to_be_bytes());
    digest.update(query);
    digest.update(body);
    ReplyId(digest.finalize().into()).to_string()
}

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Creates a key from its bytes.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes of this key.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Creates the key of `id` below a path, for one user. Different users, paths, ids or kinds of key have
            /// different keys.
            pub(crate) fn new(user: &str, path: &str, id: &str) -> Self {
                let mut digest = Sha256::new();
                // Each text with its length, so that different lists have different digests, and with the kind of key,
                // so that an id of one kind is not valid as the other.
                for text in [stringify!($name), user, path, id] {
                    digest.update(text.len().to_be_bytes());
                    digest.update(text);
                }
                Self(digest.finalize().into())
            }
        }

        /// Writes 64 hexadecimal digits.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

key! {
    /// The key of a reply in a store: a digest of its user, its path and the id that its front end uses. So the id of
    /// another user's reply does not find that reply.
    ReplyId
}

key! {
    /// The key of a conversation in a store: a digest of its user, its path and its id.
    ConversationKey
}
