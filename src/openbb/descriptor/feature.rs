//! Features of agents and controls for users.

use std::iter::Map;
use std::slice;

use crate::json::wire::object;
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter, Wire};
use crate::openbb::request::string;

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

/// The value of a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// A switch: on or off.
    Switch(bool),
    /// A control that the user sets.
    Control(Control),
    /// Any other value.
    Unknown(Json),
}

/// The features of an agent, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(Vec<(String, Feature)>);

impl Features {
    /// Sets a feature.
    pub fn set(&mut self, id: &str, feature: Feature) {
        // In place, so that setting a feature again does not move its control on the page.
        match self.0.iter_mut().find(|(key, _)| key == id) {
            Some((_, old)) => *old = feature,
            None => self.0.push((id.to_owned(), feature)),
        }
    }

    /// Returns the value of a feature.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Feature> {
        self.0
            .iter()
            .find(|(key, _)| key == id)
            .map(|(_, feature)| feature)
    }

    /// Returns an iterator over all features in order.
    pub fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.0.iter().map(|(key, feature)| (key.as_str(), feature))
    }

    /// Returns the switches; front ends of 2025 know no other features.
    pub(super) fn switches(&self) -> Self {
        let switch = |(_, feature): &&(String, Feature)| matches!(feature, Feature::Switch(_));
        Self(self.0.iter().filter(switch).cloned().collect())
    }
}

impl<'a> IntoIterator for &'a Features {
    type Item = (&'a str, &'a Feature);
    type IntoIter =
        Map<slice::Iter<'a, (String, Feature)>, fn(&'a (String, Feature)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Wire for Features {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let mut features = Self::default();
        reader.object(|reader, key| {
            let feature = match reader.bool()? {
                Some(on) => Feature::Switch(on),
                // A failed read consumes nothing, so each of the three sees the same value.
                None => match Control::read_from(reader)? {
                    Some(control) => Feature::Control(control),
                    None => Feature::Unknown(reader.value()?),
                },
            };
            features.set(&key, feature);
            Ok(())
        })?;
        Ok(Some(features))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        object(to, |object| {
            for (key, feature) in &self.0 {
                let to = object.member(key);
                match feature {
                    Feature::Switch(on) => to.bool(*on),
                    Feature::Control(control) => control.write_to(to),
                    Feature::Unknown(json) => to.raw(json),
                }
            }
        });
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

/// A control in the agent's settings, for the user to set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
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
    pub options: List<Choice>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A choice of a control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Choice {
    /// The displayed label.
    pub label: String,
    /// The value that the agent receives.
    pub value: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Control {
    /// Creates a switch.
    #[must_use]
    pub fn toggle(label: impl Into<String>, on: bool) -> Self {
        let on = if on { "true" } else { "false" };
        Self {
            label: label.into(),
            default: Json::parse(on).ok(),
            ..Self::default()
        }
    }

    /// Creates a text field.
    #[must_use]
    pub fn text(label: impl Into<String>, default: &str) -> Self {
        Self {
            label: label.into(),
            kind: "text".into(),
            default: Some(string(default)),
            ..Self::default()
        }
    }

    /// Creates a choice of values. Each pair is a label and a value.
    #[must_use]
    pub fn select<L: Into<String>, V: Into<String>>(
        label: impl Into<String>,
        default: &str,
        options: impl IntoIterator<Item = (L, V)>,
    ) -> Self {
        let choice = |(label, value): (L, V)| Choice {
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
