//! The parts of the shared vocabulary.

use std::borrow::Cow;

use serde::Serialize;

use crate::json::{Json, Kind, ObjectWriter, WriteError};

/// A part of a reply other than text, on its way to a protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A piece of the model's reasoning. Never empty.
    Reasoning(&'a str),
    /// A step of the work.
    Status(&'a Status),
    /// A tool that the agent itself ran.
    ToolRun(&'a ToolRun),
    /// A source of the answer.
    Cite(&'a Citation),
    /// Rows to show as a table.
    Table(&'a Table),
    /// Rows to draw.
    Chart(&'a Chart),
    /// Something went wrong and the turn goes on.
    Error(&'a Notice),
    /// The tokens that the reply took so far.
    Usage(&'a Usage),
    /// A question that ends the turn.
    Confirm(&'a Confirmation),
    /// Calls that end the turn. Never empty.
    Calls(&'a [ToolCall]),
}

/// How much a status matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// An ordinary step.
    #[default]
    Info,
    /// Something to know.
    Warning,
    /// Something failed.
    Error,
}

/// A step of the work, shown while the user waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// How much it matters.
    pub level: Level,
    /// What happens, in a few words.
    pub message: String,
    /// Names and values to show with it.
    pub details: Vec<(String, String)>,
}

impl Status {
    /// An ordinary step.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            level: Level::Info,
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// A step that deserves attention.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            ..Self::new(message)
        }
    }

    /// Adds a name and a value to show with it.
    #[must_use]
    pub fn detail(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.details.push((name.into(), value.into()));
        self
    }
}

impl From<&str> for Status {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for Status {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

/// A tool that the agent itself ran, with what came of it.
///
/// A front end that has no place for it shows a [`Status`] with the same details.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRun {
    /// The tool.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Json,
    /// What the tool returned, or a sentence about its failure that is fit for the user.
    pub outcome: Result<Json, String>,
}

impl ToolRun {
    /// Creates a run that succeeded. `arguments` serialise to a JSON object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when arguments or result do not serialise.
    pub fn new<A, R>(name: impl Into<String>, arguments: &A, result: &R) -> Result<Self, WriteError>
    where
        A: Serialize + ?Sized,
        R: Serialize + ?Sized,
    {
        Ok(Self {
            name: name.into(),
            arguments: Json::encode(arguments)?,
            outcome: Ok(Json::encode(result)?),
        })
    }

    /// Creates a run that failed. `arguments` serialise to a JSON object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the arguments do not serialise.
    pub fn failed<A: Serialize + ?Sized>(
        name: impl Into<String>,
        arguments: &A,
        message: impl Into<String>,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            name: name.into(),
            arguments: Json::encode(arguments)?,
            outcome: Err(message.into()),
        })
    }

    /// Returns the run as a status, for front ends without a place for runs of tools.
    #[must_use]
    pub fn to_status(&self) -> Status {
        let (status, label, outcome) = match &self.outcome {
            Ok(result) => {
                let text = result
                    .string()
                    .unwrap_or_else(|| Cow::Borrowed(result.text()));
                let status = Status::new(format!("Ran {}", self.name));
                (status, "Result", text.into_owned())
            }
            Err(message) => {
                let status = Status::warning(format!("{} failed", self.name));
                (status, "Error", message.clone())
            }
        };
        status
            .detail("Arguments", self.arguments.text())
            .detail(label, outcome)
    }
}

/// The tokens that a reply took: totals, not increments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt, those out of a cache included.
    pub input_tokens: u64,
    /// Tokens of the answer, those spent on reasoning included.
    pub output_tokens: u64,
    /// Tokens of the prompt that came out of a cache.
    pub cached_input_tokens: u64,
    /// Tokens of the answer that were spent on reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Creates the figures of prompt and answer.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_input_tokens: 0,
            reasoning_tokens: 0,
        }
    }

    /// Sets how many tokens of the prompt came out of a cache.
    #[must_use]
    pub const fn cached_input_tokens(mut self, tokens: u64) -> Self {
        self.cached_input_tokens = tokens;
        self
    }

    /// Sets how many tokens of the answer were spent on reasoning.
    #[must_use]
    pub const fn reasoning_tokens(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Returns the tokens of prompt and answer together.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A source of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Citation {
    /// What to call the source.
    pub title: String,
    /// Where it can be read.
    pub url: Option<String>,
    /// The id of the document in context that it is, see [`Document::id`](super::Document::id).
    pub document: Option<String>,
    /// The passage that counts.
    pub excerpt: Option<String>,
}

impl Citation {
    /// A source by its title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            url: None,
            document: None,
            excerpt: None,
        }
    }

    /// Sets where the source can be read.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Says that the source is a document in context, by its id.
    #[must_use]
    pub fn document(mut self, id: impl Into<String>) -> Self {
        self.document = Some(id.into());
        self
    }

    /// Sets the passage that counts.
    #[must_use]
    pub fn excerpt(mut self, excerpt: impl Into<String>) -> Self {
        self.excerpt = Some(excerpt.into());
        self
    }
}

/// Why rows cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The rows did not serialise.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The rows are not an array of objects.
    #[error("rows must be an array of objects")]
    NotRows,
}

