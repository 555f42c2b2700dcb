//! The request of a page.

use bytes::Bytes;
use http::StatusCode;

use crate::json::{Json, List, Members, Wire, text_or_json};
use crate::protocol::Refusal;

/// A request of a page, with the complete conversation.
///
/// ```
/// use copilot_wire::json::Wire as _;
/// use copilot_wire::ui_stream::{ChatRequest, UiMessage};
///
/// let mut request = ChatRequest::new("chat-1", [UiMessage::user("u1", "Hello")]);
/// assert_eq!(
///     &*request.to_json(),
///     br#"{"id":"chat-1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"Hello"}]}],"trigger":"submit-message"}"#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct ChatRequest {
    /// The id of the chat.
    pub id: String,
    /// The conversation, oldest message first; not empty in a request that a router has accepted.
    #[wire(always)]
    pub messages: List<UiMessage>,
    /// The action of the user.
    pub trigger: Trigger,
    /// The id of the message that is replaced or continued.
    pub message_id: Option<String>,
    /// Instructions, as assistant-ui sends them.
    pub system: Option<String>,
    /// The tools of the page by their names, as assistant-ui sends them: each is an object with
    /// `description` and `parameters`.
    pub tools: Members,
    /// All other members: those that the page adds with `body`.
    pub unknown: Members,
}

/// The action of the user.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(rename_all = "kebab-case")]
pub enum Trigger {
    /// The user sent a message, the result of a tool, or an answer to a question.
    SubmitMessage,
    /// The user asked for another answer.
    RegenerateMessage,
    /// An action that this crate does not know; the name is empty if the request names no action.
    #[wire(other)]
    Other(String),
}

impl Default for Trigger {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl ChatRequest {
    /// Creates a request for an answer to the last of `messages`.
    pub fn new(id: impl Into<String>, messages: impl IntoIterator<Item = UiMessage>) -> Self {
        Self {
            id: id.into(),
            messages: messages.into_iter().collect(),
            trigger: Trigger::SubmitMessage,
            ..Self::default()
        }
    }

    /// Reads the body of a request and checks that it has messages.
    pub(super) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        if request.messages.is_empty() {
            // Pages that store the conversation on the server send only `message`.
            let message = "must be a list with the messages of the conversation";
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
            return Err(refusal.at_list("messages", &request.messages));
        }
        Ok(request)
    }

    /// Returns the message that the reply continues: the last message, if it is the assistant's.
    pub fn continued(&self) -> Option<&UiMessage> {
        self.messages
            .last()
            .filter(|message| message.role == "assistant")
    }
}

/// One message of the conversation, as the page stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a message.")]
pub struct UiMessage {
    /// The id.
    #[wire(always, new)]
    pub id: String,
    /// `system`, `user` or `assistant`.
    #[wire(always, new)]
    pub role: String,
    /// Metadata of the page or of an earlier reply.
    pub metadata: Option<Json>,
    /// The parts of the message.
    #[wire(always, new)]
    pub parts: List<UiPart>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl UiMessage {
    /// Creates a message of the user.
    pub fn user(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(id, "user", [UiPart::text(text)])
    }
}

/// One part of a message. Its type determines which members it has; all other members are in `unknown`.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    rename_all = "camelCase",
    new = "Creates a part with a type, such as `text`, and no other members."
)]
pub struct UiPart {
    /// The type, such as `text`, `file`, `step-start`, `tool-NAME` or `data-NAME`.
    #[wire(name = "type", always, new)]
    pub kind: String,
    /// The text of a `text` or `reasoning` part.
    #[wire(content)]
    pub text: Option<String>,
    /// The state of a part; for tools see [`UiPart::tool_name`].
    pub state: Option<String>,
    /// The media type of a file or a document.
    pub media_type: Option<String>,
    /// The name of a file or a document.
    #[wire(secret)]
    pub filename: Option<String>,
    /// The URL of a file or a source; it may be a `data:` URL.
    #[wire(content)]
    pub url: Option<String>,
    /// The id of a source.
    #[wire(secret)]
    pub source_id: Option<String>,
    /// The title of a source.
    #[wire(secret)]
    pub title: Option<String>,
    /// The id of data.
    #[wire(secret)]
    pub id: Option<String>,
    /// The data of a `data-NAME` part.
    pub data: Option<Json>,
    /// The tool of a `dynamic-tool` part.
    #[wire(name = "toolName")]
    pub tool: Option<String>,
    /// The id of a tool call.
    pub tool_call_id: Option<String>,
    /// The input of a tool call.
    pub input: Option<Json>,
    /// The output of a tool call.
    pub output: Option<Json>,
    /// The error of a tool call.
    #[wire(read = text_or_json, content)]
    pub error_text: Option<String>,
    /// `true` if the output may still change.
    #[wire(secret)]
    pub preliminary: bool,
    /// `true` if the server ran the tool.
    #[wire(secret)]
    pub provider_executed: bool,
    /// The question whether a tool call may run, and its answer.
    pub approval: Option<Approval>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A question whether a tool call may run, and the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Approval {
    /// The id of the question.
    #[wire(always)]
    pub id: String,
    /// The answer; `None` until the user has answered.
    pub approved: Option<bool>,
    /// The reason, in the user's words.
    pub reason: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl UiPart {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new("text")
        }
    }

    /// Returns the name of the tool, if this is a tool call.
    ///
    /// States of a call: `input-streaming`, `input-available`, `approval-requested`, `approval-responded`,
    /// `output-available`, `output-error` and `output-denied`.
    pub fn tool_name(&self) -> Option<&str> {
        match self.kind.strip_prefix("tool-") {
            // A part without a name is still a tool call, and its state decides what the page does.
            None if self.kind == "dynamic-tool" => Some(self.tool.as_deref().unwrap_or_default()),
            name => name,
        }
    }

    /// Returns `true` if the part is in this state.
    pub(super) fn is(&self, state: &str) -> bool {
        self.state.as_deref() == Some(state)
    }
}
