//! The answers of the front end to calls.

use std::path::Path;

use copilot_wire::json::{Json, Kind};
use copilot_wire::protocol::ToolCall;
use copilot_wire_kit::ToolOutcome;

use crate::verdict::Failure;

/// A file of answers: a JSON object with one answer per name.
#[derive(Debug, Default)]
pub(super) struct Answers(Option<Json>);

/// The name that matches every name.
const ANY: &str = "*";

impl Answers {
    /// Reads the file, if there is one.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let wrong =
            |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(&error))?;
        let json = Json::parse(bytes).map_err(|error| wrong(&error))?;
        match json.kind() {
            Kind::Object => Ok(Self(Some(json))),
            _ => Err(wrong(&"answers are an object: a name, and what it gives")),
        }
    }

    /// Returns the answer to a call, by the name of the tool or the function.
    pub(super) fn of(&self, call: &ToolCall) -> Option<ToolOutcome> {
        // A call may be a general call that names the real tool in its arguments. That name is more precise, so it is
        // looked up first.
        let tool = call.arguments.get("tool_name");
        let tool = tool.as_ref().and_then(Json::string);
        let names = tool.as_deref().into_iter().chain([&*call.name, ANY]);
        self.find(names)
    }

    /// Returns the answer for the first of these names that the file contains.
    pub(super) fn find<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> Option<ToolOutcome> {
        let answers = self.0.as_ref()?;
        names.find_map(|name| answers.get(name)).map(answer)
    }
}

/// Converts a string to text, `{"error": "…"}` to a failure, and anything else to data.
pub(super) fn answer(json: Json) -> ToolOutcome {
    if let Some(text) = json.string() {
        return ToolOutcome::text(text);
    }
    // An object with further members is data that happens to contain an `error`.
    match json.get("error").filter(|_| json.members().count() == 1) {
        Some(why) => {
            let text = why.string().map(Into::into);
            ToolOutcome::failed(text.unwrap_or_else(|| why.text().to_owned()))
        }
        None => ToolOutcome::Data(json),
    }
}
