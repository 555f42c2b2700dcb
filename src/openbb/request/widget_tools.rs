//! Widgets as tools, for agents that run on every protocol.

use std::collections::HashSet;

use super::QueryRequest;
use crate::json::{Json, Kind, List, Members, Wire};
use crate::openbb::numbers::Numbers;
use crate::openbb::text::string;
use crate::openbb::workspace::{DefaultValue, Param, Tier, Widget};

/// Returns the widgets of the dashboard, each with its tool name: `openbb_widget_` and its id, with
/// only the characters that models accept in names.
///
/// Widgets of the tier `extra` are not included: they are too many.
pub(in crate::openbb) fn widget_tools(
    request: &QueryRequest,
) -> impl Iterator<Item = (String, Tier, &Widget)> + Send {
    let (mut taken, mut numbers) = (HashSet::new(), Numbers::default());
    let is_on_dashboard = |&(tier, widget): &(Tier, &Widget)| {
        tier != Tier::Extra && !widget.is_container() && widget.id().is_some()
    };
    request
        .widgets()
        .filter(is_on_dashboard)
        .map(move |(tier, widget)| {
            let id = [&widget.widget_id, &widget.name, &widget.uuid];
            let id = id.into_iter().find(|id| !id.is_empty());
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let id: String = id
                .into_iter()
                .flat_map(|id| id.chars())
                .map(plain)
                // Models accept names of at most 64 characters: the prefix has 14, and a number may
                // follow.
                .take(40)
                .collect();
            let name = format!("openbb_widget_{id}");
            let name = numbers.free(name, '_', |name| taken.contains(name));
            taken.insert(name.clone());
            (name, tier, widget)
        })
}

impl Widget {
    /// Returns the JSON schema of the widget's parameters, for models.
    pub fn schema(&self) -> Json {
        let properties: Members = self
            .params
            .iter()
            .map(|param| (param.name.clone(), property(param)))
            .collect();
        let needed = |param: &&Param| {
            // A parameter with a current value may be left out of a call: the value is filled in.
            param.value().is_none() && param.default_value() == DefaultValue::Absent
        };
        let required: List<String> = self
            .params
            .iter()
            .filter(needed)
            .map(|param| param.name.clone())
            .collect();
        let mut schema = Members::new();
        schema.push("type", string("object"));
        schema.push("properties", properties.to_raw());
        if !required.is_empty() {
            schema.push("required", required.to_raw());
        }
        schema.to_raw()
    }

    /// Returns a description of the widget in one sentence, for models.
    pub(in crate::openbb) fn summary(&self) -> String {
        let mut summary = format!("Gets the data of the widget \"{}\"", self.name);
        if !self.description.is_empty() && self.description != self.name {
            summary.push_str(": ");
            summary.push_str(&self.description);
        }
        summary
    }
}

fn property(param: &Param) -> Json {
    let choices: List<Json> = param.options.iter().filter_map(choice).collect();
    let kinds = choices.iter().map(Json::kind);
    let kind = match (param.kind.as_str(), choices.first().map(Json::kind)) {
        // Parameters of type `text` may have numbers as choices, also beside texts.
        (_, Some(first)) if kinds.into_iter().any(|kind| kind != first) => None,
        (_, Some(Kind::Number)) => Some("number"),
        (_, Some(Kind::Bool)) => Some("boolean"),
        (_, Some(_)) => Some("string"),
        // All other types, also those of later versions, are sent as texts.
        (kind @ ("number" | "integer" | "boolean"), None) => Some(kind),
        (_, None) => Some("string"),
    };
    let mut value = Members::new();
    if let Some(kind) = kind {
        value.push("type", string(kind));
    }
    if !choices.is_empty() {
        value.push("enum", choices.to_raw());
    }
    let mut property = Members::new();
    if param.multi_select {
        property.push("type", string("array"));
        property.push("items", value.to_raw());
    } else {
        property = value;
    }
    if !param.description.is_empty() {
        property.push("description", string(&param.description));
    }
    if let Some(default) = param.value() {
        property.push("default", default.clone());
    }
    property.to_raw()
}

/// Returns the value of a choice, which is a plain value or an object with `label` and `value`.
fn choice(option: &Json) -> Option<Json> {
    match option.kind() {
        Kind::Object => option.get("value"),
        Kind::Null | Kind::Array => None,
        _ => Some(option.clone()),
    }
}
