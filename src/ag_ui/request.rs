//! The request of an app.

use bytes::Bytes;
use http::StatusCode;

use super::content::Content;
use crate::json::{Json, JsonError, Kind, List, Members, Wire, text_or_json};
use crate::protocol::{self, Refusal};

/// A request of an app, `RunAgentInput`, with the complete conversation.
///
/// ```
/// use copilot_wire::ag_ui::{Message, RunAgentInput};
/// use copilot_wire::json::Wire as _;
///
/// let input = RunAgentInput::new("thread-1", "run-1", [Message::user("u1", "Hello")]);
/// assert_eq!(
///     &*input.to_json(),
///     br#"{"threadId":"thread-1","runId":"run-1","state":{},"messages":[{"id":"u1","role":"user","content":"Hello"}],"tools":[],"context":[],"forwardedProps":{}}"#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", also_snake_case, null_is_absent)]
pub struct RunAgentInput {
    /// The id of the conversation.
    #[wire(always)]
    pub thread_id: String,
    /// The id of this run.
    #[wire(always)]
    pub run_id: String,
    /// The version of the protocol. Apps with 0.0.x do not send it.
    pub protocol_version: Option<String>,
    /// The id of the run that this run follows.
    pub parent_run_id: Option<String>,
    /// The state that app and agent share; `null` if there is none.
    pub state: Json,
    /// The conversation, oldest message first.
    #[wire(always)]
    pub messages: List<Message>,
    /// The tools that the app runs.
    #[wire(always)]
    pub tools: List<Tool>,
    /// Context from the app, such as the open page.
    #[wire(always)]
    pub context: List<Context>,
    /// Any other data of the app; `null` if there is none.
    pub forwarded_props: Json,
    /// The answers to the interrupts of the previous run.
    pub resume: List<ResumeEntry>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl RunAgentInput {
    /// Creates a request for an answer to `messages`. State and forwarded properties are empty objects, which readers
    /// of 0.0.x require.
    pub fn new(
        thread_id: impl Into<String>,
        run_id: impl Into<String>,
        messages: impl IntoIterator<Item = Message>,
    ) -> Self {
        let empty = Members::new().to_raw();
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            state: empty.clone(),
            messages: messages.into_iter().collect(),
            forwarded_props: empty,
            ..Self::default()
        }
    }

    /// Reads the body of a request and checks that it has a list of messages.
    pub(super) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let input = Self::parse(body)?;
        if input.messages.is_absent() {
            // An empty list is valid, but a missing list is not. Only the text of the body shows the difference.
            let messages = Json::parse(body.clone())?.get("messages");
            if messages.is_none_or(|messages| messages.kind() != Kind::Array) {
                let message = "must be the list of the conversation's messages";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("messages"));
            }
        } else if input.messages.is_empty() {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, "no message can be read");
            return Err(refusal.at_list("messages", &input.messages));
        }
        Ok(input)
    }
}

/// One message of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    rename_all = "camelCase",
    also_snake_case,
    null_is_absent,
    new = "Creates a message without content."
)]
#[must_use]
pub struct Message {
    /// The id.
    #[wire(always, new)]
    pub id: String,
    /// `user`, `assistant`, `system`, `developer`, `tool`, `reasoning` or `activity`.
    #[wire(always, new)]
    pub role: String,
    /// The content; in a tool's message the result of the call.
    #[wire(set = "Sets the content.")]
    pub content: Content,
    /// The name of the author.
    pub name: Option<String>,
    /// The calls that the assistant made.
    pub tool_calls: List<ToolCall>,
    /// The id of the call that a tool's message belongs to.
    pub tool_call_id: Option<String>,
    /// The error of a failed call.
    #[wire(read = text_or_json)]
    pub error: Option<String>,
    /// Metadata of the events from which the message was built: an object, or `null`.
    pub metadata: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Message {
    /// Creates a message of the user.
    pub fn user(id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::new(id, "user").content(content)
    }

    /// Creates the result of a call.
    pub fn tool(
        id: impl Into<String>,
        tool_call_id: impl Into<String>,
        content: impl Into<Content>,
    ) -> Self {
        Self {
            tool_call_id: Some(tool_call_id.into()),
            ..Self::new(id, "tool").content(content)
        }
    }

    /// Returns `true` if this is the result of a failed call.
    pub fn is_failure(&self) -> bool {
        let failed = || self.metadata.get(FAILED)?.as_bool();
        self.error.is_some() || failed() == Some(true)
    }
}

/// The member of a result's metadata that marks a failed tool: the result event has no other member for it.
pub(super) const FAILED: &str = "failed";

/// A call that the assistant makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "function", after = id), null_is_absent)]
pub struct ToolCall {
    /// The id of the call.
    #[wire(always)]
    pub id: String,
    /// The function and its arguments.
    #[wire(always)]
    pub function: FunctionCall,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A function and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct FunctionCall {
    /// The name of the tool.
    #[wire(always)]
    pub name: String,
    /// The arguments, as JSON text.
    #[wire(always, read = text_or_json)]
    pub arguments: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ToolCall {
    /// Creates a call. `arguments` is the text of a JSON object.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            function: FunctionCall {
                name: name.into(),
                arguments: arguments.into(),
                unknown: Members::new(),
            },
            unknown: Members::new(),
        }
    }
}

impl TryFrom<&ToolCall> for protocol::ToolCall {
    type Error = JsonError;

    /// Converts the call to a call of the shared vocabulary. Empty arguments become an object without members.
    fn try_from(call: &ToolCall) -> Result<Self, JsonError> {
        Ok(Self {
            name: call.function.name.clone(),
            arguments: Json::parse_object(&call.function.arguments)?,
            id: Some(call.id.clone()).filter(|id| !id.is_empty()),
            by_model: None,
        })
    }
}

/// A tool that the app runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Tool {
    /// The name by which the tool is called.
    #[wire(always)]
    pub name: String,
    /// A description.
    #[wire(always)]
    pub description: String,
    /// The JSON schema of the arguments.
    pub parameters: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Tool {
    /// Creates a tool.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Json) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: Some(parameters),
            unknown: Members::new(),
        }
    }
}

/// A piece of context from the app, such as the open page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Context {
    /// A description of the value.
    #[wire(always)]
    pub description: String,
    /// The value: text, or JSON text.
    #[wire(always, read = text_or_json)]
    pub value: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The answer to an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", also_snake_case, null_is_absent)]
#[must_use]
pub struct ResumeEntry {
    /// The id of the interrupt.
    #[wire(always)]
    pub interrupt_id: String,
    /// The status of the interrupt.
    #[wire(always)]
    pub status: ResumeStatus,
    /// The answer; `null` if there is none.
    pub payload: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The status of an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ResumeStatus {
    /// The payload is the answer.
    Resolved,
    /// The user did not answer. For a confirmation this is a refusal.
    #[default]
    Cancelled,
    /// A status that this crate does not know.
    #[wire(other)]
    Other(String),
}

impl ResumeEntry {
    /// Creates an answer.
    pub fn new(interrupt_id: impl Into<String>, payload: Json) -> Self {
        Self {
            interrupt_id: interrupt_id.into(),
            status: ResumeStatus::Resolved,
            payload,
            unknown: Members::new(),
        }
    }

    /// Creates an entry for an interrupt that the user cancelled.
    pub fn cancelled(interrupt_id: impl Into<String>) -> Self {
        Self {
            interrupt_id: interrupt_id.into(),
            ..Self::default()
        }
    }
}
