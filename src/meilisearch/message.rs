//! Messages of the conversation.

use std::borrow::Cow;
use std::{fmt, mem};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Escape, Json, Kind, ObjectWriter, Wire};
use crate::openai::{self, FunctionCall};
use crate::vocabulary::redacted::{Cut, Size};

/// A message of the conversation, stored as its JSON object.
///
/// A message that the server asks to append must be sent back byte for byte, so the JSON text is
/// stored and not a model of it. `Debug` prints the role only.
///
/// The constructors follow the rules of the server: `content` is a string except for the assistant,
/// and absent members are omitted, never `null`.
#[derive(Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct Message {
    role: Box<str>,
    json: Json,
}

/// A tool call of the model, in an assistant message. `Debug` does not print the arguments.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id, which the result repeats.
    pub id: String,
    /// The name of the function.
    pub name: String,
    /// The arguments, as written by the model. They are not always valid JSON.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

impl Message {
    /// Creates a message of the user.
    pub fn user(text: &str) -> Self {
        Self::with_text("user", text)
    }

    /// Creates a message of the assistant.
    pub fn assistant(text: &str) -> Self {
        Self::with_text("assistant", text)
    }

    /// Creates a message with instructions. The workspace's own prompt precedes them.
    pub fn system(text: &str) -> Self {
        Self::with_text("system", text)
    }

    /// Creates a message with tool calls of the assistant. Each one needs its [`tool`](Self::tool)
    /// message right after.
    pub fn calls<'a>(calls: impl IntoIterator<Item = &'a ToolCall>) -> Self {
        Self::write("assistant", |message| {
            // Serializing strings cannot fail.
            let _ = message.array("tool_calls", calls, |call, place| {
                openai::ToolCall::from(call).write_to(place);
                Ok(())
            });
        })
    }

    /// Creates a message with the result of a call.
    pub fn tool(call_id: &str, content: &str) -> Self {
        Self::write("tool", |message| {
            message.str("content", content).str("tool_call_id", call_id);
        })
    }

    fn with_text(role: &str, text: &str) -> Self {
        Self::write(role, |message| {
            message.str("content", text);
        })
    }

    fn write(role: &str, members: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out, Escape::Json);
        object.member("role").str(role);
        members(&mut object);
        object.finish();
        Self {
            role: role.into(),
            // The text is valid, because a JSON writer has just written it.
            json: Json::parse(out).unwrap_or_default(),
        }
    }

    /// Creates a message from JSON; `None` unless it is an object with a `role`.
    pub fn from_json(json: Json) -> Option<Self> {
        let role = json.get("role")?.string()?.into();
        Some(Self { role, json })
    }

    /// Returns the message as JSON.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Returns the role: `user`, `assistant`, `tool`, `system`, `developer` or `function`.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Returns the text: the content, or its text parts; `None` if there is no content.
    pub fn text(&self) -> Option<String> {
        let content = self.json.get("content")?;
        match content.kind() {
            Kind::String => content.string().map(Cow::into_owned),
            Kind::Array => Some(
                content
                    .elements()
                    .filter_map(|part| Some(part.get("text")?.string()?.into_owned()))
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Returns the tool calls of the message.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        self.call_elements().map(|(call, _)| call).collect()
    }

    /// Returns the id of the call whose result this message is.
    pub fn tool_call_id(&self) -> Option<String> {
        Some(self.json.get("tool_call_id")?.string()?.into_owned())
    }

    /// Returns an iterator over the tool calls, each with its JSON.
    pub(super) fn call_elements(&self) -> impl Iterator<Item = (ToolCall, Json)> {
        let calls = self.json.get("tool_calls").unwrap_or_default();
        let calls: Vec<Json> = calls.elements().collect();
        calls.into_iter().map(|json| {
            let call = openai::ToolCall::from_raw(&json).unwrap_or_default();
            let (name, arguments) = call.named();
            (ToolCall::new(&*call.id, name, arguments), json)
        })
    }

    /// Returns the message with only these calls; `None` if it has no content left.
    pub(super) fn with_calls(&self, calls: &[Json]) -> Option<Self> {
        // A message with neither calls nor text is refused by providers.
        if calls.is_empty() && self.text().is_none_or(|text| text.is_empty()) {
            return None;
        }
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out, Escape::Json);
        // If a member occurs several times, one occurrence is retained.
        let mut open = !calls.is_empty();
        for (key, value) in self.json.members() {
            // All other members stay byte for byte, also those that this crate does not know.
            if key != "tool_calls" {
                object.member(&key).raw(&value);
            } else if mem::take(&mut open) {
                // Serializing raw values cannot fail.
                let _ = object.array("tool_calls", calls, |call, place| {
                    place.raw(call);
                    Ok(())
                });
            }
        }
        object.finish();
        Self::from_json(Json::parse(Bytes::from(out)).ok()?)
    }
}

impl From<&ToolCall> for openai::ToolCall {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            function: FunctionCall {
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                ..FunctionCall::default()
            },
            ..Self::default()
        }
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &Size::of(&self.arguments))
            .finish()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("role", &Cut(&self.role))
            .finish_non_exhaustive()
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Json::deserialize(deserializer)?)
            .ok_or_else(|| serde::de::Error::custom("a message must be an object with a role"))
    }
}
