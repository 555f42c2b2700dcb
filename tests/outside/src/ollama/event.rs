//! The lines of an answer.

use copilot_wire::json::{Members, Wire};

use super::ChatMessage;

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all events are pieces")]
pub enum Event {
    /// A piece, or with `done` the end.
    Piece(Piece),
    /// The answer failed. It is the last line.
    Failed(Failed),
}

/// A piece of an answer; the last one has `done` and the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent)]
pub struct Piece {
    /// The model.
    #[wire(always)]
    pub model: String,
    /// The time, as RFC 3339 writes it.
    #[wire(always)]
    pub created_at: String,
    /// The message, with what this piece adds to it.
    #[wire(always)]
    pub message: ChatMessage,
    /// `true` in the last line.
    #[wire(always)]
    pub done: bool,
    /// Why the answer ended: `stop`, `length` or another word.
    pub done_reason: Option<String>,
    /// The time that the answer took, in nanoseconds.
    pub total_duration: Option<u64>,
    /// The time that the model took to load, in nanoseconds.
    pub load_duration: Option<u64>,
    /// The tokens of the request.
    pub prompt_eval_count: Option<u64>,
    /// The time that they took, in nanoseconds.
    pub prompt_eval_duration: Option<u64>,
    /// The tokens of the answer.
    pub eval_count: Option<u64>,
    /// The time that they took, in nanoseconds.
    pub eval_duration: Option<u64>,
    /// Members without a field.
    pub unknown: Members,
}

/// A failure, in a stream or in a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(new = "Creates a failure.")]
pub struct Failed {
    /// The message for the user.
    #[wire(always, new)]
    pub error: String,
    /// Members without a field.
    pub unknown: Members,
}

/// The reason why an answer ended: an agent ends its answer with one that is not `stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneReason(pub String);

impl Event {
    /// Writes the line.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&match self {
            Self::Piece(piece) => piece.to_json(),
            Self::Failed(failed) => failed.to_json(),
        });
        out.push(b'\n');
    }
}
