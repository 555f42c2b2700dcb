//! The request.

use std::mem;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use super::{ChatMessage, Content, Function, Tool};
use crate::json::model::{Field as _, model};
use crate::json::{Json, List, Members, WriteError};
use crate::protocol::Refusal;

/// A request for a chat completion.
///
/// Servers read it and clients write it; what is not named here, such as `temperature`, is in
/// `unknown`.
///
/// ```
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The model that shall answer; empty when the request names none.
    pub model: String,
    /// The conversation, oldest message first. Never empty in a request that was read.
    pub messages: List<ChatMessage>,
    /// Whether the answer shall come in chunks; absent means no.
    pub stream: Option<bool>,
    /// What the stream shall hold.
    pub stream_options: Option<StreamOptions>,
    /// The tools that the answer may call.
    pub tools: List<Tool>,
    /// Which of them it may or must call: `none`, `auto`, `required`, or an object.
    pub tool_choice: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// What a stream shall hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Whether a chunk with the usage follows the last finish reason.
    pub include_usage: Option<bool>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ChatRequest, null: absent {
    model: "model" always,
    messages: "messages" always,
    stream: "stream",
    stream_options: "stream_options",
    tools: "tools",
    tool_choice: "tool_choice",
});

model!(StreamOptions, null: absent { include_usage: "include_usage" });

impl ChatRequest {
    /// A request.
    #[must_use]
    pub fn new(model: impl Into<String>, messages: impl IntoIterator<Item = ChatMessage>) -> Self {
        Self {
            model: model.into(),
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Puts instructions before the messages.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<Content>) -> Self {
        let after = mem::take(&mut self.messages);
        self.messages = vec![ChatMessage::system(text)].into();
        self.messages.extend(after);
        self
    }

    /// Sets whether the answer shall come in chunks.
    #[must_use]
    pub fn stream(mut self, stream: bool) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Asks for a chunk with the usage.
    #[must_use]
    pub fn include_usage(mut self) -> Self {
        self.stream_options.get_or_insert_default().include_usage = Some(true);
        self
    }

    /// Sets the tools that the answer may call.
    #[must_use]
    pub fn offer(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Adds any other member, such as `temperature`.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the value does not serialise.
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        member: impl Into<String>,
        value: &T,
    ) -> Result<Self, WriteError> {
        self.unknown.push(member, Json::encode(value)?);
        Ok(self)
    }

    /// Reads the body of a request and checks that it has messages.
    pub(crate) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        if request.messages.is_empty() {
            let message = "must be an array with at least one message";
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
            return Err(refusal.at("messages"));
        }
        Ok(request)
    }

    /// Whether the answer shall come in chunks.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.stream == Some(true)
    }

    /// Whether the answer shall say what it cost: always, unless it comes in chunks.
    #[must_use]
    pub fn wants_usage(&self) -> bool {
        let options = self.stream_options.as_ref();
        !self.is_stream() || options.is_some_and(|options| options.include_usage == Some(true))
    }

    /// The functions that may be called: none when `tool_choice` is `none`.
    pub(super) fn offered(&self) -> impl Iterator<Item = &Function> + Send {
        let choice = self.tool_choice.as_ref();
        let none = choice.is_some_and(|choice| choice.text() == "\"none\"");
        let tools = self.tools.iter().filter(move |_| !none);
        tools
            .filter_map(|tool| tool.function.as_ref())
            .filter(|function| !function.name.is_empty())
    }
}
