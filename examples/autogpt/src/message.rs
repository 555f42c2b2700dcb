//! One message of a chat with a model.

use serde::{Deserialize, Serialize};

use crate::json::{Object, Value};

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The program.
    System,
    /// The human, or the program in the human's place.
    User,
    /// The model.
    Assistant,
    /// The result of a native tool call.
    Tool,
}

impl Role {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message of a chat with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// What it says.
    pub content: String,
    /// The name of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The native tool call in an assistant message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
    /// Which native tool call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

/// A native tool call, as OpenAI-compatible models make it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The model's id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text that ought to be a JSON object.
    pub arguments: String,
}

impl ToolCall {
    /// A call.
    #[must_use]
    pub fn new(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }
}

impl Message {
    /// A message of plain text.
    #[must_use]
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            name: None,
            call: None,
            answers: None,
        }
    }

    /// A system message.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    /// A user message.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// An assistant message.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of a native tool call.
    #[must_use]
    pub fn tool(answers: &str, content: impl Into<String>) -> Self {
        Self {
            answers: Some(answers.to_owned()),
            ..Self::new(Role::Tool, content)
        }
    }

    /// The message as an object of role and content, the form in which memory queries show it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from_iter([
            ("role".to_owned(), Value::from(self.role.as_str())),
            ("content".to_owned(), Value::from(self.content.as_str())),
        ]))
    }
}
