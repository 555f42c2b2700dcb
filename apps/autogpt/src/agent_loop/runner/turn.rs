//! The types at the border of the runner: a turn, its end, and the receiver of its events.

use async_trait::async_trait;

use crate::agent_loop::run::{Answer, End, Event, Question};
use crate::digest::hex_digest;
use crate::env::NoRandomness;
use crate::memory::store::{Conversation, StoreError};

/// One turn of a conversation: the latest message of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The conversation.
    pub conversation: Conversation,
    /// The id, by which a request that is sent again is recognised: a digest of the whole transcript, if the front end
    /// sends it.
    pub id: String,
    /// `true` for the first turn of a chat. A goal then starts a new run, even if the conversation has an open one:
    /// that run is of an earlier chat with the same first message.
    pub opens: bool,
    /// The user's answer, or the goal.
    pub answer: Answer,
}

impl Turn {
    /// Creates a turn of a front end that does not send its transcript.
    pub fn new(conversation: Conversation, id: &str, answer: Answer) -> Self {
        Self {
            conversation,
            id: id.to_owned(),
            opens: false,
            answer,
        }
    }

    /// Creates the latest turn of a front end that sends its whole transcript: all user messages,
    /// oldest first.
    ///
    /// The same transcript is the same turn, so requests that are sent again and regenerated replies run nothing.
    pub fn of_transcript(conversation: Conversation, said: &[&str], answer: Answer) -> Self {
        Self::new(conversation, &hex_digest(said), answer)
    }

    /// Marks the first turn of a chat.
    #[must_use]
    pub fn opening(self) -> Self {
        Self {
            opens: true,
            ..self
        }
    }
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// With a question; the next turn answers it.
    Ask(Question),
    /// The answer did not count ([`Answer::Void`]): the same question is asked again.
    AskAgain(Question),
    /// The run has ended; the next turn starts another.
    Finish(End),
    /// There is no open run, and the turn has no goal, such as an answer without a question. The next turn starts a run
    /// with its text as the goal.
    NoRun,
}

/// An error of a turn. The run is unchanged since its last saved step.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The receiver of events is gone.
    #[error("the receiver of events is gone")]
    Closed,
    /// Another process has claimed or saved the conversation.
    #[error("another server answers this conversation")]
    Elsewhere,
    /// The system gave no random bytes for the id of a run.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The stored run cannot be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The stored run is damaged, or of another version.
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

/// A receiver of the events of a turn.
#[async_trait]
pub trait EventSink: Send {
    /// Shows an event.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the receiver is gone; the turn then stops before its next effect.
    async fn show(&mut self, event: Event) -> Result<(), Closed>;
}

/// The error of a receiver that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the receiver of events is gone")]
pub struct Closed;

impl From<Closed> for TurnError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Collects all events.
#[async_trait]
impl EventSink for Vec<Event> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        self.push(event);
        Ok(())
    }
}
