//! What an agent can ask the Workspace to do.

mod arguments;
mod check;
mod dashboard;
mod fault;
mod function_call;
mod generative;
mod queue;
mod schema;
mod state;
mod widget_data;

pub use arguments::Arguments;
pub use dashboard::{
    AddWidgetToDashboard, AssignTasksToAgents, ManageNavigationBar, NavigationTab, TaskRequest,
    UpdateWidgetInDashboard, WidgetUpdate,
};
pub use function_call::FunctionCall;
pub use generative::AddGenerativeWidget;
pub use queue::CallQueue;
pub use state::{State, StateError, Untrusted};
pub use widget_data::{
    DataSource, GetDirectRetrievalData, GetParamsOptions, GetWidgetData, ParamOptionsQuery,
};

mod tools;

pub use tools::{
    ExecuteAgentTool, ExecuteClientSql, GetSkillContent, PrepareClientSqlTables, SaveSkill,
    SqlQuery, SqlWidget,
};

pub(super) use check::prepare;
pub(super) use schema::check as check_schema;
pub(super) use widget_data::data_sources;