/// Serialises rows and checks that they are an array of objects.
fn rows<T: Serialize + ?Sized>(rows: &T) -> Result<Json, TableError> {
    let rows = Json::encode(rows)?;
    let objects =
        rows.kind() == Kind::Array && rows.elements().all(|row| row.kind() == Kind::Object);
    if objects {
        Ok(rows)
    } else {
        Err(TableError::NotRows)
    }
}

/// Rows to show as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Table {
    /// What to call it.
    pub name: String,
    /// What it shows.
    pub description: Option<String>,
    /// The rows: a JSON array of objects.
    pub rows: Json,
}

impl Table {
    /// Returns the table as Markdown, in a paragraph of its own.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        super::markdown::table(self)
    }

    /// A table of `rows`, which serialise to an array of objects.
    ///
    /// # Errors
    ///
    /// [`TableError`] when they serialise to anything else, or not at all.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        rows: &T,
    ) -> Result<Self, TableError> {
        Ok(Self {
            name: name.into(),
            description: None,
            rows: self::rows(rows)?,
        })
    }

    /// Sets what the table shows.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// The kind of a chart, with the row members that it draws.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChartKind {
    /// A line for every `y` over `x`.
    Line {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A bar for every `y` over `x`.
    Bar {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A dot for every `y` over `x`; both are numbers.
    Scatter {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A sector a row.
    Pie {
        /// The member that is the size of the sector.
        angle: String,
        /// The member that names it.
        label: String,
    },
    /// A sector a row, with a hole in the middle.
    Donut {
        /// The member that is the size of the sector.
        angle: String,
        /// The member that names it.
        label: String,
    },
}

impl ChartKind {
    /// Writes the kind and the row members as members of a JSON object.
    #[allow(dead_code, reason = "for the protocols that send charts as data")]
    pub(crate) fn write_to(&self, data: &mut ObjectWriter<'_>) {
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
                // Texts always write.
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

/// Rows to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chart {
    /// What to call it.
    pub name: String,
    /// What it shows.
    pub description: Option<String>,
    /// How to draw it.
    pub kind: ChartKind,
    /// The rows: a JSON array of objects.
    pub rows: Json,
}

impl Chart {
    /// A chart of `rows`, which serialise to an array of objects.
    ///
    /// # Errors
    ///
    /// [`TableError`] when they serialise to anything else, or not at all.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        kind: ChartKind,
        rows: &T,
    ) -> Result<Self, TableError> {
        Ok(Self {
            name: name.into(),
            description: None,
            kind,
            rows: self::rows(rows)?,
        })
    }

    /// Sets what the chart shows.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The chart's rows as a table, for front ends that cannot draw.
    #[must_use]
    pub fn to_table(&self) -> Table {
        Table {
            name: self.name.clone(),
            description: self.description.clone(),
            rows: self.rows.clone(),
        }
    }
}

/// Something went wrong that the user should know, and the turn goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// What went wrong, fit for the user.
    pub message: String,
    /// A short name for the kind of failure.
    pub code: Cow<'static, str>,
    /// What it happened to.
    pub identifier: Option<String>,
}

impl Notice {
    /// A notice with the code `error`.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: Cow::Borrowed("error"),
            identifier: None,
        }
    }

    /// Sets the short name for the kind of failure.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Sets what it happened to.
    #[must_use]
    pub fn identifier(mut self, identifier: impl Into<String>) -> Self {
        self.identifier = Some(identifier.into());
        self
    }
}

impl From<&str> for Notice {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for Notice {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

/// A question that the user answers with yes or no, in the next turn.
///
/// The answer is the next request's [`decision`](super::Conversation::decision).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmation {
    /// What the answer is recognised by. Make it unique in the conversation.
    pub id: String,
    /// What is asked, in a few words.
    pub title: String,
    /// What happens on a yes.
    pub message: String,
    /// Data to get back with the answer, where the front end can carry it.
    pub data: Option<Json>,
    /// Answers in text to offer where the front end offers texts to click on; yes and no when
    /// empty. One that is neither comes back as the user's [`prompt`](super::Conversation::prompt).
    pub answers: Vec<String>,
}

impl Confirmation {
    /// A question.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            message: message.into(),
            data: None,
            answers: Vec::new(),
        }
    }

    /// Returns the question as Markdown, for front ends without a dialog. It ends with the id, by which
    /// [`decision`](super::Conversation::decision) finds it again, so it must be the last text of the
    /// answer. Neither title nor message can hide what follows it.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        super::markdown::question(self)
    }

    /// Sets the data to get back with the answer: a JSON object.
    #[must_use]
    pub fn data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }

    /// Sets the answers in text to offer.
    #[must_use]
    pub fn answers(mut self, answers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.answers = answers.into_iter().map(Into::into).collect();
        self
    }
}

/// A call of a tool that the front end offered.
///
/// The result is among the next request's [`results`](super::Conversation::results).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The tool, by the [`name`](super::Tool::name) it was offered under.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Json,
}

impl ToolCall {
    /// A call; `arguments` serialise to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the arguments do not serialise.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        arguments: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            name: name.into(),
            arguments: Json::encode(arguments)?,
        })
    }
}
