//! Features of agents and controls for users.

use crate::json::{Json, List, Members, Wire};
use crate::openbb::text::string;

/// A feature of the Workspace that an agent can switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Switch {
    /// Requests have the widgets that the user attached as context.
    WidgetDashboardSelect,
    /// Requests have the other widgets of the open dashboard.
    WidgetDashboardSearch,
    /// The user can send all available widgets.
    WidgetGlobalSearch,
    /// The user can attach files.
    FileUpload,
    /// The agent can change dashboards.
    GenerativeUi,
    /// Requests have the MCP tools that the user added.
    McpTools,
    /// The agent can delegate tasks to other agents.
    AgentOrchestration,
}

impl Switch {
    pub(super) const ALL: [Self; 7] = [
        Self::WidgetDashboardSelect,
        Self::WidgetDashboardSearch,
        Self::WidgetGlobalSearch,
        Self::FileUpload,
        Self::GenerativeUi,
        Self::McpTools,
        Self::AgentOrchestration,
    ];

    /// The features for widgets.
    pub(super) const WIDGETS: [Self; 3] = [
        Self::WidgetDashboardSelect,
        Self::WidgetDashboardSearch,
        Self::WidgetGlobalSearch,
    ];

    /// Returns the key of the feature.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WidgetDashboardSelect => "widget-dashboard-select",
            Self::WidgetDashboardSearch => "widget-dashboard-search",
            Self::WidgetGlobalSearch => "widget-global-search",
            Self::FileUpload => "file-upload",
            Self::GenerativeUi => "generative-ui",
            Self::McpTools => "mcp-tools",
            Self::AgentOrchestration => "agent-orchestration",
        }
    }
}

/// A control in the agent's settings, for the user to set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct Control {
    /// The displayed label. Required: the Workspace rejects all of the server's agents without it.
    pub label: String,
    /// The kind: `toggle`, `text` or `select`; a toggle if absent.
    #[wire(name = "type")]
    pub kind: String,
    /// The initial value: a boolean for a toggle, else a text.
    pub default: Option<Json>,
    /// The description.
    #[wire(set = "Sets the description.")]
    pub description: String,
    /// The placeholder of an empty text field.
    #[wire(set = "Sets the placeholder of an empty text field.")]
    pub placeholder: String,
    /// The choices.
    pub options: List<ControlChoice>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A choice of a control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ControlChoice {
    /// The displayed label.
    pub label: String,
    /// The value that the agent receives.
    pub value: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Control {
    /// Creates a switch.
    pub fn toggle(label: impl Into<String>, on: bool) -> Self {
        Self {
            label: label.into(),
            default: Some(on.to_raw()),
            ..Self::default()
        }
    }

    /// Creates a text field.
    pub fn text(label: impl Into<String>, default: &str) -> Self {
        Self {
            label: label.into(),
            kind: "text".into(),
            default: Some(string(default)),
            ..Self::default()
        }
    }

    /// Creates a choice of values. Each pair is a label and a value.
    pub fn select<L: Into<String>, V: Into<String>>(
        label: impl Into<String>,
        default: &str,
        options: impl IntoIterator<Item = (L, V)>,
    ) -> Self {
        let choice = |(label, value): (L, V)| ControlChoice {
            label: label.into(),
            value: value.into(),
            unknown: Members::new(),
        };
        Self {
            label: label.into(),
            kind: "select".into(),
            default: Some(string(default)),
            options: options.into_iter().map(choice).collect(),
            ..Self::default()
        }
    }
}
