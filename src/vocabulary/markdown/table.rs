//! Tables in Markdown.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::plain::escape_markdown;
use crate::json::{Json, Kind};
use crate::vocabulary::Table;

/// The maximum number of rows that are shown. Of further rows only the number is shown.
const MAX_ROWS: usize = 100;

/// Returns a table in GFM, with its name above it and blank lines around both.
///
/// The columns are the members of the shown rows, in the order of their first occurrence. A row without the member of a
/// column has an empty cell.
pub(crate) fn table(table: &Table) -> String {
    // Writing to a string does not fail.
    let name = escape_markdown(&table.name);
    let mut out = "\n\n".to_owned();
    if !name.is_empty() {
        let _ = write!(out, "**{name}**");
    }
    if let Some(description) = &table.description {
        let description = escape_markdown(description);
        // The start of the line is escaped, so that the description begins only a paragraph.
        let _ = match name.is_empty() {
            true => write!(out, "{}", super::plain::line(&description)),
            false => write!(out, ": {description}"),
        };
    }
    out.push_str("\n\n");
    let mut rest = table.rows.elements();
    let rows: Vec<Json> = rest.by_ref().take(MAX_ROWS).collect();
    let rows: Vec<Vec<(Cow<'_, str>, Json)>> =
        rows.iter().map(|row| row.members().collect()).collect();
    let mut seen = HashSet::new();
    let names = rows.iter().flatten().map(|(name, _)| &**name);
    let columns: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    if columns.is_empty() {
        out.push_str("(no rows)\n\n");
        return out;
    }
    line(
        &mut out,
        columns.iter().map(|name| Cow::Owned(escape_markdown(name))),
    );
    line(&mut out, columns.iter().map(|_| Cow::Borrowed("---")));
    for row in &rows {
        let values: HashMap<&str, &Json> =
            row.iter().map(|(name, value)| (&**name, value)).collect();
        let cells = columns.iter().map(|column| {
            let value = values.get(column);
            value.map_or(Cow::Borrowed(""), |value| Cow::Owned(cell(value)))
        });
        line(&mut out, cells);
    }
    // Further rows are only counted, not parsed.
    let more = rest.count();
    if more > 0 {
        let _ = write!(out, "\n({more} more rows)\n");
    }
    out.push('\n');
    out
}

fn line<'a>(out: &mut String, cells: impl Iterator<Item = Cow<'a, str>>) {
    for cell in cells {
        let _ = write!(out, "| {cell} ");
    }
    out.push_str("|\n");
}

/// Formats a value as the text of a cell: a string without quotes, and empty text for null.
fn cell(value: &Json) -> String {
    match value.kind() {
        Kind::Null => String::new(),
        Kind::String => escape_markdown(&value.string().unwrap_or_default()),
        _ => escape_markdown(value.text()),
    }
}
