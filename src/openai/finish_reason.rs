//! Reasons why a choice ended.

use crate::json::Wire;
use crate::protocol::Cut;

/// The reason why a choice ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The answer was truncated at a limit of tokens.
    Length,
    /// The answer calls tools.
    ToolCalls,
    /// A filter withheld content.
    ContentFilter,
    /// The answer calls a function, in the form that preceded tools.
    FunctionCall,
    /// Any other reason, such as the Copilot platform's `error`. It is never empty in a chunk that
    /// was read.
    #[wire(other)]
    Other(String),
}

impl FinishReason {
    /// Returns the finish reason of a truncated answer; `None` if the dialect has none.
    pub(crate) fn of(cut: Cut) -> Option<Self> {
        match cut {
            Cut::Length => Some(Self::Length),
            Cut::Filter => Some(Self::ContentFilter),
            Cut::Other => None,
        }
    }

    /// Returns the reason why the answer is not complete; `None` if the answer is complete.
    pub(crate) fn cut(&self) -> Option<Cut> {
        match self {
            Self::Stop | Self::ToolCalls | Self::FunctionCall => None,
            Self::Length => Some(Cut::Length),
            Self::ContentFilter => Some(Cut::Filter),
            // Words of compatible servers.
            Self::Other(name) => match name.to_ascii_lowercase().as_str() {
                "eos" | "eos_token" | "end_turn" | "stop_sequence" | "tool_use" | "complete" => {
                    None
                }
                "max_tokens" | "max_output_tokens" | "model_length" => Some(Cut::Length),
                "safety" | "refusal" | "recitation" | "prohibited_content" => Some(Cut::Filter),
                _ => Some(Cut::Other),
            },
        }
    }
}
