//! Calls that an agent can make to the Workspace.

mod arguments;
mod check;
mod dashboard;
mod generative;
mod queue;
mod state;
mod tools;
mod turn_state;

pub use arguments::Arguments;
pub use dashboard::{
    AddWidgetToDashboard, AssignTasksToAgents, ManageNavigationBar, NavigationTab, TaskRequest,
    UpdateWidgetInDashboard, WidgetUpdate,
};
pub use generative::AddGenerativeWidget;
pub use queue::CallQueue;
pub use state::{State, StateError, Untrusted};
pub use tools::{
    ExecuteAgentTool, ExecuteClientSql, GetSkillContent, PrepareClientSqlTables, SaveSkill,
    SqlQuery, SqlWidget,
};
pub use turn_state::{TurnState, TurnUsage};

pub(super) use check::prepare;
