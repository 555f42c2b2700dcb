//! The recording of a turn while it is answered.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::{Chain, ListTurn, UserConversations};
use crate::json::Json;

/// Makes the record of a turn from the bytes of its answer.
pub trait Recorder: Send + Sync + 'static {
    /// Takes the next bytes of the answer: whole events of a stream, or the document of an answer without a stream.
    ///
    /// With those that have the end of an answer it returns the id of the turn and what is to be recorded. Never if
    /// the turn has failed.
    fn push(&mut self, bytes: &[u8]) -> Option<(String, Json)>;
}

/// A turn that is recorded once it is answered.
pub struct Recording {
    conversations: UserConversations,
    /// The ids of the last turns before, the last one first.
    parents: Vec<String>,
    /// The number of turns before, and the turn in a conversation with an id of its own.
    turns: usize,
    list: Option<ListTurn>,
    /// `true` if the turn has a record under its own id.
    has_id: bool,
    recorder: Box<dyn Recorder>,
}

/// The storing of a record: it returns `true` if that has succeeded.
pub(crate) type Storing = Pin<Box<dyn Future<Output = bool> + Send>>;

impl Recording {
    /// Creates the recording of a turn that continues `chain`, which is empty for the first turn of a conversation.
    pub fn new(conversations: UserConversations, chain: &Chain, recorder: impl Recorder) -> Self {
        Self {
            conversations,
            parents: chain.parents.clone(),
            turns: chain.turns.len(),
            list: None,
            has_id: true,
            recorder: Box::new(recorder),
        }
    }

    /// Adds the turn to a conversation with an id of its own, whose [`list`](UserConversations::list) it continues.
    /// `has_id` says if it can be continued and read by its
    /// own id too.
    #[must_use]
    pub fn within(mut self, mut turn: ListTurn, has_id: bool) -> Self {
        turn.entries = self.turns;
        self.list = Some(turn);
        self.has_id = has_id;
        self
    }

    /// Takes the next bytes of the answer. With those that have its end it returns the storing of the record, which
    /// has to be done before they are sent.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<Storing> {
        let (id, data) = self.recorder.push(bytes)?;
        let parents = std::mem::take(&mut self.parents);
        let conversations = self.conversations.clone();
        let list = self.list.take();
        let id = Some(id).filter(|_| self.has_id);
        Some(Box::pin(async move {
            let stored = conversations
                .record(list.as_ref(), id.as_deref(), &parents, &data)
                .await;
            #[cfg(feature = "tracing")]
            if let Err(error) = &stored {
                tracing::error!(target: "copilot_wire", %error, "a turn is not stored");
            }
            matches!(stored, Ok(true))
        }))
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
