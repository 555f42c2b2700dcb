//! Calls that run tools, load skills or query SQL.

use serde::Serialize;

use super::FunctionCall;
use crate::json::{Json, List, Members, Wire, WriteError};
use crate::openbb::request::{Tool, Widget};

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

impl From<ExecuteAgentTool> for FunctionCall {
    fn from(call: ExecuteAgentTool) -> Self {
        Self::made("execute_agent_tool", call.to_raw())
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

impl From<GetSkillContent> for FunctionCall {
    fn from(call: GetSkillContent) -> Self {
        Self::made("get_skill_content", call.to_raw())
    }
}

/// A call that proposes a new skill to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SaveSkill {
    /// The name.
    pub name: String,
    /// The instructions.
    pub instructions: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl SaveSkill {
    /// Creates a call that proposes a skill.
    #[must_use]
    pub fn new(name: impl Into<String>, instructions: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            instructions: instructions.into(),
            unknown: Members::new(),
        }
    }
}

impl From<SaveSkill> for FunctionCall {
    fn from(call: SaveSkill) -> Self {
        Self::made("save_skill", call.to_raw())
    }
}

/// A call that runs SQL over widget data in the browser. Only for front ends with the option
/// `client-sql`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ExecuteClientSql {
    /// The queries, one to five. Entry *i* of the result belongs to query *i*.
    #[wire(always)]
    pub queries: List<SqlQuery>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl ExecuteClientSql {
    /// Creates a call that runs these queries.
    #[must_use]
    pub fn new(queries: impl IntoIterator<Item = SqlQuery>) -> Self {
        Self {
            queries: queries.into_iter().collect(),
            unknown: Members::new(),
        }
    }
}

impl From<ExecuteClientSql> for FunctionCall {
    fn from(call: ExecuteClientSql) -> Self {
        Self::made("execute_client_sql", call.to_raw())
    }
}

/// An SQL query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SqlQuery {
    /// The SQL text.
    #[wire(always)]
    pub sql: String,
    /// The ids of the widgets whose tables the query reads, at least one.
    #[wire(always)]
    pub widget_uuids: List<String>,
    /// The maximum number of rows, up to 1,000.
    pub row_limit: Option<u64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl SqlQuery {
    /// Creates a query over the tables of widgets.
    #[must_use]
    pub fn new<S: Into<String>>(
        sql: impl Into<String>,
        widget_uuids: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            sql: sql.into(),
            widget_uuids: widget_uuids.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

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
pub struct PrepareClientSqlTables {
    /// The widgets, at most ten.
    #[wire(always)]
    pub widgets: List<SqlWidget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl PrepareClientSqlTables {
    /// Creates a call that loads these widgets.
    #[must_use]
    pub fn new<S: Into<SqlWidget>>(widgets: impl IntoIterator<Item = S>) -> Self {
        Self {
            widgets: widgets.into_iter().map(Into::into).collect(),
            unknown: Members::new(),
        }
    }
}

impl From<PrepareClientSqlTables> for FunctionCall {
    fn from(call: PrepareClientSqlTables) -> Self {
        Self::made("prepare_client_sql_tables", call.to_raw())
    }
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
