//! The recording of a turn while it is answered.

use std::future::Future;
use std::pin::Pin;

use super::{Chain, ListTurn, Recorder, UserConversations};

/// A turn that is recorded when its answer is complete.
pub struct Recording {
    conversations: UserConversations,
    /// The ids of up to 32 earlier turns, the last one first.
    parents: Vec<String>,
    /// The number of earlier turns.
    turns: usize,
    /// The turn in a conversation with its own id, if it belongs to one.
    list: Option<ListTurn>,
    /// `true` if the turn has a record under its own id.
    has_id: bool,
    recorder: Box<dyn Recorder>,
}

/// A future that stores a record and returns `true` if it was stored.
pub(crate) type Storing = Pin<Box<dyn Future<Output = bool> + Send>>;

impl Recording {
    /// Creates the recording of a turn that continues `chain`. For the first turn of a conversation the chain is empty.
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

    /// Adds the turn to a conversation with its own id, whose [`list`](UserConversations::list) the turn continues.
    /// `has_id` is `true` if the turn can also be continued and read by its own id.
    #[must_use]
    pub fn within(mut self, mut turn: ListTurn, has_id: bool) -> Self {
        turn.entries = self.turns;
        self.list = Some(turn);
        self.has_id = has_id;
        self
    }

    /// Reads the next bytes of the answer. If they contain the end of the answer, returns the future that stores the
    /// record, which must complete before these bytes are sent.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<Storing> {
        let recorded = self.recorder.push(bytes)?;
        let parents = std::mem::take(&mut self.parents);
        let conversations = self.conversations.clone();
        let list = self.list.take();
        let has_id = self.has_id;
        Some(Box::pin(async move {
            let id = has_id.then_some(&*recorded.id);
            let stored = conversations
                .record(list.as_ref(), id, &parents, &recorded)
                .await;
            #[cfg(feature = "tracing")]
            if let Err(error) = &stored {
                tracing::error!(target: "copilot_wire", %error, "a turn is not stored");
            }
            matches!(stored, Ok(true))
        }))
    }
}

opaque_debug!(Recording);
