//! Outcomes of streams.

use super::StreamError;
use crate::openai::FinishReason;

/// The outcome of a stream. The HTTP status is 200 for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamOutcome {
    /// The answer has a finish reason, and the stream is complete.
    Answered(FinishReason),
    /// The answer failed with a terminal error, possibly after text or even after the finish
    /// reason.
    Failed(StreamError),
    /// The stream is complete, but the answer has no finish reason: it is empty, or the server
    /// stopped after its twentieth round.
    Incomplete,
    /// The stream was interrupted. A server that crashes still ends the body regularly, so the end
    /// of the body is not sufficient.
    Truncated,
}

impl StreamOutcome {
    /// Returns `true` if the model answered.
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::Answered(_))
    }
}
