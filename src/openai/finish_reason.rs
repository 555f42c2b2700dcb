//! Reasons why a choice ended.

use crate::json::Wire;

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
