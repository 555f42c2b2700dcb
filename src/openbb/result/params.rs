//! Results of `get_params_options`.

use crate::json::{Json, List, Members, Wire};

/// The choices for parameters of a widget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ParamOptions {
    /// One entry for each parameter.
    pub param_options: List<ParamChoices>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The choices for one parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ParamChoices {
    /// The name of the parameter.
    pub param: String,
    /// The choices.
    pub options: List<ParamChoice>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// One of the values that a parameter may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ParamChoice {
    /// The displayed label.
    pub label: String,
    /// The value: a text, a number or a boolean.
    pub value: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
