//! The parts of the shared vocabulary.

use std::borrow::Cow;

use serde::Serialize;

use super::{Cut, Notice, SendError, Usage};
use crate::json::{Json, Kind, Members, WriteError};

/// A part of a reply, as [`Blocks::part`](crate::protocol::Blocks::part) receives it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A piece of the answer's text. Never empty.
    Text(&'a str),
    /// A piece of a model's reasoning. Never empty.
    Reasoning(&'a str),
    /// A step of the work.
    Status(&'a Status),
    /// A tool that the agent itself ran.
    ToolRun(&'a ToolRun),
    /// A source of the answer.
    Cite(&'a Citation),
    /// The sources that were buffered: before a question, before calls, or at the end of the answer. Never empty.
    Sources(&'a [Citation]),
    /// Rows to show as a table.
    Table(&'a Table),
    /// Rows to draw as a chart.
    Chart(&'a Chart),
    /// An error that does not end the turn.
    Error(&'a Notice),
    /// The tokens that the turn has used so far.
    Usage(&'a Usage),
    /// A question that ends the turn.
    Confirm(&'a Question<'a>),
    /// Calls that end the turn. Never empty.
    Calls(&'a [ToolCall]),
    /// The reason why the answer ends before it is complete. It ends the turn.
    Cut(Cut),
}

/// The severity of a status, in ascending order: `Info`, `Warning`, `Error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// An ordinary step.
    #[default]
    Info,
    /// A warning.
    Warning,
    /// A failed step.
    Error,
}

/// A step of the work, displayed while the user waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Status {
    /// The severity.
    pub level: Level,
    /// A short description of the step.
    pub message: String,
    /// Names and values to display with the step.
    pub details: Vec<(String, String)>,
}

impl Status {
    /// Creates an ordinary step.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            level: Level::Info,
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// Creates a step with the level [`Warning`](Level::Warning).
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            ..Self::new(message)
        }
    }

    /// Adds a name and a value to display with the step.
    pub fn detail(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.details.push((name.into(), value.into()));
        self
    }
}

from! {
    &str => Status: |message| Self::new(message),
    String => Status: Self::new,
    &str => Notice: |message| Self::new(message),
    String => Notice: Self::new,
}

/// A tool that the agent itself ran, with its result or failure.
///
/// Front ends that cannot show tool runs get a [`Status`] with the same details.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRun {
    /// The name of the tool.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Json,
    /// The result, or an error message for the user.
    pub outcome: Result<Json, String>,
}

impl ToolRun {
    /// Creates a run that succeeded. `arguments` must serialize to a JSON object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when arguments or result do not serialize.
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

    /// Creates a run that failed. `arguments` must serialize to a JSON object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the arguments do not serialize.
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

    /// Returns the run as a status, for front ends that cannot show runs of tools.
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

/// A source of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use]
pub struct Citation {
    /// The title.
    pub title: String,
    /// The URL.
    pub url: Option<String>,
    /// The id of a document in the context of the conversation; see [`Document::id`](super::Document::id).
    pub document: Option<String>,
    /// The cited passage.
    pub excerpt: Option<String>,
    /// `true` if a model made the citation. In a dialect of models its text then has it as a member only, and not also
    /// in the list of sources.
    pub by_model: bool,
}

impl Citation {
    /// Creates a source with a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            url: None,
            document: None,
            excerpt: None,
            by_model: false,
        }
    }

    /// Returns the URL if it is the address of a web page, so that a front end may link to it.
    pub fn web_url(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let (scheme, _) = url.split_once("://")?;
        let is_web = ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web));
        is_web.then_some(url)
    }

    /// Sets the URL of the source.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the id of the document in context that is the source.
    pub fn document(mut self, id: impl Into<String>) -> Self {
        self.document = Some(id.into());
        self
    }

    /// Sets the cited passage.
    pub fn excerpt(mut self, excerpt: impl Into<String>) -> Self {
        self.excerpt = Some(excerpt.into());
        self
    }
}

/// Serializes rows and checks that they are an array of objects. An unpaired surrogate in a raw value becomes U+FFFD,
/// as in all text.
fn rows_of<T: Serialize + ?Sized>(rows: &T) -> Result<Json, SendError> {
    let rows = crate::json::wire::encode(rows)?.with_whole_characters();
    let objects =
        rows.kind() == Kind::Array && rows.elements().all(|row| row.kind() == Kind::Object);
    if objects {
        Ok(rows)
    } else {
        Err(SendError::Invalid(
            "rows must be an array of objects".into(),
        ))
    }
}

/// Rows to show as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Table {
    /// The name.
    pub name: String,
    /// A description.
    pub description: Option<String>,
    /// The rows: a JSON array of objects.
    pub rows: Json,
}

impl Table {
    /// Returns the table as Markdown, in a paragraph of its own.
    pub fn to_markdown(&self) -> String {
        super::markdown::table(self)
    }

    /// Creates a table from `rows`, which must serialize to an array of objects.
    ///
    /// # Errors
    ///
    /// [`SendError`] when `rows` do not serialize to an array of objects.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        rows: &T,
    ) -> Result<Self, SendError> {
        Ok(Self {
            name: name.into(),
            description: None,
            rows: rows_of(rows)?,
        })
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// The kind of a chart, with the row members that it draws.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChartKind {
    /// A line chart: one line for each `y` over `x`.
    Line {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A bar chart: one series of bars for each `y` over `x`.
    Bar {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A scatter chart: one series of dots for each `y` over `x`; both are numbers.
    Scatter {
        /// The member on the horizontal axis.
        x: String,
        /// The members on the vertical axis.
        y: Vec<String>,
    },
    /// A pie chart: each row is one slice.
    Pie {
        /// The member with the size of the slice.
        angle: String,
        /// The member with the name of the slice.
        label: String,
    },
    /// A donut chart: each row is one slice.
    Donut {
        /// The member with the size of the slice.
        angle: String,
        /// The member with the name of the slice.
        label: String,
    },
}

/// Rows to draw as a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chart {
    /// The name.
    pub name: String,
    /// A description.
    pub description: Option<String>,
    /// The kind of chart.
    pub kind: ChartKind,
    /// The rows: a JSON array of objects.
    pub rows: Json,
}

impl Chart {
    /// Creates a chart from `rows`, which must serialize to an array of objects.
    ///
    /// # Errors
    ///
    /// [`SendError`] when `rows` do not serialize to an array of objects.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        kind: ChartKind,
        rows: &T,
    ) -> Result<Self, SendError> {
        Ok(Self {
            name: name.into(),
            description: None,
            kind,
            rows: rows_of(rows)?,
        })
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Returns the rows as a Markdown table, in a paragraph of its own.
    pub fn to_markdown(&self) -> String {
        self.to_table().to_markdown()
    }

    /// Returns the rows as a table, for front ends without charts.
    pub fn to_table(&self) -> Table {
        Table {
            name: self.name.clone(),
            description: self.description.clone(),
            rows: self.rows.clone(),
        }
    }
}

/// A question that the user answers with yes or no in the next turn.
///
/// [`Request::decision`](crate::Request::decision) of the next request returns the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Confirmation {
    /// The id that the answer refers to. It should be unique in the conversation.
    pub id: String,
    /// The question, in a few words.
    pub title: String,
    /// A description of the effect of a yes.
    pub message: String,
    /// Data that is returned with the answer, if the front end supports that.
    pub data: Option<Json>,
    /// Suggested answers, for front ends that show buttons with texts. They cannot include the yes, because a yes needs
    /// the code of the question. A suggested answer is returned as the user's [`prompt`](crate::protocol::Conversation::prompt).
    pub answers: Vec<String>,
}

impl Confirmation {
    /// Creates a question.
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

    /// Sets the data that is returned with the answer: a JSON object.
    pub fn data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }

    /// Sets the suggested answers.
    pub fn answers(mut self, answers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.answers = answers.into_iter().map(Into::into).collect();
        self
    }
}

