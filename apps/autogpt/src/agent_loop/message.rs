//! Messages of a chat with a model.

use serde::{Deserialize, Serialize};

use crate::json::{Object, Value};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The program.
    System,
    /// The user, or the program on behalf of the user.
    User,
    /// The model.
    Assistant,
    /// The result of a native tool call.
    Tool,
}

impl Role {
    /// Returns the name of the role in the OpenAI API.
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
pub struct Message {
    /// The role of its author.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The name of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The native tool call in an assistant message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
    /// The id of the native tool call that this message is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

/// A native tool call, as OpenAI-compatible models make it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the model gave the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: text that should be a JSON object.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call.
    pub fn new(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }
}

impl Message {
    /// Creates a message of text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            name: None,
            call: None,
            answers: None,
        }
    }

    /// Creates a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    /// Creates a user message.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Creates the result of a native tool call.
    pub fn tool(answers: &str, content: impl Into<String>) -> Self {
        Self {
            answers: Some(answers.to_owned()),
            ..Self::new(Role::Tool, content)
        }
    }

    /// Returns the message as an object of role and content, as memory queries contain it.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from_iter([
            ("role".to_owned(), Value::from(self.role.as_str())),
            ("content".to_owned(), Value::from(self.content.as_str())),
        ]))
    }
}
