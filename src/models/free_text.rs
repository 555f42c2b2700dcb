//! Tools whose input is free text, for models and agents that know functions only.

use std::borrow::Cow;

use crate::json::{Json, List, Wire};
use crate::protocol::Tool;

/// The argument of a function that has the input of a tool with free text.
const INPUT: &str = "input";

/// Returns a tool with free text as a function with one argument, `input`. `tool` is an object with the `name`, the
/// `description` and the `format` of the tool. `None` if it has no name.
pub fn free_text_tool<'a>(tool: &Json) -> Option<Tool<'a>> {
    let text = |json: &Json, name| Some(json.get(name)?.string()?.into_owned());
    let name = text(tool, "name").filter(|name| !name.is_empty())?;
    let mut description = text(tool, "description").unwrap_or_default();
    // The members of a grammar are in the format, or in an object of it.
    let format = tool.get("format").unwrap_or_default();
    let grammar = format.get("grammar").unwrap_or(format);
    if let Some(definition) = text(&grammar, "definition") {
        let syntax = text(&grammar, "syntax").unwrap_or_default();
        description.push_str(&format!(
            "\n\nThe argument `{INPUT}` must match this grammar ({syntax}):\n\n{definition}"
        ));
    }
    let kind = Json::object(|schema| {
        schema.str("type", "string");
    });
    let properties = Json::object(|properties| {
        properties.raw(INPUT, &kind);
    });
    let schema = Json::object(|schema| {
        schema
            .str("type", "object")
            .raw("properties", &properties)
            .raw("required", &List::from(vec![INPUT.to_owned()]).to_raw());
    });
    Some(Tool::new(name, description.trim_start().to_owned()).parameters(schema))
}

/// Returns the input of a tool with free text, as the arguments of its function.
pub fn free_text_arguments(input: &Json) -> Json {
    Json::object(|arguments| {
        arguments.raw(INPUT, input);
    })
}

/// Returns the input of a tool with free text from the arguments of its function; all of the arguments if they have no
/// such text.
pub fn free_text_input(arguments: &Json) -> Cow<'static, str> {
    let input = arguments.get(INPUT);
    let input = input.as_ref().and_then(Json::string);
    match input.or_else(|| arguments.string()) {
        Some(input) => input.into_owned().into(),
        None => arguments.text().to_owned().into(),
    }
}
