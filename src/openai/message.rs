//! One message, in a request and in a completion.

use std::fmt;

use super::{Content, FunctionCall, ToolCall};
use crate::json::model::model;
use crate::json::{List, Members};
use crate::protocol::shown::Size;

/// One message of the conversation.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatMessage {
    /// `developer`, `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What it says.
    pub content: Content,
    /// Who of several with one role speaks.
    pub name: Option<String>,
    /// What the assistant says instead of an answer.
    pub refusal: Option<String>,
    /// What the assistant calls.
    pub tool_calls: List<ToolCall>,
    /// What the assistant calls, in the form before tools.
    pub function_call: Option<FunctionCall>,
    /// Which call this is the result of.
    pub tool_call_id: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ChatMessage, null: absent {
    role: "role" always,
    content: "content" always,
    name: "name",
    refusal: "refusal",
    tool_calls: "tool_calls",
    function_call: "function_call",
    tool_call_id: "tool_call_id",
});

impl ChatMessage {
    /// A message.
    #[must_use]
    pub fn new(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
            ..Self::default()
        }
    }

    /// Instructions from whoever runs the agent.
    #[must_use]
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new("system", content)
    }

    /// What the user says.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new("user", content)
    }

    /// What the assistant said.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new("assistant", content)
    }

    /// What the assistant called.
    #[must_use]
    pub fn calls(tool_calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            tool_calls: tool_calls.into_iter().collect(),
            ..Self::new("assistant", Content::Null)
        }
    }

    /// The result of a call.
    #[must_use]
    pub fn result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            tool_call_id: Some(call_id.into()),
            ..Self::new("tool", content)
        }
    }
}

/// Says how long content and arguments are, never what they are.
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