/// A function that returns the text of a question.
type Ask<'a> = dyn Fn(&Confirmation) -> Result<String, SendError> + Sync + 'a;

/// A [`Confirmation`] as [`Blocks::part`](crate::protocol::Blocks::part) receives it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    confirmation: &'a Confirmation,
    ask: &'a Ask<'a>,
}

impl<'a> Question<'a> {
    /// Creates a question whose text `ask` returns, for tests of a session.
    pub fn new(
        confirmation: &'a Confirmation,
        ask: &'a (dyn Fn(&Confirmation) -> Result<String, SendError> + Sync + 'a),
    ) -> Self {
        Self { confirmation, ask }
    }

    /// Returns the question as text, for front ends without dialogs: a line without markup after blank lines. The line
    /// has the code of a yes and the proof of the question. It must be the last text of the answer.
    ///
    /// Each call creates a new question, with its own code and proof.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when title and message together have more than 8,000 characters as they are shown, or
    /// more than 32,759 letters and digits after normalization (NFKC), or the id has more than 64 bytes.
    pub fn to_text(&self) -> Result<String, SendError> {
        (self.ask)(self.confirmation)
    }
}

impl std::ops::Deref for Question<'_> {
    type Target = Confirmation;

    fn deref(&self) -> &Confirmation {
        self.confirmation
    }
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Question").field(&self.confirmation).finish()
    }
}

/// A call of a tool that the front end offered.
///
/// The result is among the next request's [`results`](crate::protocol::Conversation::results).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The [`name`](super::Tool::name) of the tool.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Json,
    /// The id that the result refers to, if a model has assigned one. Only clients of models receive this id. Other
    /// front ends receive an id that is unique to the reply, because models may reuse ids in each turn.
    pub id: Option<String>,
    /// `Some` if a model made the call, with the members that only its protocol has.
    pub(crate) by_model: Option<Members>,
}

impl ToolCall {
    /// Creates a call. `arguments` must serialize to a JSON object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the arguments do not serialize.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        arguments: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            name: name.into(),
            arguments: Json::encode(arguments)?,
            id: None,
            by_model: None,
        })
    }

    /// Sets the id that the result refers to.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into()).filter(|id| !id.is_empty());
        self
    }
}
