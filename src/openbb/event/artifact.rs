//! Artifacts: tables, charts and documents beside the text of an answer.

use serde::Serialize;

use super::ChartParams;
use crate::json::{Json, Members, Wire};
use crate::protocol::{ChartKind, Env, SendError, Table};

/// The type of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(empty)]
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
    /// A dashboard.
    App,
    /// A type that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// A table, chart or document beside the text of an answer.
///
/// The name is the key of the artifact in the chat: if it is taken, a number is appended when the
/// artifact is sent. Later requests have the artifact as context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct Artifact {
    /// The type.
    #[wire(name = "type", always)]
    pub kind: ArtifactType,
    /// The name, unique in the chat.
    #[wire(always)]
    pub name: String,
    /// The description.
    #[wire(always)]
    pub description: String,
    /// The id.
    #[wire(always, set = "Sets the id. Constructors set a random one.")]
    pub uuid: String,
    /// The content: rows, or a text.
    pub content: Option<Json>,
    /// The axes of a chart.
    pub chart_params: Option<ChartParams>,
    /// The data source on which a query runs.
    pub query_data_source: Option<QueryDataSource>,
    /// For `app`: the dashboard.
    pub app: Option<Json>,
    /// For `app`: the widgets of the dashboard.
    pub widget_refs: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Artifact {
    fn of(kind: ArtifactType, name: String, description: String, content: Option<Json>) -> Self {
        Self {
            kind,
            name,
            description,
            // The system's own randomness: an artifact is made before there is a reply, whose
            // environment could be asked.
            uuid: Env::default().uuid(),
            content,
            ..Self::default()
        }
    }

    fn text_of(kind: ArtifactType, name: &str, text: &str) -> Self {
        let content = crate::openbb::text::string(text);
        let description = if name.is_empty() { kind.as_str() } else { name };
        let description = description.to_owned();
        // The description keeps the quotes that `name` replaces.
        Self::of(kind, String::new(), description, Some(content)).name(name)
    }

    /// Creates a text in Markdown.
    pub fn text(name: &str, text: &str) -> Self {
        Self::text_of(ArtifactType::Text, name, text)
    }

    /// Creates a document of HTML with CSS and inline SVG. Scripts are blocked.
    pub fn html(name: &str, html: &str) -> Self {
        Self::text_of(ArtifactType::Html, name, html)
    }

    /// Creates a table of rows. Unless [`name`](Self::name) sets another, its name is `Table_` and four
    /// hex digits.
    ///
    /// # Errors
    ///
    /// If the rows are not an array of objects.
    pub fn table<T: Serialize + ?Sized>(rows: &T) -> Result<Self, SendError> {
        let rows = Table::new("", rows)?.rows;
        let description = "A table of data".to_owned();
        let mut table = Self::of(ArtifactType::Table, String::new(), description, Some(rows));
        table.name = default_name(&table);
        Ok(table)
    }

    /// Creates a chart of rows. Unless [`name`](Self::name) sets another, its name is that of its kind,
    /// such as `line chart`.
    ///
    /// # Errors
    ///
    /// If the rows are not an array of objects, or a member that the chart draws is not a number.
    pub fn chart<T: Serialize + ?Sized>(kind: &ChartKind, rows: &T) -> Result<Self, SendError> {
        let rows = Table::new("", rows)?.rows;
        let params = ChartParams::new(kind, &rows)?;
        let name = format!("{} chart", params.chart_type.as_str());
        let description = format!("A {name} of data");
        let mut chart = Self::of(ArtifactType::Chart, name, description, Some(rows));
        chart.chart_params = Some(params);
        Ok(chart)
    }

    /// Creates SQL to run on Snowflake.
    pub fn snowflake_query(name: &str, sql: &str, source: QueryDataSource) -> Self {
        Self {
            query_data_source: Some(source),
            ..Self::text_of(ArtifactType::SnowflakeQuery, name, sql)
        }
    }

    /// Creates Python to run on Snowflake.
    pub fn snowflake_python(name: &str, code: &str) -> Self {
        Self::text_of(ArtifactType::SnowflakePython, name, code)
    }

    /// Creates a dashboard. Only front ends since July 2026 support it.
    ///
    /// # Errors
    ///
    /// If the dashboard or the widgets cannot be serialized as JSON.
    pub fn app<A: Serialize + ?Sized, W: Serialize + ?Sized>(
        name: &str,
        app: &A,
        widget_refs: &W,
    ) -> Result<Self, SendError> {
        let mut artifact = Self::text_of(ArtifactType::App, name, "");
        // An `app` has no `content`: front ends read `app` and `widget_refs` in its place.
        artifact.content = None;
        artifact.app = Some(crate::json::wire::encode(app)?);
        artifact.widget_refs = Some(crate::json::wire::encode(widget_refs)?);
        Ok(artifact)
    }

    /// Creates an artifact of a type that this crate does not know. Add further members to
    /// `unknown`.
    pub fn raw(kind: &str, name: &str, content: Json) -> Self {
        let mut artifact = Self::text_of(kind.into(), name, "");
        artifact.content = Some(content);
        artifact
    }

    /// Sets the name, in which `"` is replaced by `'`. An empty name is ignored.
    pub fn name(mut self, name: &str) -> Self {
        // The Workspace puts the name into an HTML attribute.
        let name = name.replace('"', "'");
        if !name.is_empty() {
            self.name = name;
        } else if self.name.is_empty() {
            self.name = default_name(&self);
        }
        self
    }

    /// Sets the description. An empty one is ignored.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description = description.into();
        if !description.is_empty() {
            self.description = description;
        }
        self
    }
}

/// Returns the default name, such as `Table_1a2b`: the kind and four hex digits of the id.
pub(super) fn default_name(artifact: &Artifact) -> String {
    let kind = artifact.kind.as_str();
    let mut letters = kind.chars();
    let first = letters.next().unwrap_or('A').to_ascii_uppercase();
    // From the id, so that the name is as random as the id without a second source of randomness.
    let digits: String = artifact.uuid.chars().take(4).collect();
    format!("{first}{}_{digits}", letters.as_str())
}

/// The data source on which a Snowflake query runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a data source.")]
pub struct QueryDataSource {
    /// The name of the backend that has the widget.
    #[wire(new)]
    pub origin: String,
    /// The id of the widget at its backend.
    #[wire(new)]
    pub id: String,
    /// The id of the widget on the dashboard.
    #[wire(new)]
    pub widget_uuid: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
