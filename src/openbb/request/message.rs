//! One message of the conversation.

use std::borrow::Cow;

use super::strip_markers;
use crate::json::model::{Field, model, names};
use crate::json::{Json, Kind, Members};
use crate::openbb::FunctionCall;

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The user.
    Human,
    /// The agent, or another agent.
    Ai,
    /// The Workspace, with the result of a call.
    Tool,
    /// Stands for all messages up to a certain one; a draft of the protocol.
    Summary,
    /// A role that this crate does not know.
    Other(String),
}

names!(Role {
    Human: "human",
    Ai: "ai",
    Tool: "tool",
    Summary: "summary"
});

impl Default for Role {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// One message of the conversation, of any role and era.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who wrote it, as it is on the wire. Use [`role`](Self::role()).
    pub role: Role,
    /// The text, or a function call: use [`text`](Self::text) and [`call`](Self::call).
    pub content: Option<Json>,
    /// `ai`: the agent that wrote it.
    pub agent_id: String,
    /// A stable id, in a draft of the protocol.
    pub message_id: String,
    /// `summary`: the last message that it stands for.
    pub covered_through_message_id: String,
    /// `tool`: the function that was called.
    pub function: String,
    /// `tool`: its arguments, as the Workspace repeats them.
    pub input_arguments: Option<Json>,
    /// `tool`: the result, of any era's shape. Use
    /// [`call_results`](super::QueryRequest::call_results).
    pub data: Option<Json>,
    /// `tool`: what the agent sent along with the call.
    pub extra_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Message {
    role: "role",
    content: "content",
    agent_id: "agent_id",
    message_id: "message_id",
    covered_through_message_id: "covered_through_message_id",
    function: "function",
    input_arguments: "input_arguments",
    data: "data",
    extra_state: "extra_state",
});

impl Message {
    /// A message of a role, with a text.
    #[must_use]
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            content: Some(string(text)),
            ..Self::default()
        }
    }

    /// A message of the user.
    #[must_use]
    pub fn human(text: &str) -> Self {
        Self::new(Role::Human, text)
    }

    /// A message of an agent.
    #[must_use]
    pub fn ai(text: &str) -> Self {
        Self::new(Role::Ai, text)
    }

    /// The message in which a call comes back to the agent.
    #[must_use]
    pub fn ai_call(call: &FunctionCall) -> Self {
        // Today's Workspace repeats these two members and nothing else.
        let mut echo = FunctionCall::raw(call.function.clone(), call.input_arguments.clone());
        echo.copilot_function_call_arguments = None;
        Self::new(Role::Ai, echo.to_raw().text())
    }

    /// The result of a call: one entry a data source.
    #[must_use]
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

    /// Who wrote it. A message without a role but with a function is a result, as in Python.
    #[must_use]
    pub fn role(&self) -> &Role {
        match &self.role {
            Role::Other(role) if role.is_empty() && !self.function.is_empty() => &Role::Tool,
            role => role,
        }
    }

    /// The text as it came, markers included; `None` when the content is none.
    #[must_use]
    pub fn raw_text(&self) -> Option<Cow<'_, str>> {
        self.content.as_ref()?.string()
    }

    /// The text, without the markers that the Workspace puts where artifacts and citations stood.
    /// A model that sees them begins to imitate them.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        Some(match self.raw_text()? {
            Cow::Borrowed(text) => strip_markers(text),
            Cow::Owned(text) => Cow::Owned(strip_markers(&text).into_owned()),
        })
    }

    /// The function call that an `ai` message is.
    ///
    /// The content is an object with a string `function` and an object `input_arguments`, or a
    /// string that holds one as JSON, or a string that holds such a string. Anything else is text.
    /// A human's message is never a call, whatever was pasted into it.
    #[must_use]
    pub fn call(&self) -> Option<FunctionCall> {
        if self.role != Role::Ai {
            return None;
        }
        let content = self.content.as_ref()?;
        let parsed;
        let mut json = content;
        if content.kind() == Kind::String {
            parsed = parse_inside(content)?;
            json = &parsed;
        }
        let twice;
        if content.kind() == Kind::String && json.kind() == Kind::String {
            twice = parse_inside(json)?;
            json = &twice;
        }
        FunctionCall::received(json)
    }
}

/// The JSON value that a JSON string holds.
fn parse_inside(string: &Json) -> Option<Json> {
    let text = string.string()?;
    // Most texts are prose: look before the copy.
    if !text.trim_start().starts_with(['{', '"']) {
        return None;
    }
    Json::parse(text.into_owned()).ok()
}

/// A text as a JSON string.
pub(in crate::openbb) fn string(text: &str) -> Json {
    // Text always serialises.
    crate::json::model::encode(text).unwrap_or_default()
}
