//! What `get_params_options` finds out.

use crate::json::model::model;
use crate::json::{Json, List, Members};

/// What may be chosen for parameters of a widget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamOptions {
    /// One entry a parameter.
    pub param_options: List<ParamChoices>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ParamOptions {
    param_options: "param_options"
});

/// What may be chosen for one parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamChoices {
    /// The parameter.
    pub param: String,
    /// The choices.
    pub options: List<ParamChoice>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ParamChoices {
    param: "param",
    options: "options"
});

/// One choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamChoice {
    /// What the user sees.
    pub label: String,
    /// The value: a text, a number or a boolean.
    pub value: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ParamChoice {
    label: "label",
    value: "value"
});
