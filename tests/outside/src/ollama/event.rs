//! The lines of an answer.

use copilot_wire::json::{Members, Wire};
use copilot_wire::protocol::{EventError, FrameEvent, TextMember};

use super::ChatMessage;

/// A line of an answer, or of a failure, which has an `error` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent)]
pub struct Event {
    /// The model.
    pub model: String,
    /// The time, as RFC 3339 writes it.
    pub created_at: String,
    /// The message, with what this line adds to it.
    pub message: ChatMessage,
    /// `true` in the last line.
    pub done: Option<bool>,
    /// Why the answer ended: `stop`, `length` or another word.
    pub done_reason: Option<String>,
    /// The time that the answer took, in nanoseconds.
    pub total_duration: Option<u64>,
    /// The tokens of the request.
    pub prompt_eval_count: Option<u64>,
    /// The tokens of the answer.
    pub eval_count: Option<u64>,
    /// Why the answer failed.
    pub error: Option<String>,
    /// Members without a field.
    pub unknown: Members,
}

/// The reason why an answer ended: an agent ends its answer with one that is not `stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneReason(pub String);

impl Event {
    /// Creates the line of a failure.
    pub fn failed(message: impl Into<String>) -> Self {
        let error = Some(message.into());
        Self {
            error,
            ..Self::default()
        }
    }
}

// By hand: no member tells the lines apart.
impl FrameEvent for Event {
    const TRUNCATED: &'static str = "the stream ended without `done`";

    fn read(data: &str) -> Result<Option<Self>, EventError> {
        Ok(Some(Self::from_json(data)?))
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_json());
    }

    fn is_last(&self) -> bool {
        self.done == Some(true) || self.error.is_some()
    }

    fn text(&mut self) -> Option<TextMember<'_>> {
        let is_piece = !self.is_last();
        let text = &mut self.message.content;
        is_piece.then(|| TextMember::new(text, &["message", "content"]))
    }
}
