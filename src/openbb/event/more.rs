//! Suggestions, token usage and summaries.

use crate::json::model::model;
use crate::json::{List, Members};

/// Suggested prompts for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptSuggestions {
    /// The prompts.
    pub suggestions: List<String>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(PromptSuggestions { suggestions: "suggestions" always });

impl PromptSuggestions {
    /// Creates suggestions from prompts.
    #[must_use]
    pub fn new<S: Into<String>>(suggestions: impl IntoIterator<Item = S>) -> Self {
        Self {
            suggestions: suggestions.into_iter().map(Into::into).collect(),
            unknown: Members::new(),
        }
    }
}

/// The token usage of an answer; a draft of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// The total number of tokens.
    pub total: Option<u64>,
    /// The parts of the total.
    pub breakdown: List<TokenCount>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(TokenUsage { total: "total", breakdown: "breakdown" always });

impl TokenUsage {
    /// Creates a usage whose total is the sum of these counts.
    #[must_use]
    pub fn new<S: Into<String>>(counts: impl IntoIterator<Item = (S, u64)>) -> Self {
        let count = |(label, value): (S, u64)| TokenCount {
            label: label.into(),
            value: Some(value),
            unknown: Members::new(),
        };
        let breakdown: List<_> = counts.into_iter().map(count).collect();
        let values = breakdown.iter().filter_map(|count| count.value);
        Self {
            total: Some(values.fold(0, u64::saturating_add)),
            breakdown,
            unknown: Members::new(),
        }
    }
}

/// A part of the token usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The label, such as `input`.
    pub label: String,
    /// The number of tokens.
    pub value: Option<u64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(TokenCount { label: "label" always, value: "value" });

/// A summary that replaces old messages; a draft of the protocol.
///
/// Later requests have it as a message with the role `summary`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// The summary.
    pub content: String,
    /// The id of the last message that it replaces.
    pub covered_through_message_id: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ConversationSummary {
    content: "content" always,
    covered_through_message_id: "covered_through_message_id" always,
});

impl ConversationSummary {
    /// Creates a summary of all messages up to `through`.
    #[must_use]
    pub fn new(content: impl Into<String>, through: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            covered_through_message_id: through.into(),
            unknown: Members::new(),
        }
    }
}
