//! Tools that a request offers.

use std::borrow::Cow;

use serde::Serialize;

use super::read;
use super::tool_call::{FUNCTION, kind};
use crate::json::{Json, JsonError, Members, Reader};

/// A tool that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tool {
    /// `function`, or a kind that this crate does not know; that one's members are in `unknown`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The function, in a tool that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl Tool {
    /// A function.
    #[must_use]
    pub fn function(function: Function) -> Self {
        Self {
            kind: FUNCTION,
            function: Some(function),
            unknown: Members::new(),
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut tool = Self {
            kind: FUNCTION,
            ..Self::default()
        };
        reader.object_keeping(&mut tool.unknown, |reader, key| {
            match &*key {
                "type" => tool.kind = kind(reader)?.unwrap_or(FUNCTION),
                "function" => tool.function = read::object(reader, Function::read)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(tool)
    }
}

impl From<Function> for Tool {
    fn from(function: Function) -> Self {
        Self::function(function)
    }
}

/// A function that a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Function {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Json>,
    /// Whether the arguments must follow the schema to the letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl Function {
    /// A function without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            ..Self::default()
        }
    }

    /// Sets the JSON schema of the arguments.
    #[must_use]
    pub fn parameters(mut self, schema: Json) -> Self {
        self.parameters = Some(schema);
        self
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut function = Self::default();
        reader.object_keeping(&mut function.unknown, |reader, key| {
            match &*key {
                "name" => function.name = read::string(reader)?.unwrap_or_default(),
                "description" => function.description = read::string(reader)?,
                "parameters" => function.parameters = read::object(reader, Reader::value)?,
                "strict" => function.strict = read::bool(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(function)
    }
}
