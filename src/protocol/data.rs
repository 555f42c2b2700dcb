//! Serialization of parts as JSON, for protocols whose front ends show them in their own components.

use super::{ChartKind, Confirmation, Status, Table};
use crate::json::ObjectWriter;

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

impl Table {
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
