//! Messages of the conversation.

use std::borrow::Cow;

use super::function_call::FunctionCall;
use super::marker::strip_markers;
use super::text::string;
use crate::json::{Json, Kind, Members, Wire};

/// The author of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(empty)]
pub enum Role {
    /// The user.
    Human,
    /// The agent, or another agent.
    Ai,
    /// The Workspace: the message is the result of a call.
    Tool,
    /// A summary that replaces all messages up to a certain one; a draft of the protocol.
    Summary,
    /// A role that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// A message of the conversation, of any role and era.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty)]
#[must_use]
pub struct Message {
    /// The author, as sent on the wire. Use [`role`](Self::role()).
    pub role: Role,
    /// The text, or a function call: use [`text`](Self::text) and [`call`](Self::call).
    pub content: Option<Json>,
    /// For `ai`: the id of the agent.
    pub agent_id: String,
    /// A stable id, in a draft of the protocol.
    pub message_id: String,
    /// For `summary`: the id of the last message that it replaces.
    pub covered_through_message_id: String,
    /// For `tool`: the function that was called.
    pub function: String,
    /// For `tool`: the arguments, as repeated by the Workspace.
    pub input_arguments: Option<Json>,
    /// For `tool`: the result, in the form of any era. Use
    /// [`call_results`](super::QueryRequest::call_results).
    pub data: Option<Json>,
    /// For `tool`: the state that the agent sent with the call.
    pub extra_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Message {
    /// Creates a message with a role and a text.
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            content: Some(string(text)),
            ..Self::default()
        }
    }

    /// Creates a message of the user.
    pub fn human(text: &str) -> Self {
        Self::new(Role::Human, text)
    }

    /// Creates a message of an agent.
    pub fn ai(text: &str) -> Self {
        Self::new(Role::Ai, text)
    }

    /// Creates the message in which the front end repeats a call to the agent.
    pub fn ai_call(call: &FunctionCall) -> Self {
        // Today's Workspace repeats these two members only.
        let echo = FunctionCall::raw(call.function.clone(), call.input_arguments.clone());
        Self::new(Role::Ai, echo.to_raw().text())
    }

    /// Creates the result of a call. `data` has one entry for each data source.
    pub fn tool(call: &FunctionCall, data: Json) -> Self {
        Self {
            role: Role::Tool,
            function: call.function.clone(),
            input_arguments: Some(call.input_arguments.clone()),
            data: Some(data),
            extra_state: call.extra_state.clone(),
            ..Self::default()
        }
    }

    /// Returns the author. A message without a role but with a function is a result, as in
    /// openbb-ai.
    pub fn role(&self) -> &Role {
        match &self.role {
            Role::Other(role) if role.is_empty() && !self.function.is_empty() => &Role::Tool,
            role => role,
        }
    }

    /// Returns the text as sent, markers included; `None` if the content is not a string.
    pub(super) fn raw_text(&self) -> Option<Cow<'_, str>> {
        self.content.as_ref()?.string()
    }

    /// Returns the text without the markers of artifacts and citations. A model that sees markers
    /// begins to imitate them. Content of another type is its JSON.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let Some(text) = self.raw_text() else {
            let content = self.content.as_ref().filter(|content| !content.is_null());
            return Some(content?.text().into());
        };
        Some(match text {
            Cow::Borrowed(text) => strip_markers(text),
            Cow::Owned(text) => Cow::Owned(match strip_markers(&text) {
                Cow::Owned(stripped) => stripped,
                Cow::Borrowed(_) => text,
            }),
        })
    }

    /// Returns the function call in an `ai` message; `None` if the content is text.
    ///
    /// A call is an object with a string `function` and an object `input_arguments`, or that object
    /// as JSON in a string, or that string as JSON in a string. A user's message is never a call,
    /// even with such content.
    pub fn call(&self) -> Option<FunctionCall> {
        // openbb-ai reads calls in the user's messages too: a pasted text would become a call.
        if self.role != Role::Ai {
            return None;
        }
        let mut json = self.content.clone()?;
        // As in openbb-ai: a string inside the string is read once more, and no further.
        for _ in 0..2 {
            if json.kind() == Kind::String {
                json = parse_inside(&json)?;
            }
        }
        FunctionCall::received(&json)
    }
}

/// Parses the content of a JSON string as JSON.
fn parse_inside(string: &Json) -> Option<Json> {
    // Most texts are prose. The first check avoids unescaping them, the second one copying them.
    let first = string.as_bytes().get(1);
    if first.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let text = string.string()?;
    if !text.trim_start().starts_with(['{', '"']) {
        return None;
    }
    Json::parse(text.into_owned()).ok()
}
