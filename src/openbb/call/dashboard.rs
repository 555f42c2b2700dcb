//! Calls that change dashboards or delegate tasks to other agents.

use crate::json::{Json, List, Members, Wire};
use crate::openbb::data_source::DataSource;
use crate::openbb::workspace::{AgentInfo, Widget};

/// A call that adds widgets to the open dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct AddWidgetToDashboard {
    /// The widgets to add. `input_args` may have `inner_tab`, and for `rich_note` also `content`, `name`
    /// and `description`.
    #[wire(always)]
    pub data_sources: List<DataSource>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl AddWidgetToDashboard {
    /// Creates a call that adds these widgets.
    pub fn new(sources: impl IntoIterator<Item = DataSource>) -> Self {
        let new = |source| DataSource {
            // A widget that is not added yet has no id on the dashboard.
            widget_uuid: None,
            ..source
        };
        Self {
            data_sources: sources.into_iter().map(new).collect(),
            unknown: Members::new(),
        }
    }
}

/// A call that changes the arguments of widgets on the open dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call with these changes.")]
pub struct UpdateWidgetInDashboard {
    /// The changes, one for each widget.
    #[wire(always, new)]
    pub data_sources: List<WidgetUpdate>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// New arguments for one widget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct WidgetUpdate {
    /// The id of the widget.
    #[wire(always)]
    pub widget_uuid: String,
    /// The arguments to change.
    #[wire(always)]
    pub input_args: Members,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl WidgetUpdate {
    /// Creates a change of a widget; `None` if the widget has no id.
    pub fn new(widget: &Widget, arguments: Members) -> Option<Self> {
        Some(Self {
            widget_uuid: widget.id()?.into_owned(),
            input_args: arguments,
            unknown: Members::new(),
        })
    }
}

/// A call that creates, fills, removes or renames the tabs of the open dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct ManageNavigationBar {
    /// The operation: `create`, `add_tabs`, `remove_tabs` or `rename_tabs`.
    #[wire(always)]
    pub operation: String,
    /// The tabs, except for `rename_tabs`.
    pub tabs: List<NavigationTab>,
    /// The new names by the old ones, for `rename_tabs`.
    pub rename_map: Members,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl ManageNavigationBar {
    fn tabs<S: Into<String>>(operation: &str, names: impl IntoIterator<Item = S>) -> Self {
        let tab = |name: S| NavigationTab {
            name: name.into(),
            unknown: Members::new(),
        };
        Self {
            operation: operation.into(),
            tabs: names.into_iter().map(tab).collect(),
            ..Self::default()
        }
    }

    /// Creates a navigation bar with these tabs.
    pub fn create<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::tabs("create", names)
    }

    /// Adds tabs.
    pub fn add_tabs<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::tabs("add_tabs", names)
    }

    /// Removes tabs.
    pub fn remove_tabs<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::tabs("remove_tabs", names)
    }

    /// Renames tabs. Each pair is the old and the new name.
    pub fn rename_tabs<O: Into<String>, N: AsRef<str>>(
        names: impl IntoIterator<Item = (O, N)>,
    ) -> Self {
        let rename = |(old, new): (O, N)| (old.into(), crate::openbb::text::string(new.as_ref()));
        Self {
            operation: "rename_tabs".into(),
            rename_map: names.into_iter().map(rename).collect(),
            ..Self::default()
        }
    }
}

/// A tab of the navigation bar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct NavigationTab {
    /// The name.
    #[wire(always)]
    pub name: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A call that delegates tasks to other agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call that delegates these tasks.")]
pub struct AssignTasksToAgents {
    /// The tasks.
    #[wire(always, new)]
    pub task_requests: List<TaskRequest>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A task for another agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct TaskRequest {
    /// The id of the task.
    #[wire(always)]
    pub id: String,
    /// The task.
    #[wire(always)]
    pub description: String,
    /// The URL of the agent's server.
    #[wire(always)]
    pub assigned_holder_url: String,
    /// The id of the agent at its server.
    #[wire(always)]
    pub assigned_agent_id: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl TaskRequest {
    /// Creates a task for an agent in the request's `workspace_state.agents`.
    pub fn new(id: impl Into<String>, agent: &AgentInfo, task: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            description: task.into(),
            assigned_holder_url: agent.holder_url.clone(),
            assigned_agent_id: agent.id.clone(),
            unknown: Members::new(),
        }
    }
}

impl DataSource {
    /// Creates a note to add to the dashboard: Markdown with a name.
    pub fn rich_note(origin: impl Into<String>, name: &str, markdown: &str) -> Self {
        let mut arguments = Members::new();
        // The Workspace reads these members of `input_args` for the widget `rich_note` only.
        arguments.push("content", crate::openbb::text::string(markdown));
        arguments.push("name", crate::openbb::text::string(name));
        Self {
            input_args: arguments.to_raw(),
            ..Self::new(origin, "rich_note")
        }
    }
}

/// Converts a change to JSON, for calls that take raw arguments.
impl From<&WidgetUpdate> for Json {
    fn from(update: &WidgetUpdate) -> Self {
        update.to_raw()
    }
}
