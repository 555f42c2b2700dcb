//! The end of a run: outcome, interrupts and usage.

use crate::json::{Json, List, Members, Wire};
use crate::protocol::Usage;

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct RunOutcome {
    /// `success`, `interrupt` or, from 1.0 on, `cancelled`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The interrupts that the run waits for.
    pub interrupts: List<Interrupt>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl RunOutcome {
    /// Creates the outcome of a run that waits for the user.
    pub fn interrupt(interrupts: impl IntoIterator<Item = Interrupt>) -> Self {
        Self {
            kind: "interrupt".to_owned(),
            interrupts: interrupts.into_iter().collect(),
            unknown: Members::new(),
        }
    }
}

/// A question for which a run waits. The next request must have the answer in [`resume`](super::RunAgentInput::resume);
/// apps cannot send a request without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", new = "Creates an interrupt.")]
pub struct Interrupt {
    /// The id, which the answer repeats.
    #[wire(always, new)]
    pub id: String,
    /// The reason, such as `confirm`.
    #[wire(always, new)]
    pub reason: String,
    /// The message for the user.
    #[wire(set = "Sets what to show to the user.")]
    pub message: Option<String>,
    /// The tool call that the question is about.
    pub tool_call_id: Option<String>,
    /// The JSON schema of the answer: an object, or `null`.
    pub response_schema: Json,
    /// The time at which the interrupt expires, in ISO 8601.
    pub expires_at: Option<String>,
    /// Metadata: an object, or `null`.
    #[wire(set = "Sets the metadata: an object.")]
    pub metadata: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Interrupt {
    /// Sets the JSON schema of the answer: an object.
    #[must_use]
    pub fn response_schema(mut self, schema: Json) -> Self {
        self.response_schema = schema;
        self
    }
}

/// The tokens used by one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct TokenUsage {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// The sum of input and output tokens.
    pub total_tokens: Option<u64>,
    /// Tokens of the answer that were spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the prompt that were read from a cache.
    pub cached_input_tokens: Option<u64>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The largest number of tokens that readers accept: 2^53 - 1.
const MAX_TOKENS: u64 = (1 << 53) - 1;

impl From<&Usage> for TokenUsage {
    fn from(usage: &Usage) -> Self {
        // JavaScript reads larger numbers inexactly, and checks for safe integers reject them.
        let tokens = |tokens: u64| Some(tokens.min(MAX_TOKENS));
        Self {
            input_tokens: tokens(usage.input_tokens),
            output_tokens: tokens(usage.output_tokens),
            total_tokens: tokens(usage.total_tokens()),
            reasoning_tokens: tokens(usage.reasoning_tokens),
            cached_input_tokens: tokens(usage.cached_input_tokens),
            ..Self::default()
        }
    }
}

impl From<&TokenUsage> for Usage {
    fn from(usage: &TokenUsage) -> Self {
        let tokens = Option::unwrap_or_default;
        Self::new(tokens(usage.input_tokens), tokens(usage.output_tokens))
            .cached_input_tokens(tokens(usage.cached_input_tokens))
            .reasoning_tokens(tokens(usage.reasoning_tokens))
    }
}
