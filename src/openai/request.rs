//! The request.

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use super::{ChatMessage, Function, Tool, read};
use crate::json::{Escape, Json, JsonError, Members, Reader, WriteError, write};
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
///     request.to_json(),
///     br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}],"stream":true,"temperature":0.2}"#,
/// );
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The model that shall answer; empty when the request names none.
    pub model: String,
    /// The conversation, oldest message first. Never empty in a request that was read.
    pub messages: Vec<ChatMessage>,
    /// Whether the answer shall come in chunks; absent means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// What the stream shall hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    /// The tools that the answer may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Which of them it may or must call: `none`, `auto`, `required`, or an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Json>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

/// What a stream shall hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Whether a chunk with the usage follows the last finish reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_usage: Option<bool>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl ChatRequest {
    /// A request.
    #[must_use]
    pub fn new(model: impl Into<String>, messages: Vec<ChatMessage>) -> Self {
        Self {
            model: model.into(),
            messages,
            ..Self::default()
        }
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
    pub fn with_tools(mut self, tools: Vec<Tool>) -> Self {
        self.tools = tools;
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

    /// The request as JSON, for a client to send.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Models of this crate serialise.
        let _ = write(self, Escape::JsonAndSeparators, &mut out);
        out
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when it is not JSON, or has no messages.
    pub fn read(body: &Bytes) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object_keeping(&mut request.unknown, |reader, key| {
            match &*key {
                "model" => request.model = read::string(reader)?.unwrap_or_default(),
                "messages" => {
                    let messages = read::list(reader, ChatMessage::read)?;
                    request.messages = messages.unwrap_or_default();
                }
                "stream" => request.stream = read::bool(reader)?,
                "stream_options" => {
                    request.stream_options = read::object(reader, StreamOptions::read)?;
                }
                "tools" => {
                    request.tools = read::list(reader, Tool::read)?.unwrap_or_default();
                }
                "tool_choice" if !reader.null()? => {
                    request.tool_choice = Some(reader.value()?);
                }
                _ => {}
            }
            Ok(())
        })?;
        reader.end()?;
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

impl StreamOptions {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut options = Self::default();
        reader.object_keeping(&mut options.unknown, |reader, key| {
            if key == "include_usage" {
                options.include_usage = read::bool(reader)?;
            }
            Ok(())
        })?;
        Ok(options)
    }
}
