//! Tool calls, complete and in fragments.

use std::borrow::Cow;

use serde::Serialize;

use crate::json::{Json, JsonError, Members, Wire, WriteError, text_or_json};
use crate::models::free_text_arguments;
use crate::protocol;

/// The kind of a call in the form that preceded tools.
pub(super) const FUNCTION_CALL: &str = "function_call";

/// The kind of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function of the client.
    #[default]
    Function,
    /// A kind that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// Removes the kind of a tool from the members of a call.
pub(super) fn take_kind(members: &mut Members) -> ToolKind {
    let kind = members.get("type").and_then(ToolKind::from_raw);
    if kind.is_some() {
        members.retain(|name| name != "type");
    }
    kind.unwrap_or_default()
}

/// A call of a tool, in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct ToolCall {
    /// The id, which the result repeats.
    #[wire(always)]
    pub id: String,
    /// The kind of the tool. The members of an unknown kind are in `unknown`.
    #[wire(name = "type", always)]
    pub kind: ToolKind,
    /// The function and its arguments.
    pub function: FunctionCall,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ToolCall {
    /// Creates a call with `arguments` that serialize to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the arguments cannot be serialized.
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

impl ToolCall {
    /// Returns the name of the tool and the arguments. The input of a free text tool is the argument `input`.
    pub(crate) fn named(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let custom = self.unknown.get("custom");
        let Some(custom) = custom.filter(|_| self.kind != ToolKind::Function) else {
            let function = &self.function;
            return ((&*function.name).into(), (&*function.arguments).into());
        };
        let name = custom.get("name").unwrap_or_default();
        let name = name.string().unwrap_or_default().into_owned();
        let input = custom.get("input").unwrap_or_default();
        let arguments = free_text_arguments(&input);
        (name.into(), arguments.text().to_owned().into())
    }
}

impl TryFrom<&ToolCall> for protocol::ToolCall {
    type Error = JsonError;

    /// Converts the call to that of the shared vocabulary, for a reply of any protocol.
    fn try_from(call: &ToolCall) -> Result<Self, JsonError> {
        Ok(Self {
            name: call.function.name.clone(),
            arguments: call.function.json()?,
            id: Some(call.id.clone()).filter(|id| !id.is_empty()),
            by_model: None,
        })
    }
}

/// A function with its arguments.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, empty_is_absent)]
pub struct FunctionCall {
    /// The name.
    #[wire(always)]
    pub name: String,
    /// The arguments as JSON text, as written by the model: not always valid.
    #[wire(always, read = text_or_json, content)]
    pub arguments: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl FunctionCall {
    /// Returns the arguments as a JSON object. Empty text is an object without members: some calls
    /// without arguments have it.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the text is not a JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        Json::parse_object(&self.arguments)
    }
}

/// A fragment of a call, in a chunk.
///
/// Only `index` is a reliable key: `id`, `type` and the name are in the first fragment of an index
/// only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
#[must_use]
pub struct ToolCallDelta {
    /// The index in the list of calls.
    #[wire(always)]
    pub index: u32,
    /// The id, which the result repeats.
    pub id: Option<String>,
    /// The kind of the tool.
    #[wire(name = "type")]
    pub kind: Option<ToolKind>,
    /// The function and a piece of its arguments.
    pub function: Option<FunctionDelta>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ToolCallDelta {
    /// Creates the first fragment of a call.
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

    /// Creates a further fragment with a piece of the arguments.
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

    pub(crate) fn complete(index: u32, call: ToolCall) -> Self {
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

/// The name of a function, a piece of its arguments, or both.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct FunctionDelta {
    /// The name.
    pub name: Option<String>,
    /// A piece of the arguments' JSON text; it may end inside an escape.
    #[wire(read = text_or_json, content)]
    pub arguments: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}
