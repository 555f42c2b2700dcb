//! Calls of tools, whole and in fragments.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::model::{Field, model, names};
use crate::json::{Json, JsonError, Kind, Members, Reader, WriteError};
use crate::protocol;
use crate::protocol::shown::Size;

/// The kind of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function of the client.
    #[default]
    Function,
    /// A kind that this crate does not know.
    Other(String),
}

names!(ToolKind {
    Function: "function"
});

/// A call of a tool, in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// What the result is paired with.
    pub id: String,
    /// The kind of the tool. The members of an unknown kind are in `unknown`.
    pub kind: ToolKind,
    /// The function and its arguments.
    pub function: FunctionCall,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ToolCall, null: absent {
    id: "id" always,
    kind: "type" always,
    function: "function",
});

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
            kind: ToolKind::Function,
            function: FunctionCall {
                name: name.into(),
                arguments: Json::encode(arguments)?.text().to_owned(),
                unknown: Members::new(),
            },
            unknown: Members::new(),
        })
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

/// A function and its arguments.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The function.
    pub name: String,
    /// The arguments as a JSON text, as the model wrote it: not always valid.
    pub arguments: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(FunctionCall, null: absent, empty: absent {
    name: "name" always,
    arguments: "arguments" always => arguments,
});

impl FunctionCall {
    /// The arguments as a JSON object. Empty text is an object without members: that is how a
    /// call without arguments may end.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is no JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        Json::parse_object(&self.arguments)
    }

    /// The arguments as a type of the caller's.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is no JSON object, or does not fit the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        self.json()?.decode()
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

/// Reads arguments. They are a text; some servers send the object itself, which is its text then.
fn arguments<T: Field + From<String>>(reader: &mut Reader<'_>) -> Result<Option<T>, JsonError> {
    if reader.is(Kind::Object) {
        return Ok(Some(reader.value()?.text().to_owned().into()));
    }
    T::read_from(reader)
}

/// A fragment of a call, in a chunk.
///
/// OpenAI chat streams, tool call deltas: `index` is the only reliable key; `id`, `type` and the
/// name come once, in the first fragment of that index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCallDelta {
    /// The position in the final list of calls.
    pub index: u32,
    /// What the result is paired with.
    pub id: Option<String>,
    /// The kind of the tool.
    pub kind: Option<ToolKind>,
    /// The function and a piece of its arguments.
    pub function: Option<FunctionDelta>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ToolCallDelta, null: absent {
    index: "index" always,
    id: "id",
    kind: "type",
    function: "function",
});

impl ToolCallDelta {
    /// The first fragment of a call.
    #[must_use]
    pub fn start(index: u32, id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            index,
            id: Some(id.into()),
            kind: Some(ToolKind::Function),
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
}

/// The name of a function, or a piece of its arguments, or both.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionDelta {
    /// The function.
    pub name: Option<String>,
    /// A piece of the arguments' JSON text; it may be cut inside an escape.
    pub arguments: Option<String>,
    /// Members that this crate does not know.
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

model!(FunctionDelta, null: absent {
    name: "name",
    arguments: "arguments" => arguments,
});
