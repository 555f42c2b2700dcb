//! Calls that run tools, load skills or query SQL.

use serde::Serialize;

use crate::json::{Json, List, Members, Wire, WriteError};
use crate::openbb::workspace::{Tool, Widget};

/// A call of an MCP tool that the request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ExecuteAgentTool {
    /// The id of the tool's server.
    #[wire(always)]
    pub server_id: String,
    /// The tool's name, as in the request.
    #[wire(always)]
    pub tool_name: String,
    /// The arguments: an object.
    #[wire(always)]
    pub parameters: Json,
    /// Members that this crate does not know or cannot read, such as `url` and `endpoint`.
    pub unknown: Members,
}

impl ExecuteAgentTool {
    /// Creates a call of a tool of the request. Sending it checks the arguments against the tool's
    /// schema.
    ///
    /// # Errors
    ///
    /// If the arguments cannot be serialized as JSON.
    pub fn new<T: Serialize + ?Sized>(tool: &Tool, parameters: &T) -> Result<Self, WriteError> {
        Ok(Self {
            server_id: tool.server_id.clone(),
            tool_name: tool.name.clone(),
            parameters: crate::json::wire::encode(parameters)?,
            unknown: Members::new(),
        })
    }
}

/// A call that fetches a skill of the request's catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call that fetches a skill.")]
pub struct GetSkillContent {
    /// The id of the skill.
    #[wire(always, new)]
    pub slug: String,
    /// The reason for the call.
    #[wire(set = "Sets the reason for the call.")]
    pub reason: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A call that proposes a new skill to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call that proposes a skill.")]
pub struct SaveSkill {
    /// The name.
    #[wire(new)]
    pub name: String,
    /// The instructions.
    #[wire(new)]
    pub instructions: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A call that runs SQL over widget data in the browser. Only for front ends with the option
/// `client-sql`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call that runs these queries.")]
pub struct ExecuteClientSql {
    /// The queries, one to five. Entry *i* of the result belongs to query *i*.
    #[wire(always, new)]
    pub queries: List<SqlQuery>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// An SQL query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a query over the tables of widgets.")]
pub struct SqlQuery {
    /// The SQL text.
    #[wire(always, new)]
    pub sql: String,
    /// The ids of the widgets whose tables the query reads, at least one.
    #[wire(always, new, into)]
    pub widget_uuids: List<String>,
    /// The maximum number of rows, up to 1,000.
    pub row_limit: Option<u64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl SqlQuery {
    /// Sets the maximum number of rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.row_limit = Some(rows);
        self
    }
}

/// A call that loads the data of one to ten widgets into tables in the browser. Only for front ends
/// with the option `client-sql`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call that loads these widgets.")]
pub struct PrepareClientSqlTables {
    /// The widgets, at most ten.
    #[wire(always, new, into)]
    pub widgets: List<SqlWidget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A widget whose data becomes a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SqlWidget {
    /// The id of the widget on the dashboard.
    pub widget_uuid: String,
    /// The id of the widget at its backend.
    pub widget_id: String,
    /// The name of the backend that has the widget.
    pub origin: String,
    /// The values of its parameters: an object.
    pub input_args: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl From<&Widget> for SqlWidget {
    fn from(widget: &Widget) -> Self {
        Self {
            widget_uuid: widget.id().unwrap_or_default().into_owned(),
            widget_id: widget.widget_id.clone(),
            origin: widget.origin.clone(),
            // The current values: without them the Workspace would load the table with the widget's
            // defaults.
            input_args: Some(widget.arguments().to_raw()),
            unknown: Members::new(),
        }
    }
}
