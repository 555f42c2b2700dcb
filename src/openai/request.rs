//! The chat completion request.

use std::mem;

use bytes::Bytes;
use http::StatusCode;

use super::{ChatMessage, Content, Function, Tool};
use crate::json::{Json, List, Members, Wire};
use crate::models::free_text_tool;
use crate::protocol::{self, Refusal};

/// A chat completion request, for clients and servers.
///
/// Members without a field, such as `temperature`, are in `unknown`.
///
/// ```
/// use copilot_wire::json::Wire as _;
/// use copilot_wire::openai::{ChatMessage, ChatRequest};
///
/// let request = ChatRequest::new("gpt-4o", vec![ChatMessage::user("Hello")])
///     .stream(true)
///     .with("temperature", &0.2)?;
/// assert_eq!(
///     &*request.to_json(),
///     br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}],"stream":true,"temperature":0.2}"#,
/// );
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a request.")]
#[must_use]
pub struct ChatRequest {
    /// The requested model; empty if there is none.
    #[wire(always, new)]
    pub model: String,
    /// The conversation, oldest message first. Never empty in a request that was read.
    #[wire(always, new)]
    pub messages: List<ChatMessage>,
    /// Set if the answer should be streamed; absent means `false`.
    #[wire(set = "Sets if the answer should be streamed.")]
    pub stream: Option<bool>,
    /// Options of the stream.
    pub stream_options: Option<StreamOptions>,
    /// The tools that the answer may call.
    pub tools: List<Tool>,
    /// The choice among the tools: `none`, `auto`, `required`, or an object.
    pub tool_choice: Option<Json>,
    /// The form of the answer: an object with the `type` `text`, `json_object` or `json_schema`.
    pub response_format: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// Options of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct StreamOptions {
    /// Set if a chunk with the usage should follow the last finish reason.
    pub include_usage: Option<bool>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

crate::models::setters::request_setters!(ChatRequest);

impl ChatRequest {
    /// Inserts instructions before the messages.
    pub fn instructions(mut self, text: impl Into<Content>) -> Self {
        let after = mem::take(&mut self.messages);
        self.messages = vec![ChatMessage::system(text)].into();
        self.messages.extend(after);
        self
    }

    /// Requests a chunk with the usage.
    pub fn include_usage(mut self) -> Self {
        self.stream_options.get_or_insert_default().include_usage = Some(true);
        self
    }

    /// Reads the body of a request and checks that it has messages.
    pub(crate) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        if request.messages.is_empty() {
            let message = "must be an array with at least one message";
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
            return Err(refusal.at_list("messages", &request.messages));
        }
        Ok(request)
    }

    /// Returns `true` if the answer should be streamed.
    pub fn is_stream(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns `true` if the answer should have the usage, which is always the case without a
    /// stream.
    pub fn wants_usage(&self) -> bool {
        let options = self.stream_options.as_ref();
        !self.is_stream() || options.is_some_and(|options| options.include_usage == Some(true))
    }

    /// Returns an iterator over the tools that may be called; empty if `tool_choice` is `none`.
    fn allowed(&self) -> impl Iterator<Item = &Tool> + Send {
        let choice = self.tool_choice.as_ref();
        // Tools with `tool_choice: none` explain earlier calls to a model, and must not be called.
        let none = choice.is_some_and(|choice| choice.text() == "\"none\"");
        self.tools.iter().filter(move |_| !none)
    }

    /// Returns an iterator over the functions that may be called.
    pub(super) fn offered(&self) -> impl Iterator<Item = &Function> + Send {
        self.allowed()
            .filter_map(|tool| tool.function.as_ref())
            .filter(|function| !function.name.is_empty())
    }

    /// Returns an iterator over the tools with free text that may be called, as functions.
    pub(super) fn free_text_tools(&self) -> impl Iterator<Item = protocol::Tool<'_>> + Send {
        let custom = self.allowed().filter_map(|tool| tool.unknown.get("custom"));
        custom.filter_map(free_text_tool)
    }

    /// Returns the names in the member that `tools` has replaced.
    pub(super) fn deprecated_functions(&self) -> Vec<String> {
        let functions = self.unknown.get("functions").into_iter();
        let functions = functions.flat_map(Json::elements);
        let names = functions.filter_map(|function| Some(function.get("name")?.string()?.into()));
        names.collect()
    }
}
