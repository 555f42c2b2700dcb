//! Reads members of JSON.

use copilot_wire::json::Json;

pub(crate) fn text(json: &Json, name: &str) -> Option<String> {
    Some(json.get(name)?.string()?.into_owned())
}
