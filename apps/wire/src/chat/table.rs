//! Rows as an aligned table of text.

use copilot_wire::json::Json;

use crate::screen::plain;

/// The maximum number of rows.
const ROWS: usize = 20;
/// The maximum number of characters in a cell.
const WIDTH: usize = 32;

/// Returns the lines of a table: a heading, a rule, and the rows.
pub(super) fn lines(rows: &Json) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    let mut all: Vec<Vec<(usize, String)>> = Vec::new();
    let count = rows.elements().count();
    for row in rows.elements().take(ROWS) {
        let mut cells = Vec::new();
        for (name, value) in row.members() {
            // Rows may have different members: every name that occurs is a column.
            let column = columns.iter().position(|column| *column == name);
            let column = column.unwrap_or_else(|| {
                columns.push(name.into_owned());
                columns.len() - 1
            });
            cells.push((column, text(&value)));
        }
        all.push(cells);
    }
    let mut widths: Vec<usize> = columns
        .iter()
        .map(|name| cut(name).chars().count())
        .collect();
    for (column, cell) in all.iter().flatten() {
        if let Some(width) = widths.get_mut(*column) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |cells: &[(usize, String)]| {
        let cell = |column| {
            // From the end: of two members with the same name the last one counts, as in most JSON readers.
            let cell = cells.iter().rev().find(|(at, _)| *at == column);
            cell.map_or("", |(_, text)| text.as_str())
        };
        let cells = widths.iter().enumerate();
        let cells = cells.map(|(column, &width)| format!("{:width$}", cell(column)));
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
            .trim_end()
            .to_owned()
    };
    let heading: Vec<_> = columns.iter().map(|name| cut(name)).enumerate().collect();
    let rule: Vec<_> = widths
        .iter()
        .map(|&width| "-".repeat(width))
        .enumerate()
        .collect();
    let mut lines = vec![line(&heading), line(&rule)];
    lines.extend(all.iter().map(|cells| line(cells)));
    if count > ROWS {
        lines.push(format!("  and {} rows more", count - ROWS));
    }
    lines
}

fn text(value: &Json) -> String {
    match value.string() {
        Some(text) => cut(&text),
        None if value.is_null() => String::new(),
        None => cut(value.text()),
    }
}

/// Formats a value on one line, truncated.
fn cut(text: &str) -> String {
    // Escaped before it is measured, because an escaped character is longer than the raw one.
    let text = plain(text);
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
