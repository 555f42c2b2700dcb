//! The chat completion request.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;

use crate::json::{Escape, Json, JsonError, Kind, Members, ObjectWriter, Reader, Wire, WriteError};
use crate::openai::FunctionCall;
use crate::protocol::{self, Contents, Conversation, HistoryItem, RawMessage, Role, ToolResult};

use super::tools::SEARCH;
use super::{ApiError, Message, Tools};

/// A chat completion request, for clients and servers.
///
/// ```
/// use copilot_wire::meilisearch::{ChatRequest, Message, Tools};
///
/// let request = ChatRequest::new("gpt-4o-mini", [Message::user("Which films are about robots?")])
///     .tools(Tools::ALL)
///     .parameter("temperature", &0.2)?;
/// assert!(request.to_json().starts_with(br#"{"model":"gpt-4o-mini","stream":true,"messages":["#));
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ChatRequest {
    /// The model, as named by the workspace's provider.
    pub model: String,
    /// The conversation, oldest message first. The server adds the workspace's prompt before it.
    pub messages: Vec<Message>,
    /// The notifications to send.
    pub tools: Tools,
    /// The other members of the body, such as `temperature`. The server passes those that it knows
    /// to the provider, and drops the others.
    pub parameters: Members,
}

impl ChatRequest {
    /// Creates a request without notifications.
    pub fn new(model: impl Into<String>, messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            model: model.into(),
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Enables the notifications of these tools.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = self.tools.with(tools);
        self
    }

    /// Adds a parameter for the model's provider; not `model`, `stream`, `messages` or `tools`.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized.
    pub fn parameter<T: Serialize + ?Sized>(
        mut self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self, WriteError> {
        self.parameters.push(name, Json::encode(value)?);
        Ok(self)
    }

    /// Returns the body. `stream` is always `true`: the server supports only streams.
    pub fn to_json(&self) -> Bytes {
        let mut out = Vec::with_capacity(4096);
        let mut body = ObjectWriter::new(&mut out, Escape::Json);
        body.str("model", &self.model).bool("stream", true);
        // Serializing raw values cannot fail.
        let _ = body.array("messages", &self.messages, |message, place| {
            place.raw(message.json());
            Ok(())
        });
        if !self.tools.is_empty() {
            self.tools.write(body.member("tools"));
        }
        for (name, value) in self.parameters.iter() {
            // A second `stream` or `messages` would override the member above in most parsers.
            if !matches!(name, "model" | "stream" | "messages" | "tools") {
                body.member(name).raw(value);
            }
        }
        body.finish();
        out.into()
    }

    /// Reads a request with the checks of the server, which is stricter than other front ends.
    ///
    /// # Errors
    ///
    /// The server's error, with its code. The order of the checks is that of the server: the
    /// structure of the body, `n`, `stream`, the tools.
    pub fn read(body: &Bytes) -> Result<Self, ApiError> {
        if body.is_empty() {
            return Err(ApiError::missing_payload());
        }
        let mut request = Self::default();
        let mut model = None;
        let mut messages = None;
        let mut tools = Vec::new();
        let mut stream = false;
        let mut n = None;
        let malformed = |error: JsonError| ApiError::malformed_payload(&error);
        let mut reader = Reader::new(body).map_err(malformed)?;
        if !reader.is(Kind::Object) {
            // The body is parsed completely first: a body that is not JSON has another error code than one that is not
            // an object.
            reader.skip().map_err(malformed)?;
            return Err(ApiError::invalid_body("expected an object"));
        }
        let read = reader.object_keeping(&mut request.parameters, |reader, key| {
            match key {
                "model" => model = reader.string()?.map(Cow::into_owned),
                "messages" if reader.is(Kind::Array) => {
                    let list: &mut Vec<Json> = messages.insert(Vec::new());
                    reader.array(|reader, _| {
                        list.push(reader.value()?);
                        Ok(())
                    })?;
                }
                "tools" if reader.is(Kind::Array) => reader.array(|reader, _| {
                    tools.push(reader.value()?);
                    Ok(())
                })?,
                "stream" => stream = reader.bool()?.unwrap_or(false),
                "n" if !reader.is(Kind::Null) => n = Some(reader.value()?),
                _ => {}
            }
            Ok(())
        });
        read.and_then(|()| reader.end()).map_err(malformed)?;
        request.model = model.ok_or_else(|| ApiError::invalid_body("missing field `model`"))?;
        let messages =
            messages.ok_or_else(|| ApiError::invalid_body("missing field `messages`"))?;
        for (index, json) in messages.into_iter().enumerate() {
            let message = check_message(json).map_err(|what| {
                ApiError::invalid_body(format_args!("{what} at messages[{index}]"))
            })?;
            request.messages.push(message);
        }
        for (index, tool) in tools.iter().enumerate() {
            let kind = tool.get("type").unwrap_or_default();
            if kind.string().is_none_or(|kind| kind != "function") {
                return Err(ApiError::invalid_body(format_args!(
                    "expected the type `function` at tools[{index}]"
                )));
            }
        }
        // The checks from here on are in the server's order, so that a request with two faults gets the server's code:
        // `n`, `stream`, tools.
        if let Some(n) = n.filter(|n| n.as_u64() != Some(1)) {
            return Err(ApiError::multi_choice(&n));
        }
        if !stream {
            return Err(ApiError::non_streaming());
        }
        for (index, tool) in tools.iter().enumerate() {
            let name = tool
                .get("function")
                .and_then(|function| function.get("name"));
            let name = name.as_ref().and_then(Json::string).ok_or_else(|| {
                ApiError::invalid_body(format_args!(
                    "missing field `name` at tools[{index}].function"
                ))
            })?;
            match Tools::by_name(&name) {
                Some(tool) => request.tools = request.tools.with(tool),
                None if name == SEARCH => return Err(ApiError::internal_function(&name)),
                None => return Err(ApiError::external_function(&name)),
            }
        }
        Ok(request)
    }
}

/// Checks a message by the rules of Meilisearch 1.50: the roles are `developer`, `system`, `user`,
/// `assistant`, `tool` and `function`; `content` may be absent or `null` only for the assistant,
/// and a tool's message must have the id of its call.
fn check_message(json: Json) -> Result<Message, &'static str> {
    let message = Message::from_json(json).ok_or("missing field `role`")?;
    let content = message.json().get("content").map(|content| content.kind());
    let has_content = matches!(content, Some(Kind::String | Kind::Array));
    match message.role() {
        "assistant" => {}
        "developer" | "system" | "user" | "function" if has_content => {}
        "tool" if has_content && message.tool_call_id().is_some() => {}
        "tool" if has_content => return Err("missing field `tool_call_id`"),
        "developer" | "system" | "user" | "function" | "tool" => {
            return Err("missing field `content`");
        }
        _ => {
            return Err(
                "unknown role, expected one of `developer`, `system`, `user`, `assistant`, `tool`, `function`",
            );
        }
    }
    Ok(message)
}

