//! The effect of events on a user.

use std::fmt;

use copilot_wire::json::Json;
use copilot_wire::protocol::{Citation, Level, Notice, OneLine, Status, Table, ToolRun, Usage};

/// The effect of an event on a user, in the terms of the shared vocabulary.
///
/// `Display` writes one line, such as `status: Looking it up`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// A piece of the answer.
    Text(String),
    /// A piece of the model's reasoning.
    Reasoning(String),
    /// A step of the work.
    Status(Status),
    /// A tool that the agent ran.
    ToolRun(ToolRun),
    /// A source of the answer.
    Citation(Citation),
    /// Rows that are shown as a table.
    Table(Table),
    /// Rows that are drawn as a chart.
    Chart(Table),
    /// Suggestions for the user's next message.
    Suggestions(Vec<String>),
    /// The tokens that the reply has used.
    Usage(Usage),
    /// An error that does not end the turn.
    Error(Notice),
    /// Any other event, by its name on the wire.
    Other {
        /// The name of the event.
        name: String,
        /// The data of the event.
        data: Json,
    },
}

impl Effect {
    /// Creates a [`Effect::Other`].
    pub fn other(name: impl Into<String>, data: Json) -> Self {
        Self::Other {
            name: name.into(),
            data,
        }
    }

    /// Returns the piece of the answer's text. `None` for every other effect.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "text: {}", OneLine(text)),
            Self::Reasoning(text) => write!(f, "reasoning: {}", OneLine(text)),
            Self::Status(status) => {
                let level = match status.level {
                    Level::Warning => "warning",
                    Level::Error => "error",
                    _ => "status",
                };
                write!(f, "{level}: {}", OneLine(&status.message))?;
                let mut sep = " (";
                for (name, value) in &status.details {
                    write!(f, "{sep}{}: {}", OneLine(name), OneLine(value))?;
                    sep = ", ";
                }
                f.write_str(if status.details.is_empty() { "" } else { ")" })
            }
            Self::ToolRun(run) => {
                let (name, arguments) = (OneLine(&run.name), OneLine(run.arguments.text()));
                write!(f, "ran: {name} {arguments} ")?;
                match &run.outcome {
                    Ok(result) => write!(f, "-> {}", OneLine(result.text())),
                    Err(message) => write!(f, "failed: {}", OneLine(message)),
                }
            }
            Self::Usage(usage) => {
                let (input, output) = (usage.input_tokens, usage.output_tokens);
                write!(f, "usage: {input} in, {output} out")
            }
            Self::Citation(citation) => {
                write!(f, "citation: {}", OneLine(&citation.title))?;
                match &citation.url {
                    // If the title is the address, the address is written once.
                    Some(url) if *url != citation.title => write!(f, " <{}>", OneLine(url)),
                    _ => Ok(()),
                }
            }
            Self::Table(table) => rows(f, "table", table),
            Self::Chart(table) => rows(f, "chart", table),
            Self::Suggestions(suggestions) => {
                f.write_str("suggestions:")?;
                let mut sep = " ";
                for suggestion in suggestions {
                    write!(f, "{sep}{}", OneLine(suggestion))?;
                    sep = " | ";
                }
                Ok(())
            }
            Self::Error(notice) => write!(f, "error: {}", OneLine(&notice.message)),
            Self::Other { name, data } => write!(f, "{}: {}", OneLine(name), OneLine(data.text())),
        }
    }
}

fn rows(f: &mut fmt::Formatter<'_>, word: &str, table: &Table) -> fmt::Result {
    let (name, rows) = (OneLine(&table.name), OneLine(table.rows.text()));
    write!(f, "{word}: {name} {rows}")
}
