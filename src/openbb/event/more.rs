//! Suggestions, token usage and summaries.

use crate::json::{List, Members, Wire};

/// Suggested prompts for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates suggestions from prompts.")]
pub struct PromptSuggestions {
    /// The prompts.
    #[wire(always, new, into)]
    pub suggestions: List<String>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The token usage of an answer; a draft of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct TokenUsage {
    /// The total number of tokens.
    pub total: Option<u64>,
    /// The parts of the total.
    #[wire(always)]
    pub breakdown: List<TokenCount>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl TokenUsage {
    /// Creates a usage whose total is the sum of these counts.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct TokenCount {
    /// The label, such as `input`.
    #[wire(always)]
    pub label: String,
    /// The number of tokens.
    pub value: Option<u64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A summary that replaces old messages; a draft of the protocol.
///
/// Later requests have it as a message with the role `summary`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a summary of all messages up to one.")]
pub struct ConversationSummary {
    /// The summary.
    #[wire(always, new)]
    pub content: String,
    /// The id of the last message that it replaces.
    #[wire(always, new)]
    pub covered_through_message_id: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
