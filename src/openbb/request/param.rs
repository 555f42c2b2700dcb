//! The parameters of a widget.

use crate::json::model::model;
use crate::json::{Json, List, Members};

/// One parameter of a widget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// Its name, unique in the widget.
    pub name: String,
    /// Its type: `string`, `text`, `number`, `integer`, `boolean`, `date`, `ticker`, `endpoint`,
    /// `tabs`, or one that this crate does not know.
    pub kind: String,
    /// What it is for.
    pub description: String,
    /// The default as it came; absent and null differ. Use [`default`](Self::default_value).
    pub default: Option<Json>,
    /// The value that is set; never on widgets of the tier `extra`.
    pub current_value: Option<Json>,
    /// The value of which the widget shows the data.
    pub executed_value: Option<Json>,
    /// Whether several values may be given.
    pub multi_select: bool,
    /// Whether citations are to be made one for each value.
    pub split_param_on_citation: bool,
    /// What may be chosen: texts, or objects with `label` and `value`.
    pub options: List<Json>,
    /// Whether `get_params_options` tells what may be chosen.
    pub get_options: bool,
    /// What `get_params_options` needs to know.
    pub options_params: List<OptionsParam>,
    /// The language of a text, such as `python`.
    pub language: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Param {
    name: "name",
    kind: "type",
    description: "description",
    default: "default_value",
    current_value: "current_value",
    executed_value: "executed_value",
    multi_select: "multi_select",
    split_param_on_citation: "split_param_on_citation",
    options: "options",
    get_options: "get_options",
    options_params: "options_params",
    language: "language",
});

/// The three states of a parameter's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are three")]
pub enum DefaultValue<'a> {
    /// There is no default: a value must be given.
    Absent,
    /// The default is to give none.
    Null,
    /// The default.
    Value(&'a Json),
}

/// What openbb-ai writes for a default that is absent.
const UNDEFINED: &str = "\"<<UNDEFINED>>\"";

impl Param {
    /// The default.
    #[must_use]
    pub fn default_value(&self) -> DefaultValue<'_> {
        match &self.default {
            None => DefaultValue::Absent,
            Some(json) if json.text() == UNDEFINED => DefaultValue::Absent,
            Some(json) if json.is_null() => DefaultValue::Null,
            Some(json) => DefaultValue::Value(json),
        }
    }

    /// The value to ask data for: the current one, else the default.
    #[must_use]
    pub fn value(&self) -> Option<&Json> {
        let current = self.current_value.as_ref().filter(|json| !json.is_null());
        current.or_else(|| match self.default_value() {
            DefaultValue::Value(json) => Some(json),
            DefaultValue::Absent | DefaultValue::Null => None,
        })
    }
}

/// A parameter that the choices of another one depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionsParam {
    /// Its type; may be left out.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The parameter of the widget whose value it has.
    pub inherit_value_from: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(OptionsParam {
    kind: "type",
    name: "name",
    description: "description",
    inherit_value_from: "inherit_value_from",
});
