//! Messages of requests and completions.

use std::fmt;

use super::{Content, FunctionCall, ToolCall};
use crate::json::{List, Members, Wire};
use crate::protocol::redacted::Size;

/// A message of the conversation.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct ChatMessage {
    /// The role: `developer`, `system`, `user`, `assistant` or `tool`.
    #[wire(always)]
    pub role: String,
    /// The content.
    #[wire(always)]
    pub content: Content,
    /// The name of the author, if several have the same role.
    pub name: Option<String>,
    /// The text with which the assistant refuses.
    pub refusal: Option<String>,
    /// The calls of the assistant.
    pub tool_calls: List<ToolCall>,
    /// The call of the assistant, in the form that preceded tools.
    pub function_call: Option<FunctionCall>,
    /// The id of the call whose result the message is.
    pub tool_call_id: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ChatMessage {
    /// Creates a message.
    #[must_use]
    pub fn new(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
            ..Self::default()
        }
    }

    /// Creates a message with instructions of the agent's operator.
    #[must_use]
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new("system", content)
    }

    /// Creates a message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new("user", content)
    }

    /// Creates a message of the assistant.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new("assistant", content)
    }

    /// Creates a message with calls of the assistant.
    #[must_use]
    pub fn calls(tool_calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            tool_calls: tool_calls.into_iter().collect(),
            ..Self::new("assistant", Content::Null)
        }
    }

    /// Creates a message with the result of a call.
    #[must_use]
    pub fn result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            tool_call_id: Some(call_id.into()),
            ..Self::new("tool", content)
        }
    }
}

/// Prints only the lengths of content and arguments.
impl fmt::Debug for ChatMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatMessage")
            .field("role", &self.role)
            .field("content", &self.content)
            .field("name", &self.name)
            .field("refusal", &self.refusal.as_deref().map(Size::of))
            .field("tool_calls", &self.tool_calls)
            .field("function_call", &self.function_call)
            .field("tool_call_id", &self.tool_call_id)
            .field("unknown", &self.unknown)
            .finish()
    }
}
