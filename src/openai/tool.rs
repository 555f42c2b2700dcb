//! Tools of a request.

use super::ToolKind;
use crate::json::{Json, Members, Wire};

/// A tool that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Tool {
    /// The kind of the tool. The members of an unknown kind are in `unknown`.
    #[wire(name = "type", always)]
    pub kind: ToolKind,
    /// The function, if the tool is one.
    pub function: Option<Function>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl From<Function> for Tool {
    fn from(function: Function) -> Self {
        Self {
            function: Some(function),
            ..Self::default()
        }
    }
}

/// A function that a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a function without arguments.")]
pub struct Function {
    /// The name.
    #[wire(always, new)]
    pub name: String,
    /// The description.
    #[wire(new)]
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[wire(set = "Sets the JSON schema of the arguments.")]
    pub parameters: Option<Json>,
    /// Set if the arguments must match the schema exactly.
    pub strict: Option<bool>,
    /// Members that this crate does not know.
    pub unknown: Members,
}
