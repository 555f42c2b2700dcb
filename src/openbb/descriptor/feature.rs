//! What an agent can do, and what its user can set.

use crate::json::model::{Field, model, object};
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter};
use crate::openbb::request::string;

/// Something that the Workspace can do for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Switch {
    /// Send the widgets that the user put in context.
    WidgetDashboardSelect,
    /// Send the other widgets of the open dashboard.
    WidgetDashboardSearch,
    /// Let the user send all widgets there are.
    WidgetGlobalSearch,
    /// Let the user attach files.
    FileUpload,
    /// Let the agent change dashboards.
    GenerativeUi,
    /// Send the MCP tools that the user added.
    McpTools,
    /// Let the agent hand tasks to others.
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

    /// The key of the feature.
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

/// One feature of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// On or off.
    Switch(bool),
    /// For the user to set.
    Control(Control),
    /// Anything else.
    Unknown(Json),
}

/// The features of an agent, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(Vec<(String, Feature)>);

impl Features {
    /// Sets a feature.
    pub fn set(&mut self, id: &str, feature: Feature) {
        match self.0.iter_mut().find(|(key, _)| key == id) {
            Some((_, old)) => *old = feature,
            None => self.0.push((id.to_owned(), feature)),
        }
    }

    /// A feature.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Feature> {
        self.0
            .iter()
            .find(|(key, _)| key == id)
            .map(|(_, feature)| feature)
    }

    /// All features in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Feature)> {
        self.0.iter().map(|(key, feature)| (key.as_str(), feature))
    }

    /// Those that are on or off: front ends of 2025 know no others.
    pub(super) fn switches(&self) -> Self {
        let switch = |(_, feature): &&(String, Feature)| matches!(feature, Feature::Switch(_));
        Self(self.0.iter().filter(switch).cloned().collect())
    }
}

impl Field for Features {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let mut features = Self::default();
        reader.object(|reader, key| {
            let feature = match reader.bool()? {
                Some(on) => Feature::Switch(on),
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

/// Something that the user can set, in the agent's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Control {
    /// What the user reads. Required: without it the Workspace shows none of the server's agents.
    pub label: String,
    /// `toggle`, `text` or `select`; a toggle when it is left out.
    pub kind: String,
    /// What it is set to at first: a boolean for a toggle, else a text.
    pub default: Option<Json>,
    /// More about it.
    pub description: String,
    /// What an empty text shows.
    pub placeholder: String,
    /// What can be chosen.
    pub options: List<Choice>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Control {
    label: "label",
    kind: "type",
    default: "default",
    description: "description",
    placeholder: "placeholder",
    options: "options",
});

/// Something to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// What the user reads.
    pub label: String,
    /// What the agent gets.
    pub value: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Choice {
    label: "label",
    value: "value"
});

impl Control {
    /// Something to turn on and off.
    #[must_use]
    pub fn toggle(label: impl Into<String>, on: bool) -> Self {
        let on = if on { "true" } else { "false" };
        Self {
            label: label.into(),
            default: Json::parse(on).ok(),
            ..Self::default()
        }
    }

    /// A text.
    #[must_use]
    pub fn text(label: impl Into<String>, default: &str) -> Self {
        Self {
            label: label.into(),
            kind: "text".into(),
            default: Some(string(default)),
            ..Self::default()
        }
    }

    /// A choice among values, each with its label before it.
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

    /// Says more about it.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets what an empty text shows.
    #[must_use]
    pub fn placeholder(mut self, placeholder: impl Into<String>) -> Self {
        self.placeholder = placeholder.into();
        self
    }
}
