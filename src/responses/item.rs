//! One item of a conversation, in a request and in a response.

use std::fmt;

use super::{Content, ContentPart};
use crate::json::model::model;
use crate::json::{Json, JsonError, List, Members};
use crate::protocol;
use crate::protocol::shown::Size;

/// One item of a conversation: a message, a call, its output, reasoning, or anything else.
///
/// Which members an item has depends on its kind; those of kinds that this crate does not know are
/// in `unknown`.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// The id, such as `msg_1`.
    pub id: Option<String>,
    /// The kind: `message`, `function_call`, `function_call_output`, `reasoning` or another. Empty in
    /// a message of a request that leaves it out.
    pub kind: String,
    /// `in_progress`, `completed` or `incomplete`.
    pub status: Option<String>,
    /// The role of a message: `user`, `assistant`, `system` or `developer`.
    pub role: Option<String>,
    /// What a message says.
    pub content: Content,
    /// What pairs a call and its output.
    pub call_id: Option<String>,
    /// The function that is called.
    pub name: Option<String>,
    /// The arguments of a call as a JSON text, as the model wrote it: not always valid.
    pub arguments: Option<String>,
    /// What a call returned.
    pub output: Content,
    /// What may be shown of reasoning.
    pub summary: Option<List<ContentPart>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Item, null: absent {
    id: "id",
    kind: "type",
    status: "status",
    role: "role",
    content: "content",
    call_id: "call_id",
    name: "name",
    arguments: "arguments",
    output: "output",
    summary: "summary",
});

impl Item {
    /// Creates a message.
    #[must_use]
    pub fn message(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            kind: "message".into(),
            role: Some(role.into()),
            content: content.into(),
            ..Self::default()
        }
    }

    /// Creates a message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self::message("user", content)
    }

    /// Creates a call; `arguments` are a JSON text.
    #[must_use]
    pub fn call(
        call_id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            kind: "function_call".into(),
            call_id: Some(call_id.into()),
            name: Some(name.into()),
            arguments: Some(arguments.into()),
            ..Self::default()
        }
    }

    /// Creates the output of a call.
    #[must_use]
    pub fn output(call_id: impl Into<String>, output: impl Into<Content>) -> Self {
        Self {
            kind: "function_call_output".into(),
            call_id: Some(call_id.into()),
            output: output.into(),
            ..Self::default()
        }
    }

    /// Returns `true` if this is a message.
    #[must_use]
    pub fn is_message(&self) -> bool {
        self.kind == "message" || self.kind.is_empty() && self.role.is_some()
    }

    /// Returns `true` if this is a call of a function.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.kind == "function_call"
    }

    /// Returns the arguments of a call as a JSON object. Empty text is an object without members.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not a JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        Json::parse_object(self.arguments.as_deref().unwrap_or_default())
    }
}

impl TryFrom<&Item> for protocol::ToolCall {
    type Error = JsonError;

    /// Converts a call to the shared vocabulary, to be made through another front end.
    fn try_from(item: &Item) -> Result<Self, JsonError> {
        Ok(Self {
            name: item.name.clone().unwrap_or_default(),
            arguments: item.json()?,
        })
    }
}

/// Shows how long texts are, never what they are.
impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("status", &self.status)
            .field("role", &self.role)
            .field("content", &self.content)
            .field("call_id", &self.call_id)
            .field("name", &self.name)
            .field("arguments", &self.arguments.as_deref().map(Size::of))
            .field("output", &self.output)
            .field("summary", &self.summary)
            .field("unknown", &self.unknown)
            .finish()
    }
}
