//! The request for a message.

use bytes::Bytes;
use http::StatusCode;

use super::{Content, ErrorObject};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::protocol::Refusal;

/// A request for a message, for clients and servers.
///
/// Members without a field, such as `temperature`, are in `unknown`.
///
/// ```
/// use copilot_wire::anthropic::{MessageParam, MessagesRequest};
/// use copilot_wire::json::Wire as _;
///
/// let request = MessagesRequest::new("claude", 1024, [MessageParam::user("Hello")]).stream(true);
/// assert_eq!(
///     &*request.to_json(),
///     br#"{"model":"claude","max_tokens":1024,"messages":[{"role":"user","content":"Hello"}],"stream":true}"#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a request.")]
#[must_use]
pub struct MessagesRequest {
    /// The requested model; empty if there is none.
    #[wire(always, new)]
    pub model: String,
    /// The maximum number of tokens in the answer. Agents ignore it.
    #[wire(new)]
    pub max_tokens: Option<u64>,
    /// The system prompt.
    #[wire(set = "Sets the system prompt.")]
    pub system: Content,
    /// The conversation, oldest message first. Never empty in a request that was read.
    #[wire(always, new)]
    pub messages: List<MessageParam>,
    /// Set if the answer should be streamed; absent means `false`.
    #[wire(set = "Sets if the answer should be streamed.")]
    pub stream: Option<bool>,
    /// The tools that the answer may call.
    pub tools: List<Tool>,
    /// The choice among the tools: an object with the `type` `auto`, `any`, `none` or `tool`.
    pub tool_choice: Option<Json>,
    /// Settings of the answer: an object with its `format` and an `effort`.
    pub output_config: Option<Json>,
    /// Metadata about the user: an object with `user_id`.
    pub metadata: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

crate::models::setters::request_setters!(MessagesRequest);

impl MessagesRequest {
    /// Reads the body of a request, checks that it has messages, and refuses requests that need stored threads where
    /// there are none.
    pub(crate) fn read(body: &Bytes, has_store: bool) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        let thread = request.thread();
        // The first request of a thread is refused too, because the next request would lack its messages and tools.
        if thread.is_some() && !has_store {
            return Err(no_threads("threads are not stored"));
        }
        // A thread may continue without a new message, after an incomplete answer.
        let has_more = thread.and_then(previous).is_some();
        if request.messages.is_empty() && !has_more {
            let message = "must be an array with at least one message";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message)
                .at_list("messages", &request.messages));
        }
        Ok(request)
    }

    /// Returns the member `thread`.
    pub(super) fn thread(&self) -> Option<&Json> {
        let thread = self.unknown.get("thread");
        thread.filter(|thread| thread.kind() != Kind::Null)
    }

    /// Returns `true` if the answer should be streamed.
    pub fn is_stream(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns an iterator over the tools that the client runs; empty if `tool_choice` is `none`.
    /// Tools of another `type` run on Anthropic's servers.
    pub(super) fn offered(&self) -> impl Iterator<Item = &Tool> + Send {
        // Claude Code lists this tool if tools are deferred; a model must not call it.
        let callable = |tool: &&Tool| tool.is_custom() && tool.name != "DeferredToolPlaceholder";
        self.allowed().filter(callable)
    }

    /// Returns an iterator over the tools of Anthropic's own types; empty if `tool_choice` is `none`.
    pub(super) fn typed(&self) -> impl Iterator<Item = &Tool> + Send {
        self.allowed().filter(|tool| !tool.is_custom())
    }

    fn allowed(&self) -> impl Iterator<Item = &Tool> + Send {
        let choice = self
            .tool_choice
            .as_ref()
            .and_then(|choice| choice.get("type"));
        let none = choice.is_some_and(|choice| choice.text() == "\"none\"");
        // With `none` the model may not call a tool, and the client would refuse a call.
        let tools = self.tools.iter().filter(move |_| !none);
        tools.filter(|tool| !tool.name.is_empty())
    }
}

/// Returns the id of the message that a thread continues.
pub(super) fn previous(thread: &Json) -> Option<String> {
    let is_continued = thread.get("type")?.string()? == "continue";
    let id = thread.get("previous_message_id")?.string()?.into_owned();
    is_continued.then_some(id)
}

/// Returns the refusal of a request for a thread. The tool runners of both official clients then send the whole
/// conversation.
pub(super) fn no_threads(reason: &str) -> Refusal {
    let message = format!("{reason}: send the whole conversation");
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
    refusal.at("thread").code(ErrorObject::NO_THREADS)
}

/// A message of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a message.")]
#[must_use]
pub struct MessageParam {
    /// The role: `user`, `assistant` or `system`.
    #[wire(always, new)]
    pub role: String,
    /// The content.
    #[wire(always, new)]
    pub content: Content,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl MessageParam {
    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new("user", content)
    }

    /// Creates a message of the assistant.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new("assistant", content)
    }
}

/// A tool that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    null_is_absent,
    new = "Creates a tool of the client, without a schema."
)]
pub struct Tool {
    /// The type: absent or `custom` for a tool of the client, any other for one of the server.
    #[wire(name = "type")]
    pub kind: Option<String>,
    /// The name.
    #[wire(new)]
    pub name: String,
    /// The description.
    #[wire(new)]
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[wire(set = "Sets the JSON schema of the arguments.")]
    pub input_schema: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Tool {
    /// Returns `true` if the client runs the tool.
    fn is_custom(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "custom")
    }
}
