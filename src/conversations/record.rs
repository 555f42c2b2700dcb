//! The record of a turn.

use crate::json::Json;

/// Creates the record of a turn from the bytes of its answer.
pub trait Recorder: Send + Sync + 'static {
    /// Reads the next bytes of the answer: complete events of a stream, or the document of an answer without a stream.
    ///
    /// If the bytes contain the end of the answer, returns the record of the turn. Returns `None` for a turn that
    /// failed.
    fn push(&mut self, bytes: &[u8]) -> Option<TurnRecord>;
}

/// The record of a turn.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TurnRecord {
    /// The id of the turn.
    pub id: String,
    /// The data that a request which continues the turn needs.
    pub data: Json,
    /// Ids by which [`UserConversations::turn`](super::UserConversations::turn) and
    /// [`chain`](super::UserConversations::chain) find the turn, too.
    pub items: Vec<String>,
}

impl TurnRecord {
    /// Creates the record of a turn.
    pub fn new(id: impl Into<String>, data: Json) -> Self {
        Self {
            id: id.into(),
            data,
            items: Vec::new(),
        }
    }
}

opaque_debug!(TurnRecord);
