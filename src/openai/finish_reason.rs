//! Why a choice ended.

use crate::json::model::names;

/// Why a choice ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// A limit of tokens cut the answer.
    Length,
    /// The answer calls tools.
    ToolCalls,
    /// A filter withheld content.
    ContentFilter,
    /// The answer calls a function, in the form before tools.
    FunctionCall,
    /// Anything else, such as the Copilot platform's `error`. Never empty when it was read.
    Other(String),
}

names!(FinishReason {
    Stop: "stop",
    Length: "length",
    ToolCalls: "tool_calls",
    ContentFilter: "content_filter",
    FunctionCall: "function_call",
});
