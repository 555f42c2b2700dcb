//! Messages of requests and completions.

use super::{Content, FunctionCall, ToolCall};
use crate::json::{List, Members, Wire};

/// A message of the conversation.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a message.")]
#[must_use]
pub struct ChatMessage {
    /// The role: `developer`, `system`, `user`, `assistant` or `tool`.
    #[wire(always, new)]
    pub role: String,
    /// The content.
    #[wire(always, new)]
    pub content: Content,
    /// The name of the author, if several have the same role.
    pub name: Option<String>,
    /// The text with which the assistant refuses.
    #[wire(content)]
    pub refusal: Option<String>,
    /// The calls of the assistant.
    pub tool_calls: List<ToolCall>,
    /// The call of the assistant, in the form that preceded tools.
    pub function_call: Option<Box<FunctionCall>>,
    /// The id of the call whose result the message is.
    pub tool_call_id: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ChatMessage {
    /// Creates a message with instructions of the agent's operator.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new("system", content)
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new("user", content)
    }

    /// Creates a message of the assistant.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new("assistant", content)
    }

    /// Creates a message with calls of the assistant.
    pub fn calls(tool_calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            tool_calls: tool_calls.into_iter().collect(),
            ..Self::new("assistant", Content::Null)
        }
    }

    /// Creates a message with the result of a call.
    pub fn result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            tool_call_id: Some(call_id.into()),
            ..Self::new("tool", content)
        }
    }
}
