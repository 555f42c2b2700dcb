//! Reads the shared vocabulary from JSON, as servers of this crate write it in protocols without a form of their own.

use copilot_wire::json::Json;
use copilot_wire::protocol::{Level, Status, Table};

pub(crate) fn text(json: &Json, name: &str) -> Option<String> {
    Some(json.get(name)?.string()?.into_owned())
}

pub(crate) fn status(message: impl Into<String>, json: &Json) -> Status {
    let mut status = Status::new(message);
    status.level = match text(json, "level").as_deref() {
        Some("warning") => Level::Warning,
        Some("error") => Level::Error,
        _ => Level::Info,
    };
    for detail in json.get("details").iter().flat_map(Json::elements) {
        let detail = text(&detail, "name").zip(text(&detail, "value"));
        status.details.extend(detail);
    }
    status
}

pub(crate) fn table(json: &Json) -> Option<Table> {
    let mut table = Table::new(text(json, "name")?, &json.get("rows")?).ok()?;
    table.description = text(json, "description");
    Some(table)
}
