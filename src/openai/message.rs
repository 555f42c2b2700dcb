//! One message, in a request and in a completion.

use std::fmt;

use serde::Serialize;

use super::{Content, FunctionCall, ToolCall, read};
use crate::json::{JsonError, Members, Reader};
use crate::protocol::shown::Size;

/// One message of the conversation.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChatMessage {
    /// `developer`, `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What it says.
    pub content: Content,
    /// Who of several with one role speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the assistant says instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What the assistant calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the assistant calls, in the form before tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall>,
    /// Which call this is the result of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

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
    pub fn calls(tool_calls: Vec<ToolCall>) -> Self {
        Self {
            tool_calls,
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

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut message = Self::default();
        reader.object_keeping(&mut message.unknown, |reader, key| {
            match &*key {
                "role" => message.role = read::string(reader)?.unwrap_or_default(),
                "content" => {
                    message.content = Content::read(reader)?;
                }
                "name" => message.name = read::string(reader)?,
                "refusal" => message.refusal = read::string(reader)?,
                "tool_calls" => {
                    message.tool_calls = read::list(reader, ToolCall::read)?.unwrap_or_default();
                }
                "function_call" => {
                    message.function_call = read::object(reader, FunctionCall::read)?;
                }
                "tool_call_id" => message.tool_call_id = read::string(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
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
