//! Calls of tools, whole and in fragments.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::read;
use crate::json::{Json, JsonError, Kind, Members, Reader, WriteError};
use crate::protocol;
use crate::protocol::shown::Size;

pub(super) const FUNCTION: Cow<'static, str> = Cow::Borrowed("function");

/// A call of a tool, in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// What the result is paired with.
    pub id: String,
    /// `function`, or a kind that this crate does not know; that one's members are in `unknown`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The function and its arguments.
    #[serde(skip_serializing_if = "FunctionCall::is_absent")]
    pub function: FunctionCall,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl ToolCall {
    /// A call; `arguments` serialise to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the arguments do not serialise.
    pub fn new<T: Serialize + ?Sized>(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            id: id.into(),
            kind: FUNCTION,
            function: FunctionCall {
                name: name.into(),
                arguments: Json::encode(arguments)?.text().to_owned(),
                unknown: Members::new(),
            },
            unknown: Members::new(),
        })
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut call = Self {
            kind: FUNCTION,
            ..Self::default()
        };
        reader.object_keeping(&mut call.unknown, |reader, key| {
            match &*key {
                "id" => call.id = read::string(reader)?.unwrap_or_default(),
                "type" => call.kind = kind(reader)?.unwrap_or(FUNCTION),
                "function" => {
                    let function = read::object(reader, FunctionCall::read)?;
                    call.function = function.unwrap_or_default();
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(call)
    }
}

impl TryFrom<&ToolCall> for protocol::ToolCall {
    type Error = JsonError;

    /// The call as a word of the shared vocabulary, to be made through another front end.
    fn try_from(call: &ToolCall) -> Result<Self, JsonError> {
        Ok(Self {
            name: call.function.name.clone(),
            arguments: call.function.json()?,
        })
    }
}

/// The kind of a call or a tool.
pub(super) fn kind(reader: &mut Reader<'_>) -> Result<Option<Cow<'static, str>>, JsonError> {
    Ok(read::string(reader)?.map(|kind| match kind.as_str() {
        "function" => FUNCTION,
        _ => Cow::Owned(kind),
    }))
}

/// A function and its arguments.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The function.
    pub name: String,
    /// The arguments as a JSON text, as the model wrote it: not always valid.
    pub arguments: String,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl FunctionCall {
    /// The arguments as a JSON object. Empty text is an object without members: that is how a
    /// call without arguments may end.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is no JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        let text = match self.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let json = Json::parse(Bytes::copy_from_slice(text.as_bytes()))?;
        match json.kind() {
            Kind::Object => Ok(json),
            _ => Err(json.reader().expected("an object")),
        }
    }

    /// The arguments as a type of the caller's.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is no JSON object, or does not fit the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        self.json()?.decode()
    }

    fn is_absent(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut call = Self::default();
        reader.object_keeping(&mut call.unknown, |reader, key| {
            match &*key {
                "name" => call.name = read::string(reader)?.unwrap_or_default(),
                "arguments" => call.arguments = arguments(reader)?.unwrap_or_default(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(call)
    }
}

/// Says how long the arguments are, never what they are.
impl fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCall")
            .field("name", &self.name)
            .field("arguments", &Size::of(&self.arguments))
            .field("unknown", &self.unknown)
            .finish()
    }
}

/// Arguments are a text; some servers send the object itself, which is its text then.
fn arguments(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    if reader.is(Kind::Object) {
        return Ok(Some(reader.value()?.text().to_owned()));
    }
    read::string(reader)
}

/// A fragment of a call, in a chunk.
///
/// OpenAI chat streams, tool call deltas: `index` is the only reliable key; `id`, `type` and the
/// name come once, in the first fragment of that index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCallDelta {
    /// The position in the final list of calls.
    pub index: u32,
    /// What the result is paired with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `function`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'static, str>>,
    /// The function and a piece of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionDelta>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl ToolCallDelta {
    /// The first fragment of a call.
    #[must_use]
    pub fn start(index: u32, id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            index,
            id: Some(id.into()),
            kind: Some(FUNCTION),
            function: Some(FunctionDelta {
                name: Some(name.into()),
                arguments: Some(String::new()),
                unknown: Members::new(),
            }),
            unknown: Members::new(),
        }
    }

    /// A further fragment: a piece of the arguments.
    #[must_use]
    pub fn arguments(index: u32, piece: impl Into<String>) -> Self {
        Self {
            index,
            function: Some(FunctionDelta {
                arguments: Some(piece.into()),
                ..FunctionDelta::default()
            }),
            ..Self::default()
        }
    }

    pub(super) fn whole(index: u32, call: ToolCall) -> Self {
        Self {
            index,
            id: Some(call.id),
            kind: Some(call.kind),
            function: Some(FunctionDelta {
                name: Some(call.function.name),
                arguments: Some(call.function.arguments),
                unknown: call.function.unknown,
            }),
            unknown: call.unknown,
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut call = Self::default();
        reader.object_keeping(&mut call.unknown, |reader, key| {
            match &*key {
                "index" => call.index = read::index(reader)?,
                "id" => call.id = read::string(reader)?,
                "type" => call.kind = kind(reader)?,
                "function" => call.function = read::object(reader, FunctionDelta::read)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(call)
    }
}

/// The name of a function, or a piece of its arguments, or both.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FunctionDelta {
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A piece of the arguments' JSON text; it may be cut inside an escape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

/// Says how long the piece of the arguments is, never what it is.
impl fmt::Debug for FunctionDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionDelta")
            .field("name", &self.name)
            .field("arguments", &self.arguments.as_deref().map(Size::of))
            .field("unknown", &self.unknown)
            .finish()
    }
}

impl FunctionDelta {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut delta = Self::default();
        reader.object_keeping(&mut delta.unknown, |reader, key| {
            match &*key {
                "name" => delta.name = read::string(reader)?,
                "arguments" => delta.arguments = arguments(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(delta)
    }
}
