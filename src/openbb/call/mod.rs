//! Calls that an agent can make to the Workspace.

mod arguments;
mod check;
mod dashboard;
mod function_call;
mod generative;
mod queue;
mod state;
mod tools;
mod turn_state;
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
pub use tools::{
    ExecuteAgentTool, ExecuteClientSql, GetSkillContent, PrepareClientSqlTables, SaveSkill,
    SqlQuery, SqlWidget,
};
pub use turn_state::{TurnState, TurnUsage};
pub use widget_data::{DataSource, GetParamsOptions, GetWidgetData, ParamOptionsQuery};

pub(super) use check::prepare;
pub(super) use function_call::with_members;
