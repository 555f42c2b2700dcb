//! Rows, and what can be said about them without a model.

use std::collections::HashMap;
use std::fmt::Write as _;

use copilot_wire::json::{Json, Kind};
use copilot_wire::protocol::{ChartKind, Document, escape_markdown};

/// The data of one widget or document.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    pub(crate) name: String,
    /// The name for citations.
    pub(crate) id: String,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Rows(Rows),
    /// A table without rows.
    Empty,
    Text(String),
}

/// A table that is not empty: every row is an object.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    rows: Vec<Json>,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// `true` if every value is a number.
    numeric: bool,
    /// `true` if there is a value.
    seen: bool,
}

/// More columns than this nobody reads.
const MAX_COLUMNS: usize = 200;

impl Column {
    fn new(name: String) -> Self {
        Self {
            name,
            numeric: true,
            seen: false,
        }
    }

    fn see(&mut self, value: &Json) {
        self.seen = true;
        self.numeric &= value.kind() == Kind::Number;
    }
}

impl Dataset {
    /// Reads text that may be JSON.
    pub(crate) fn new(name: &str, id: &str, text: &str) -> Self {
        let content = match Rows::parse(text) {
            Some(rows) => Content::Rows(rows),
            None if text.trim() == "[]" => Content::Empty,
            None => Content::Text(text.to_owned()),
        };
        Self {
            name: name.to_owned(),
            id: id.to_owned(),
            content,
        }
    }

    /// Returns a few facts, in Markdown.
    pub(crate) fn summary(&self) -> String {
        let name = escape_markdown(&self.name);
        match &self.content {
            Content::Rows(rows) => format!("**{name}** has {}", rows.facts()),
            Content::Empty => format!("**{name}** has no rows."),
            Content::Text(text) => {
                let words = match text.split_whitespace().count() {
                    1 => "1 word".to_owned(),
                    count => format!("{count} words"),
                };
                let start: String = text.chars().take(160).collect();
                let dots = if start.len() < text.len() { "…" } else { "" };
                let start = escape_markdown(&start);
                format!("**{name}** is a text of {words}. It begins: “{start}{dots}”")
            }
        }
    }
}

impl From<Document<'_>> for Dataset {
    fn from(document: Document<'_>) -> Self {
        Self::new(&document.name, &document.id, &document.content)
    }
}

impl Rows {
    fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text.as_bytes().to_vec()).ok()?;
        let rows: Vec<Json> = json.elements().collect();
        let first = rows.first()?;
        if rows.iter().any(|row| row.kind() != Kind::Object) {
            return None;
        }
        let mut columns: Vec<Column> = Vec::new();
        let mut places = HashMap::new();
        for (name, _) in first.members().take(MAX_COLUMNS) {
            places.entry(name.clone().into_owned()).or_insert_with(|| {
                columns.push(Column::new(name.into_owned()));
                columns.len() - 1
            });
        }
        for (name, value) in rows.iter().flat_map(Json::members) {
            let place = places.get(&*name).and_then(|at| columns.get_mut(*at));
            if let Some(column) = place.filter(|_| !value.is_null()) {
                column.see(&value);
            }
        }
        let numeric = |column: &mut Column| column.numeric &= column.seen;
        columns.iter_mut().for_each(numeric);
        Some(Self { rows, columns })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the column that orders the rows: the first that is not numeric.
    fn order(&self) -> Option<&str> {
        self.columns
            .iter()
            .find(|column| !column.numeric)
            .map(|column| column.name.as_str())
    }

    fn values(&self, column: &str) -> impl Iterator<Item = String> {
        self.rows
            .iter()
            .filter_map(move |row| row.get(column))
            .map(|value| plain(&value))
    }

    /// Returns the latest rows first if they are ordered by date; otherwise the last ones.
    pub(crate) fn latest(&self, count: usize) -> Vec<Json> {
        let mut rows = self.rows.clone();
        let key = |row: &Json| {
            self.order()
                .and_then(|column| row.get(column))
                .map(|value| plain(&value))
        };
        if self
            .order()
            .is_some_and(|column| self.values(column).all(|value| is_date(&value)))
        {
            rows.sort_by_cached_key(|row| std::cmp::Reverse(key(row)));
        } else {
            rows.reverse();
        }
        rows.truncate(count);
        rows
    }

    /// Returns a line chart of the most relevant number over the order of the rows, oldest first.
    pub(crate) fn chart(&self) -> Option<(ChartKind, Vec<Json>)> {
        let x = self.order()?.to_owned();
        let y = self.telling()?.to_owned();
        let mut rows = self.latest(200);
        rows.reverse();
        (rows.len() > 2).then_some((ChartKind::Line { x, y: vec![y] }, rows))
    }

    /// Returns the most relevant numeric column.
    fn telling(&self) -> Option<&str> {
        let numeric = || self.columns.iter().filter(|column| column.numeric);
        let asked = ["close", "price", "last", "value"];
        let known = |column: &&Column| asked.contains(&column.name.to_lowercase().as_str());
        numeric()
            .find(known)
            .or_else(|| numeric().next())
            .map(|column| column.name.as_str())
    }

    /// Returns count, columns, range and the latest values.
    fn facts(&self) -> String {
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|column| escape_markdown(&column.name))
            .collect();
        let rows = if self.rows.len() == 1 { "row" } else { "rows" };
        let mut out = format!(
            "{} {rows}, with the columns {}.",
            self.rows.len(),
            names.join(", ")
        );
        if let Some(column) = self.order() {
            let (first, last) = (self.values(column).min(), self.values(column).max());
            if let (Some(first), Some(last)) = (first, last) {
                if first != last {
                    let (first, last) = (escape_markdown(&first), escape_markdown(&last));
                    let _ = write!(out, " The rows run from {first} to {last}.");
                }
            }
        }
        if let Some(column) = self.telling() {
            let numbers = self.rows.iter().filter_map(|row| row.get(column)?.as_f64());
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            numbers.for_each(|number| (low, high) = (low.min(number), high.max(number)));
            if low < high {
                let column = escape_markdown(column);
                let _ = write!(out, " The {column} lies between {low} and {high}.");
            }
        }
        if let Some(latest) = self.latest(1).first() {
            let values: Vec<_> = latest
                .members()
                .take(MAX_COLUMNS)
                .map(|(name, value)| escape_markdown(&format!("{name} {}", plain(&value))))
                .collect();
            let _ = write!(out, " Latest: {}.", values.join(", "));
        }
        out
    }
}

fn plain(value: &Json) -> String {
    value
        .string()
        .map_or_else(|| value.text().to_owned(), Into::into)
}

/// Returns `true` for text like `2024-10-14`, with or without a time.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let number = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))
    };
    number(parts.next(), 4) && number(parts.next(), 2) && parts.next().is_some()
}
