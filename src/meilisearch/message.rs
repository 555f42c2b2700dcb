//! One message of the conversation.

use std::borrow::Cow;
use std::{fmt, mem};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Escape, Json, Kind, ObjectWriter};
use crate::protocol::shown::{Cut, Size};

/// One message of the conversation, as the JSON object that it is on the wire.
///
/// A message that the server asks to append goes back to it byte for byte, so the text is kept and
/// not a model of it. `Debug` shows the role only.
///
/// The constructors keep the rules of the server: `content` is a string for everybody but the
/// assistant, and what is absent is left out, never `null`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Message {
    role: Box<str>,
    json: Json,
}

/// A call that the model made, as an assistant message carries it. `Debug` does not show the
/// arguments.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The id, by which the result names the call.
    pub id: String,
    /// The function.
    pub name: String,
    /// The arguments as the model wrote them. Not always JSON.
    pub arguments: String,
}

impl Call {
    /// A call.
    #[must_use]
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
    /// What the user says.
    #[must_use]
    pub fn user(text: &str) -> Self {
        Self::said("user", text)
    }

    /// What the assistant answered.
    #[must_use]
    pub fn assistant(text: &str) -> Self {
        Self::said("assistant", text)
    }

    /// Instructions. The workspace's own prompt comes before them.
    #[must_use]
    pub fn system(text: &str) -> Self {
        Self::said("system", text)
    }

    /// Instructions, for newer models.
    #[must_use]
    pub fn developer(text: &str) -> Self {
        Self::said("developer", text)
    }

    /// Calls that the assistant made. Each one needs its [`tool`](Self::tool) message right after.
    #[must_use]
    pub fn calls<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Self {
        Self::write("assistant", |message| {
            // Strings always serialise.
            let _ = message.array("tool_calls", calls, |call, place| {
                place.object(|object| {
                    object.str("id", &call.id).str("type", "function");
                    object.object("function", |function| {
                        function
                            .str("name", &call.name)
                            .str("arguments", &call.arguments);
                        Ok(())
                    })?;
                    Ok(())
                })
            });
        })
    }

    /// The result of a call.
    #[must_use]
    pub fn tool(call_id: &str, content: &str) -> Self {
        Self::write("tool", |message| {
            message.str("content", content).str("tool_call_id", call_id);
        })
    }

    fn said(role: &str, text: &str) -> Self {
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
            json: Json::parse(out).unwrap_or_default(),
        }
    }

    /// A message that is JSON already. `None` unless it is an object with a `role`.
    #[must_use]
    pub fn from_json(json: Json) -> Option<Self> {
        let role = json.get("role")?.string()?.into();
        Some(Self { role, json })
    }

    /// The message as it is on the wire.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Who speaks: `user`, `assistant`, `tool`, `system`, `developer` or `function`.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The text: the content, or the text parts of it; `None` when there is no content.
    #[must_use]
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

    /// The calls that this message makes.
    #[must_use]
    pub fn tool_calls(&self) -> Vec<Call> {
        self.call_elements().map(|(call, _)| call).collect()
    }

    /// The call that this message is the result of.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<String> {
        Some(self.json.get("tool_call_id")?.string()?.into_owned())
    }

    /// The calls, each with its own JSON.
    pub(super) fn call_elements(&self) -> impl Iterator<Item = (Call, Json)> {
        let calls: Vec<Json> = self
            .json
            .get("tool_calls")
            .map(|calls| calls.elements().collect())
            .unwrap_or_default();
        let text = |json: Option<Json>| {
            json.as_ref()
                .and_then(Json::string)
                .unwrap_or_default()
                .into_owned()
        };
        calls.into_iter().map(move |json| {
            let function = json.get("function").unwrap_or_default();
            let call = Call {
                id: text(json.get("id")),
                name: text(function.get("name")),
                arguments: text(function.get("arguments")),
            };
            (call, json)
        })
    }

    /// The same message with these calls only; `None` when nothing is left of it.
    pub(super) fn with_calls(&self, keep: &[Json]) -> Option<Self> {
        if keep.is_empty() && self.text().is_none_or(|text| text.is_empty()) {
            return None;
        }
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out, Escape::Json);
        // Of a member that comes several times one is left.
        let mut open = !keep.is_empty();
        for (key, value) in self.json.members() {
            if key != "tool_calls" {
                object.member(&key).raw(&value);
            } else if mem::take(&mut open) {
                // Raw values always write.
                let _ = object.array("tool_calls", keep, |call, place| {
                    place.raw(call);
                    Ok(())
                });
            }
        }
        object.finish();
        Self::from_json(Json::parse(Bytes::from(out)).ok()?)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
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
            .ok_or_else(|| serde::de::Error::custom("a message is an object with a role"))
    }
}
