//! The response: a complete answer.

use super::{ErrorObject, Item};
use crate::json::{List, Members, Wire};
use crate::protocol;

/// A response: the body without a stream, and a member of the first and last events of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(object = "response", after = id), null_is_absent)]
pub struct Response {
    /// The id. VS Code accepts only ids that begin with `resp_`.
    #[wire(always)]
    pub id: String,
    /// The creation time in seconds since 1970.
    #[wire(always)]
    pub created_at: u64,
    /// The name of the model.
    #[wire(always)]
    pub model: String,
    /// The status: `in_progress`, `completed`, `incomplete` or `failed`.
    #[wire(always)]
    pub status: String,
    /// The completion time in seconds since 1970.
    #[wire(always)]
    pub completed_at: Option<u64>,
    /// The reason why it is incomplete.
    #[wire(always)]
    pub incomplete_details: Option<IncompleteDetails>,
    /// The error of a failed response.
    #[wire(always)]
    pub error: Option<ErrorObject>,
    /// Messages, calls and reasoning, in order.
    #[wire(always)]
    pub output: List<Item>,
    /// The token usage.
    #[wire(always)]
    pub usage: Option<Usage>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Response {
    /// Returns the text of all messages.
    pub fn text(&self) -> String {
        let messages = self.output.iter().filter(|item| item.is_message());
        let parts = messages.flat_map(|item| item.content.parts());
        parts.filter_map(|part| part.text.as_deref()).collect()
    }
}

/// The reason why a response is incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates details.")]
pub struct IncompleteDetails {
    /// The reason: `max_output_tokens` or `content_filter`.
    #[wire(always, new)]
    pub reason: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The token usage of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Usage {
    /// The number of tokens in the request.
    #[wire(always)]
    pub input_tokens: u64,
    /// The parts of the tokens in the request.
    #[wire(always)]
    pub input_tokens_details: InputTokensDetails,
    /// The number of tokens in the answer.
    #[wire(always)]
    pub output_tokens: u64,
    /// The parts of the tokens in the answer.
    #[wire(always)]
    pub output_tokens_details: OutputTokensDetails,
    /// The sum of both.
    #[wire(always)]
    pub total_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Usage {
    /// Creates a usage from the numbers of tokens in the request and in the answer.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            total_tokens: input_tokens.saturating_add(output_tokens),
            ..Self::default()
        }
    }
}

impl From<protocol::Usage> for Usage {
    fn from(usage: protocol::Usage) -> Self {
        let mut counts = Self::new(usage.input_tokens, usage.output_tokens);
        counts.input_tokens_details.cached_tokens = usage.cached_input_tokens;
        counts.output_tokens_details.reasoning_tokens = usage.reasoning_tokens;
        counts
    }
}

impl From<&Usage> for protocol::Usage {
    fn from(usage: &Usage) -> Self {
        Self::new(usage.input_tokens, usage.output_tokens)
            .cached_input_tokens(usage.input_tokens_details.cached_tokens)
            .reasoning_tokens(usage.output_tokens_details.reasoning_tokens)
    }
}

/// The parts of the tokens in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct InputTokensDetails {
    /// The number of tokens that came from a cache.
    #[wire(always)]
    pub cached_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The parts of the tokens in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct OutputTokensDetails {
    /// The number of tokens that were used for reasoning.
    #[wire(always)]
    pub reasoning_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}
