//! The smaller events.

use crate::json::model::model;
use crate::json::{List, Members};

/// What the user may ask next.
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
    /// These prompts.
    #[must_use]
    pub fn new<S: Into<String>>(suggestions: impl IntoIterator<Item = S>) -> Self {
        Self {
            suggestions: suggestions.into_iter().map(Into::into).collect(),
            unknown: Members::new(),
        }
    }
}

/// What the answer cost: a draft of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// All tokens.
    pub total: Option<u64>,
    /// What they went to.
    pub breakdown: List<TokenCount>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(TokenUsage { total: "total", breakdown: "breakdown" always });

impl TokenUsage {
    /// The sum of these counts.
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

/// A part of the cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// What it is, such as `input`.
    pub label: String,
    /// How many tokens.
    pub value: Option<u64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(TokenCount { label: "label" always, value: "value" });

/// What stands for old messages: a draft of the protocol.
///
/// It comes back as a message of the role `summary`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// The summary.
    pub content: String,
    /// The last message that it stands for.
    pub covered_through_message_id: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ConversationSummary {
    content: "content" always,
    covered_through_message_id: "covered_through_message_id" always,
});

impl ConversationSummary {
    /// A summary of all messages up to one.
    #[must_use]
    pub fn new(content: impl Into<String>, through: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            covered_through_message_id: through.into(),
            unknown: Members::new(),
        }
    }
}
