//! What the user has on screen.

use crate::json::model::model;
use crate::json::{Json, List, Members};

/// What the user has on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceState {
    /// The open dashboard.
    pub current_dashboard_uuid: String,
    /// More about it.
    pub current_dashboard_info: Option<DashboardInfo>,
    /// All dashboards (versions 1.7.0 to 1.7.3).
    pub dashboards_info: List<DashboardInfo>,
    /// What the user did before.
    pub action_history: List<String>,
    /// The agents that tasks can be assigned to; sent only while orchestration is on.
    pub agents: List<AgentInfo>,
    /// The page, such as `dashboard`.
    pub current_page_context: String,
    /// Whether widgets of the tier `extra` carry names only.
    pub extra_widgets_slim: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(WorkspaceState {
    current_dashboard_uuid: "current_dashboard_uuid",
    current_dashboard_info: "current_dashboard_info",
    dashboards_info: "dashboards_info",
    action_history: "action_history",
    agents: "agents",
    current_page_context: "current_page_context",
    extra_widgets_slim: "extra_widgets_slim",
});

/// A dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DashboardInfo {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The tab that is open.
    pub current_tab_id: String,
    /// Its tabs.
    pub tabs: List<DashboardTab>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DashboardInfo {
    id: "id",
    name: "name",
    current_tab_id: "current_tab_id",
    tabs: "tabs",
});

/// A tab of a dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DashboardTab {
    /// Its id; `__no_tab__` on a dashboard without tabs.
    pub tab_id: String,
    /// The widgets on it.
    pub widgets: List<DashboardWidget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DashboardTab {
    tab_id: "tab_id",
    widgets: "widgets"
});

/// A widget on a dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DashboardWidget {
    /// The widget's id.
    pub widget_uuid: String,
    /// The widget's name.
    pub name: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DashboardWidget {
    widget_uuid: "widget_uuid",
    name: "name"
});

/// An agent that tasks can be assigned to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentInfo {
    /// The server that has the agent.
    pub holder_url: String,
    /// The agent's id there.
    pub id: String,
    /// The agent's name.
    pub name: String,
    /// What the agent can do.
    pub description: String,
    /// The agent's features: a boolean each, or an object.
    pub features: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(AgentInfo {
    holder_url: "holder_url",
    id: "id",
    name: "name",
    description: "description",
    features: "features",
});
