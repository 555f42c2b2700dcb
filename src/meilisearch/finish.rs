//! Why an answer ended.

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    #[default]
    Stop,
    /// The answer was cut at the model's limit.
    Length,
    /// The model called functions. Forwarded by mistake in the middle of a stream; an answer that
    /// ends with it is no answer.
    ToolCalls,
    /// A filter withheld the answer.
    ContentFilter,
    /// The model called a function, in the manner of 2023.
    FunctionCall,
    /// A reason that this crate does not know.
    Other(String),
}

impl FinishReason {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::FunctionCall => "function_call",
            Self::Other(name) => name,
        }
    }

    /// The reason of this name; `None` for the empty one, which some servers send for `null`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "" => return None,
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            "function_call" => Self::FunctionCall,
            other => Self::Other(other.to_owned()),
        })
    }
}
