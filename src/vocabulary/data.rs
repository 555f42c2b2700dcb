//! Serialization of parts as JSON, for protocols whose front ends show them in their own components.

use super::{Chart, ChartKind, Confirmation, Level, Status, Table};
use crate::json::{Json, ObjectWriter};

/// Returns a member of an object that is a text.
pub(crate) fn text_of(json: &Json, name: &str) -> Option<String> {
    Some(json.get(name)?.string()?.into_owned())
}

impl Status {
    /// Writes the details as a member of a JSON object. Writes nothing if there are no details.
    pub fn write_details(&self, data: &mut ObjectWriter<'_>) {
        if self.details.is_empty() {
            return;
        }
        // Writing strings does not fail.
        let _ = data.array("details", &self.details, |(name, value), to| {
            to.object(|detail| {
                detail.str("name", name).str("value", value);
                Ok(())
            })
        });
    }
}

impl Status {
    /// Reads the level and the details of a status from the members of a JSON object.
    pub fn read(message: impl Into<String>, data: &Json) -> Self {
        let mut status = Self::new(message);
        status.level = match text_of(data, "level").as_deref() {
            Some("warning") => Level::Warning,
            Some("error") => Level::Error,
            _ => Level::Info,
        };
        for detail in data.get("details").iter().flat_map(Json::elements) {
            let detail = text_of(&detail, "name").zip(text_of(&detail, "value"));
            status.details.extend(detail);
        }
        status
    }
}

impl Chart {
    /// Reads a chart from the members of a JSON object. `None` if they are not those of a chart.
    pub fn read(data: &Json) -> Option<Self> {
        let member = |name| text_of(data, name).unwrap_or_default();
        let names = data.get("y").unwrap_or_default();
        let names = names.elements();
        let y = names
            .filter_map(|name| Some(name.string()?.into_owned()))
            .collect();
        let (x, angle, label) = (member("x"), member("angle"), member("label"));
        let kind = match &*member("kind") {
            "line" => ChartKind::Line { x, y },
            "bar" => ChartKind::Bar { x, y },
            "scatter" => ChartKind::Scatter { x, y },
            "pie" => ChartKind::Pie { angle, label },
            "donut" => ChartKind::Donut { angle, label },
            _ => return None,
        };
        let mut chart = Self::new(member("name"), kind, &data.get("rows")?).ok()?;
        chart.description = text_of(data, "description");
        Some(chart)
    }
}

impl Table {
    /// Reads a table from the members of a JSON object. `None` if they are not those of a table.
    pub fn read(data: &Json) -> Option<Self> {
        let mut table = Self::new(text_of(data, "name")?, &data.get("rows")?).ok()?;
        table.description = text_of(data, "description");
        Some(table)
    }

    /// Writes the name, the description and the rows as members of a JSON object, and the kind of a chart if there is
    /// one.
    pub fn write_to(&self, kind: Option<&ChartKind>, data: &mut ObjectWriter<'_>) {
        data.str("name", &self.name)
            .opt_str("description", self.description.as_deref());
        if let Some(kind) = kind {
            kind.write_to(data);
        }
        data.raw("rows", &self.rows);
    }
}

impl Confirmation {
    /// Writes the title, the message and the data as members of a JSON object.
    pub fn write_to(&self, data: &mut ObjectWriter<'_>) {
        data.str("title", &self.title)
            .str("message", &self.message)
            .opt_raw("data", self.data.as_ref());
    }
}

impl ChartKind {
    /// Writes the kind, and the names of the row members that it draws, as members of a JSON object.
    fn write_to(&self, data: &mut ObjectWriter<'_>) {
        let (kind, members) = match self {
            Self::Line { x, y } => ("line", Ok((x, y))),
            Self::Bar { x, y } => ("bar", Ok((x, y))),
            Self::Scatter { x, y } => ("scatter", Ok((x, y))),
            Self::Pie { angle, label } => ("pie", Err((angle, label))),
            Self::Donut { angle, label } => ("donut", Err((angle, label))),
        };
        data.str("kind", kind);
        match members {
            Ok((x, y)) => {
                data.str("x", x);
                // Writing strings does not fail.
                let _ = data.array("y", y, |name, to| {
                    to.str(name);
                    Ok(())
                });
            }
            Err((angle, label)) => {
                data.str("angle", angle).str("label", label);
            }
        }
    }
}
