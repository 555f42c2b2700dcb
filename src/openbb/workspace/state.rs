//! The visible part of the Workspace.

use crate::json::{Json, List, Members, Wire};

/// The part of the Workspace that the user sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct WorkspaceState {
    /// The id of the open dashboard.
    pub current_dashboard_uuid: String,
    /// The open dashboard.
    pub current_dashboard_info: Option<DashboardInfo>,
    /// All dashboards (versions 1.7.0 to 1.7.3).
    pub dashboards_info: List<DashboardInfo>,
    /// The user's earlier actions.
    pub action_history: List<String>,
    /// The agents that tasks can be assigned to; sent only if orchestration is on.
    pub agents: List<AgentInfo>,
    /// The page, such as `dashboard`.
    pub current_page_context: String,
    /// Set if widgets of the tier `extra` have names only.
    pub extra_widgets_slim: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DashboardInfo {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The id of the open tab.
    pub current_tab_id: String,
    /// The tabs.
    pub tabs: List<DashboardTab>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A tab of a dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DashboardTab {
    /// The id; `__no_tab__` on a dashboard without tabs.
    pub tab_id: String,
    /// The widgets on the tab.
    pub widgets: List<DashboardWidget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The entry of a widget in the list of a dashboard: its id and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DashboardWidget {
    /// The id.
    pub widget_uuid: String,
    /// The name.
    pub name: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// An agent that tasks can be assigned to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct AgentInfo {
    /// The URL of the agent's server.
    pub holder_url: String,
    /// The id of the agent at its server.
    pub id: String,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The features: for each a boolean or an object.
    pub features: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
