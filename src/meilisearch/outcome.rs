//! What came of a stream.

use super::{Failure, FinishReason};

/// What came of a stream. The status of the response says nothing: it is 200 for all four.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The model answered to its end, whatever that was, and the stream arrived whole.
    Answered(FinishReason),
    /// The answer failed: a terminal error came, perhaps after some text, perhaps even after the
    /// finish reason.
    Failed(Failure),
    /// The stream arrived whole, and the answer did not end: nothing was said at all, or the server
    /// stopped after its twentieth round.
    Incomplete,
    /// The stream broke off. A server that crashes ends the body in good order, so a body that is
    /// over proves nothing.
    Truncated,
}

impl Outcome {
    /// Whether the model answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::Answered(_))
    }
}
