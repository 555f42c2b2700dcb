//! Why a choice ended.

use std::fmt;

use serde::{Serialize, Serializer};

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
    Other(Box<str>),
}

impl FinishReason {
    /// The reason by its name on the wire. An empty name is none: some servers send it where
    /// `null` belongs.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "" => return None,
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            "function_call" => Self::FunctionCall,
            other => Self::Other(other.into()),
        })
    }

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
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FinishReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
