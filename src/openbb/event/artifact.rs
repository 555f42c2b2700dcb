//! What is shown beside the text of an answer.

use serde::Serialize;

use super::ChartParams;
use crate::json::model::{model, names};
use crate::json::{Json, Kind, Members, WriteError};
use crate::openbb::result::QueryDataSource;
use crate::protocol::{ChartKind, Env};

/// What an artifact is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactType {
    /// Text in Markdown.
    Text,
    /// Rows as a table.
    Table,
    /// Rows as a chart.
    Chart,
    /// HTML with CSS and inline SVG; scripts are blocked.
    Html,
    /// SQL to run on Snowflake.
    SnowflakeQuery,
    /// Python to run on Snowflake.
    SnowflakePython,
    /// A dashboard to open.
    App,
    /// One that this crate does not know.
    Other(String),
}

names!(ArtifactType {
    Text: "text",
    Table: "table",
    Chart: "chart",
    Html: "html",
    SnowflakeQuery: "snowflake_query",
    SnowflakePython: "snowflake_python",
    App: "app",
});

impl Default for ArtifactType {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// Why an artifact cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The content cannot be JSON.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The rows are not an array of objects.
    #[error("rows must be an array of objects")]
    NotRows,
    /// The chart has nothing on an axis.
    #[error("a chart needs the members that it draws")]
    NoAxes,
    /// The chart needs numbers.
    #[error("the member {0:?} must be a number in every row")]
    NotNumeric(String),
}

/// Something to show beside the text of an answer.
///
/// Its name is its key in the chat: a second artifact of one name gets another one when it is
/// sent. It comes back as context in later requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// What it is.
    pub kind: ArtifactType,
    /// Its name, unique in the chat.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// Its id.
    pub uuid: String,
    /// Rows, or a text.
    pub content: Option<Json>,
    /// How a chart is drawn.
    pub chart_params: Option<ChartParams>,
    /// Where a query is run.
    pub query_data_source: Option<QueryDataSource>,
    /// `app`: the dashboard.
    pub app: Option<Json>,
    /// `app`: the widgets on it.
    pub widget_refs: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Artifact {
    kind: "type" always,
    name: "name" always,
    description: "description" always,
    uuid: "uuid" always,
    content: "content",
    chart_params: "chart_params",
    query_data_source: "query_data_source",
    app: "app",
    widget_refs: "widget_refs",
});

/// Serialises rows and checks that they are an array of objects.
pub(in crate::openbb) fn rows_of<T: Serialize + ?Sized>(rows: &T) -> Result<Json, ArtifactError> {
    let rows = crate::json::model::encode(rows)?;
    let is_object = |row: Json| row.kind() == Kind::Object;
    if rows.kind() == Kind::Array && rows.elements().all(is_object) {
        Ok(rows)
    } else {
        Err(ArtifactError::NotRows)
    }
}

impl Artifact {
    fn of(kind: ArtifactType, name: String, description: String, content: Option<Json>) -> Self {
        Self {
            kind,
            name,
            description,
            uuid: Env::default().uuid(),
            content,
            ..Self::default()
        }
    }

    fn text_of(kind: ArtifactType, name: &str, text: &str) -> Self {
        let content = crate::openbb::request::string(text);
        let description = if name.is_empty() { kind.as_str() } else { name };
        let description = description.to_owned();
        Self::of(kind, String::new(), description, Some(content)).named(name)
    }

    /// Text in Markdown.
    #[must_use]
    pub fn text(name: &str, text: &str) -> Self {
        Self::text_of(ArtifactType::Text, name, text)
    }

    /// HTML with CSS and inline SVG. Scripts are blocked.
    #[must_use]
    pub fn html(name: &str, html: &str) -> Self {
        Self::text_of(ArtifactType::Html, name, html)
    }

    /// A table of rows. Without a name it is called `Table_` and four hex digits.
    ///
    /// # Errors
    ///
    /// When the rows are not an array of objects.
    pub fn table<T: Serialize + ?Sized>(rows: &T) -> Result<Self, ArtifactError> {
        let rows = rows_of(rows)?;
        let description = "A table of data".to_owned();
        let mut table = Self::of(ArtifactType::Table, String::new(), description, Some(rows));
        table.name = default_name(&table);
        Ok(table)
    }

    /// A chart of rows. Without a name it is called by its kind, as in `line chart`.
    ///
    /// # Errors
    ///
    /// When the rows are not an array of objects, or have no numbers where the chart draws them.
    pub fn chart<T: Serialize + ?Sized>(kind: &ChartKind, rows: &T) -> Result<Self, ArtifactError> {
        let rows = rows_of(rows)?;
        let params = ChartParams::new(kind, &rows)?;
        let name = format!("{} chart", params.chart_type.as_str());
        let description = format!("A {name} of data");
        let mut chart = Self::of(ArtifactType::Chart, name, description, Some(rows));
        chart.chart_params = Some(params);
        Ok(chart)
    }

    /// SQL to run on Snowflake.
    #[must_use]
    pub fn snowflake_query(name: &str, sql: &str, source: QueryDataSource) -> Self {
        Self {
            query_data_source: Some(source),
            ..Self::text_of(ArtifactType::SnowflakeQuery, name, sql)
        }
    }

    /// Python to run on Snowflake.
    #[must_use]
    pub fn snowflake_python(name: &str, code: &str) -> Self {
        Self::text_of(ArtifactType::SnowflakePython, name, code)
    }

    /// A dashboard to open. Only the newest front ends know it.
    ///
    /// # Errors
    ///
    /// When the dashboard or the list of widgets cannot be JSON.
    pub fn app<A: Serialize + ?Sized, W: Serialize + ?Sized>(
        name: &str,
        app: &A,
        widget_refs: &W,
    ) -> Result<Self, ArtifactError> {
        let mut artifact = Self::text_of(ArtifactType::App, name, "");
        artifact.content = None;
        artifact.app = Some(crate::json::model::encode(app)?);
        artifact.widget_refs = Some(crate::json::model::encode(widget_refs)?);
        Ok(artifact)
    }

    /// An artifact of a type that this crate does not know. Further members go into `unknown`.
    #[must_use]
    pub fn raw(kind: &str, name: &str, content: Json) -> Self {
        let mut artifact = Self::text_of(kind.into(), name, "");
        artifact.content = Some(content);
        artifact
    }

    /// Sets the name, in which `"` becomes `'`. An empty one is as good as none.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        // The Workspace puts the name into an attribute.
        let name = name.replace('"', "'");
        if !name.is_empty() {
            self.name = name;
        } else if self.name.is_empty() {
            self.name = default_name(&self);
        }
        self
    }

    /// Sets what it shows. An empty text is as good as none.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        let description = description.into();
        if !description.is_empty() {
            self.description = description;
        }
        self
    }

    /// Sets the id. A fresh one is there already.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = uuid.into();
        self
    }
}

/// `Table_1a2b`: the kind and four hex digits of the id.
pub(super) fn default_name(artifact: &Artifact) -> String {
    let kind = artifact.kind.as_str();
    let mut letters = kind.chars();
    let first = letters.next().unwrap_or('A').to_ascii_uppercase();
    let digits: String = artifact.uuid.chars().take(4).collect();
    format!("{first}{}_{digits}", letters.as_str())
}
