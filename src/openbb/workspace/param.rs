//! Parameters of widgets.

use serde::Serialize;

use crate::json::wire::encode;
use crate::json::{Json, List, Members, Wire, WriteError};
use crate::openbb::text::string;

/// A parameter of a widget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, new = "Creates a parameter without a value, for clients.")]
pub struct Param {
    /// The name, unique in the widget.
    #[wire(new)]
    pub name: String,
    /// The type: `string`, `text`, `number`, `integer`, `boolean`, `date`, `ticker`, `endpoint`,
    /// `tabs`, or one that this crate does not know.
    #[wire(name = "type", new)]
    pub kind: String,
    /// The description.
    #[wire(new)]
    pub description: String,
    /// The default as sent; absent and null differ. Use [`default_value`](Self::default_value).
    #[wire(name = "default_value")]
    pub default: Option<Json>,
    /// The current value; never present on widgets of the tier `extra`.
    pub current_value: Option<Json>,
    /// The value with which the displayed data was loaded.
    pub executed_value: Option<Json>,
    /// Set if the parameter accepts several values.
    pub multi_select: bool,
    /// Set if the agent should make one citation for each value.
    pub split_param_on_citation: bool,
    /// The choices: texts, or objects with `label` and `value`.
    pub options: List<Json>,
    /// Set if `get_params_options` returns the choices.
    pub get_options: bool,
    /// The parameters that `get_params_options` needs.
    pub options_params: List<OptionsParam>,
    /// The language of a code text, such as `python`.
    pub language: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The default of a parameter, which has three states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are three")]
pub enum DefaultValue<'a> {
    /// There is no default: the parameter is required.
    Absent,
    /// The default is null: the parameter is optional.
    Null,
    /// The default value.
    Value(&'a Json),
}

/// The value that openbb-ai writes for an absent default.
const UNDEFINED: &str = "\"<<UNDEFINED>>\"";

impl Param {
    /// Sets the value that the user selected.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON.
    pub fn selected<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, WriteError> {
        self.current_value = Some(encode(value)?);
        Ok(self)
    }

    /// Sets what may be chosen.
    #[must_use]
    pub fn choices<S: AsRef<str>>(mut self, choices: impl IntoIterator<Item = S>) -> Self {
        let choices = choices.into_iter();
        self.options = choices.map(|choice| string(choice.as_ref())).collect();
        self
    }

    /// Returns the default.
    pub fn default_value(&self) -> DefaultValue<'_> {
        match &self.default {
            None => DefaultValue::Absent,
            Some(json) if json.text() == UNDEFINED => DefaultValue::Absent,
            Some(json) if json.is_null() => DefaultValue::Null,
            Some(json) => DefaultValue::Value(json),
        }
    }

    /// Returns the value for a data call: the current one, else the default.
    pub fn value(&self) -> Option<&Json> {
        // `null` here says that nothing is selected, unlike in the default.
        let current = self.current_value.as_ref().filter(|json| !json.is_null());
        current.or_else(|| match self.default_value() {
            DefaultValue::Value(json) => Some(json),
            DefaultValue::Absent | DefaultValue::Null => None,
        })
    }
}

/// A parameter that the choices of another parameter depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct OptionsParam {
    /// The type; optional.
    #[wire(name = "type")]
    pub kind: String,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The name of the widget's parameter from which it inherits its value.
    pub inherit_value_from: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