impl Conversation for ChatRequest {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        self.messages.iter().flat_map(items)
    }
    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        let messages = self.messages.iter();
        messages.map(|message| {
            let author = RawMessage::author(role(message), &items(message));
            RawMessage::new(author, message.json())
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        self.messages
            .iter()
            .for_each(|message| message.json().each_string(each));
        Wire::each_string(&self.parameters, each);
        each(&self.model);
    }
}

fn role(message: &Message) -> Role {
    match message.role() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => Role::Other,
    }
}

/// Returns the items of a message, as those of a chat completion.
fn items(message: &Message) -> Vec<HistoryItem<'_>> {
    let role = role(message);
    let member = |name| message.json().get(name);
    let content = member("content").filter(|content| !content.is_null());
    let content = content.or_else(|| member("refusal")).unwrap_or_default();
    let contents = Contents::read(&content);
    let deprecated = member("function_call").filter(|call| !call.is_null());
    let deprecated = deprecated.and_then(|call| FunctionCall::from_raw(&call));
    let deprecated = deprecated.map(|call| protocol::Call::new(call.name, call.arguments));
    let calls = message.tool_calls().into_iter();
    let calls = calls.map(|call| protocol::Call::new(call.name, call.arguments).id(call.id));
    let calls: Vec<_> = calls.chain(deprecated).map(HistoryItem::Call).collect();
    let mut items = if role == Role::Tool {
        let name = member("name").and_then(|name| Some(name.string()?.into_owned()));
        let mut result = ToolResult::new(name.unwrap_or_default(), "");
        result.call_id = message.tool_call_id().map(Cow::Owned);
        contents.into_result(result)
    } else if contents.is_empty() && (!calls.is_empty() || content.is_null()) {
        // An assistant message with calls and an empty text has no text.
        Vec::new()
    } else {
        contents.into_message(role)
    };
    items.extend(calls);
    items
}
