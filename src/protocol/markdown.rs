//! The nearest honest equivalent of a word in Markdown, for front ends that have only text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Citation, Confirmation, Decision, Table};
use crate::json::{Json, Kind};

/// Rows past this many are counted and left out: a chat is no place for them.
const MAX_ROWS: usize = 100;

/// A table as a Markdown table, with blank lines around it.
pub(crate) fn table(table: &Table) -> String {
    let mut columns: Vec<Cow<'_, str>> = Vec::new();
    let rows: Vec<Json> = table.rows.elements().collect();
    for row in &rows {
        for (name, _) in row.members() {
            if !columns.contains(&name) {
                columns.push(Cow::Owned(name.into_owned()));
            }
        }
    }
    let mut out = format!("\n\n**{}**", inline(&table.name));
    if let Some(description) = &table.description {
        let _ = write!(out, ": {}", inline(description));
    }
    out.push_str("\n\n");
    if columns.is_empty() {
        out.push_str("(no rows)\n\n");
        return out;
    }
    for name in &columns {
        let _ = write!(out, "| {} ", cell(name));
    }
    out.push_str("|\n");
    for _ in &columns {
        out.push_str("| --- ");
    }
    out.push_str("|\n");
    for row in rows.iter().take(MAX_ROWS) {
        for name in &columns {
            let value = row
                .get(name)
                .map(|value| scalar(&value))
                .unwrap_or_default();
            let _ = write!(out, "| {} ", cell(&value));
        }
        out.push_str("|\n");
    }
    if rows.len() > MAX_ROWS {
        let _ = write!(out, "\n({} more rows)\n", rows.len() - MAX_ROWS);
    }
    out.push('\n');
    out
}

/// A value as a reader would write it: strings without quotes, nothing for null.
pub(crate) fn scalar(value: &Json) -> String {
    match value.kind() {
        Kind::Null => String::new(),
        Kind::String => value.string().unwrap_or_default().into_owned(),
        _ => value.text().to_owned(),
    }
}

/// A citation as a Markdown list item.
pub(crate) fn citation(citation: &Citation) -> String {
    let title = inline(&citation.title);
    let mut out = match &citation.url {
        Some(url) => format!("- [{}]({})", title.replace(['[', ']'], " "), link(url)),
        None => format!("- {title}"),
    };
    if let Some(excerpt) = &citation.excerpt {
        let _ = write!(out, ": {}", inline(excerpt));
    }
    out.push('\n');
    out
}

/// How a question ends: what to answer, and the id that tells this question from others.
const QUESTION: (&str, &str) = ("\n\nReply **yes** or **no**. (question `", "`)");

/// A confirmation as a question in text. The id is in it, so that [`decision`] can find it.
pub(crate) fn question(confirmation: &Confirmation) -> String {
    let (open, close) = QUESTION;
    let Confirmation {
        id, title, message, ..
    } = confirmation;
    format!(
        "\n\n**{}**\n\n{message}{open}{}{close}",
        inline(title),
        id.replace('`', "'")
    )
}

/// The user's answer to the question that the assistant's last message ends with.
///
/// Anything but a plain yes or no is no answer: the user talks on.
pub(crate) fn decision<'a>(asked: &'a str, answer: &str) -> Option<Decision<'a>> {
    let (open, close) = QUESTION;
    let asked = asked.trim_end().strip_suffix(close)?;
    let (_, id) = asked.rsplit_once(open)?;
    let answer = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
    let accepted = match answer.as_str() {
        "yes" | "y" | "ok" | "confirm" => true,
        "no" | "n" | "cancel" => false,
        _ => return None,
    };
    (!id.contains('`')).then(|| Decision::new(id, accepted))
}

/// Text on one line.
fn inline(text: &str) -> String {
    text.split(['\r', '\n'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Text in a table cell: on one line, and its bars do not end the cell.
fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}

/// A link's target: what would end it is escaped.
fn link(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for character in url.chars() {
        match character {
            ' ' | '\t' | '\r' | '\n' => out.push_str("%20"),
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            other => out.push(other),
        }
    }
    out
}

/// All sources of an answer, to stand at its end.
pub(crate) fn sources(citations: &[Citation]) -> String {
    let mut out = "\n\n**Sources**\n\n".to_owned();
    out.extend(citations.iter().map(citation));
    out
}

/// A notice as a paragraph.
pub(crate) fn notice(notice: &super::Notice) -> String {
    format!("\n\n**Error:** {}\n\n", inline(&notice.message))
}
