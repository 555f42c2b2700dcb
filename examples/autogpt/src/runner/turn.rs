use async_trait::async_trait;

use crate::digest::hex_digest;
use crate::env::NoRandomness;
use crate::run::{Answer, End, Event, Question};
use crate::store::{Conversation, StoreError};

/// One turn of a conversation: what the human said last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The conversation.
    pub conversation: Conversation,
    /// The same for a request that is sent again, and different for any other: a digest of the whole
    /// transcript, where the front end sends it.
    pub id: String,
    /// How many messages of the human the transcript has, where the front end sends it. An answer
    /// that is not newer than the last one runs nothing.
    pub index: Option<u64>,
    /// Whether the chat begins with this turn: a goal that it states starts a run, and a run that
    /// waits, of an earlier chat that began alike, is given up.
    pub opens: bool,
    /// What the human said.
    pub answer: Answer,
}

impl Turn {
    /// A turn of a front end that does not send its transcript.
    #[must_use]
    pub fn new(conversation: Conversation, id: &str, answer: Answer) -> Self {
        Self {
            conversation,
            id: id.to_owned(),
            index: None,
            opens: false,
            answer,
        }
    }

    /// The newest turn of a front end that sends its whole transcript: all that the human said, with
    /// the newest last.
    ///
    /// The same transcript is the same turn, so a request that is sent again and an answer that is
    /// generated again run nothing. It must be whole: of one that starts later each time no turn is
    /// newer than the last.
    #[must_use]
    pub fn of_transcript(conversation: Conversation, said: &[&str], answer: Answer) -> Self {
        let turn = Self::new(conversation, &hex_digest(said), answer);
        turn.with_index(said.len() as u64)
    }

    /// The same with the number of messages of the human.
    #[must_use]
    pub fn with_index(self, index: u64) -> Self {
        let index = Some(index);
        Self { index, ..self }
    }

    /// The same as the first turn of its chat.
    #[must_use]
    pub fn opening(self) -> Self {
        Self {
            opens: true,
            ..self
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// With a question; the next turn answers it.
    Ask(Question),
    /// The run is over; the next turn starts another.
    Finish(End),
    /// The turn answers a question that nobody asks, and no run is open. The next turn starts one
    /// with what it says as the goal.
    NoRun,
}

/// A turn that could not be answered. The run is as it was after its last saved step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The reader of the events is gone.
    #[error("nobody listens any more")]
    Closed,
    /// Another process answers this conversation.
    #[error("the conversation is being answered elsewhere")]
    Elsewhere,
    /// There is no id for a new run.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The stored run cannot be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The stored run is of another version, or damaged.
    #[error("the stored run cannot be restored")]
    Unreadable,
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Elsewhere,
            error => Self::Store(error),
        }
    }
}

/// Takes the events of a turn as they happen.
#[async_trait]
pub trait Outlet: Send {
    /// Takes an event.
    ///
    /// # Errors
    ///
    /// [`Closed`] if nobody listens any more; the turn then stops before its next effect.
    async fn show(&mut self, event: Event) -> Result<(), Closed>;
}

/// Nobody listens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody listens any more")]
#[non_exhaustive]
pub struct Closed;

impl Closed {
    /// The error.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Default for Closed {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Closed> for TurnError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Collects the events.
#[async_trait]
impl Outlet for Vec<Event> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        self.push(event);
        Ok(())
    }
}
