//! The response: a whole answer.

use std::fmt;

use super::{ErrorObject, Item};
use crate::json::model::model;
use crate::json::{List, Members};
use crate::protocol;

/// A response: what a request without a stream returns, and what the first and last events of a
/// stream hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The id. VS Code takes only those that begin with `resp_`.
    pub id: String,
    /// When it was begun, in seconds since 1970.
    pub created_at: u64,
    /// When it was completed.
    pub completed_at: Option<u64>,
    /// `in_progress`, `completed`, `incomplete` or `failed`.
    pub status: String,
    /// Why it is incomplete.
    pub incomplete_details: Option<IncompleteDetails>,
    /// The model that answered.
    pub model: String,
    /// Messages, calls and reasoning, in order.
    pub output: List<Item>,
    /// Why it failed.
    pub error: Option<ErrorObject>,
    /// How many tokens it took.
    pub usage: Option<Usage>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Response, null: absent {
    id: "id" always,
    "object" = "response",
    created_at: "created_at" always,
    completed_at: "completed_at" always,
    status: "status" always,
    incomplete_details: "incomplete_details" always,
    model: "model" always,
    output: "output" always,
    error: "error" always,
    usage: "usage" always,
});

impl Response {
    /// Returns the text of all messages.
    #[must_use]
    pub fn text(&self) -> String {
        let messages = self.output.iter().filter(|item| item.is_message());
        let parts = messages.flat_map(|item| item.content.parts());
        parts.filter_map(|part| part.text.as_deref()).collect()
    }

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Item> {
        self.output.iter().filter(|item| item.is_call())
    }
}

/// Why a response is incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncompleteDetails {
    /// `max_output_tokens` or `content_filter`.
    pub reason: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(IncompleteDetails, null: absent { reason: "reason" always });

/// How many tokens a response took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// What the tokens of the request were.
    pub input_tokens_details: InputTokensDetails,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// What the tokens of the answer were.
    pub output_tokens_details: OutputTokensDetails,
    /// Both together.
    pub total_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Usage, null: absent {
    input_tokens: "input_tokens" always,
    input_tokens_details: "input_tokens_details" always,
    output_tokens: "output_tokens" always,
    output_tokens_details: "output_tokens_details" always,
    total_tokens: "total_tokens" always,
});

impl Usage {
    /// Creates the counts of the request and of the answer.
    #[must_use]
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

/// What the tokens of a request were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputTokensDetails {
    /// Tokens that came out of a cache.
    pub cached_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(InputTokensDetails, null: absent { cached_tokens: "cached_tokens" always });

/// What the tokens of an answer were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputTokensDetails {
    /// Tokens that were spent on reasoning.
    pub reasoning_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(OutputTokensDetails, null: absent { reasoning_tokens: "reasoning_tokens" always });

impl fmt::Display for IncompleteDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
