//! Descriptors of agents.

mod check;
mod document;
mod feature;

pub use document::agents;
pub use feature::{Control, ControlChoice, Switch};

pub(super) use document::{agents_json, check_all, copilots_json};

use crate::json::{List, Members, Wire};

/// A description of an agent for the Workspace: one entry of `agents.json`.
///
/// ```
/// use copilot_wire::openbb::{Control, Descriptor, Switch};
///
/// let descriptor = Descriptor::new("analyst", "Analyst", "Reads your widgets")
///     .enable(Switch::WidgetDashboardSelect)
///     .option("web-search")
///     .control("model", Control::select("Model", "fast", [("Fast", "fast"), ("Deep", "deep")]))
///     .feedback("/v1/feedback");
/// assert!(descriptor.check().is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
#[must_use]
pub struct Descriptor {
    /// The key of the entry: lower-case letters, digits, `-` and `_`.
    #[wire(skip)]
    pub id: String,
    /// The URL of the server, without the path under which the router is nested, for front ends of
    /// 2024 that need absolute URLs. Not on the wire.
    #[wire(skip)]
    pub base_url: String,
    /// The path at which the agent is mounted, if requests are posted to an absolute URL. Not on
    /// the wire.
    #[wire(skip)]
    pub route: String,
    /// The displayed name; unique among all agents that the user added.
    #[wire(always)]
    pub name: String,
    /// The welcome text. Other agents use it to choose an agent.
    #[wire(always)]
    pub description: String,
    /// The image: a URL or a path.
    #[wire(set = "Sets the image: a path or a URL.")]
    pub image: String,
    /// The URL for requests, before May 2024.
    pub link: String,
    /// Set if the agent streams; withdrawn in 2025.
    pub has_streaming: Option<bool>,
    /// Set if the agent calls functions; withdrawn in 2025. If present, it overrides the three
    /// features for widgets.
    pub has_function_calling: Option<bool>,
    /// Set if the agent reads uploaded files; withdrawn in 2025.
    pub has_documents: Option<bool>,
    /// The URLs or paths that the Workspace posts to.
    pub endpoints: Option<Endpoints>,
    /// The features that the agent supports or users can switch on: for each a boolean, or a [`Control`].
    pub features: Members,
    /// The models that the user can select.
    pub models: List<Model>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The locations for requests: URLs, or paths on the server of the descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Endpoints {
    /// The location for query requests.
    pub query: String,
    /// The location for feedback.
    pub feedback: String,
    /// The location for files; known only from the front end's code.
    pub upload_docs: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A model that the user can select.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Model {
    /// The id, which the request's `model` has.
    pub id: String,
    /// The displayed name.
    pub name: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Descriptor {
    /// Creates a descriptor of an agent at `/v1/query` without features.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let mut features = Members::new();
        features.push("streaming", true.to_raw());
        for off in [Switch::WidgetDashboardSelect, Switch::WidgetDashboardSearch] {
            features.push(off.as_str(), false.to_raw());
        }
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            features,
            ..Self::default()
        }
        .path(QUERY)
    }

    /// Sets the path at which the agent is mounted and to which requests are posted. Each agent of
    /// a server needs its own.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.route = path.into();
        let endpoints = self.endpoints.get_or_insert_default();
        // An absolute URL was set by `url` and stays, in whichever order the two are called.
        if !endpoints.query.contains("://") {
            endpoints.query.clone_from(&self.route);
        }
        self
    }

    /// Sets the absolute URL for requests, if the Workspace must not derive it from the URL of
    /// `agents.json`. It does not change the path at which the agent is [mounted](Self::path).
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.endpoints.get_or_insert_default().query = url.into();
        self
    }

    /// Enables feedback on answers and sets the path for it.
    pub fn feedback(mut self, path: impl Into<String>) -> Self {
        self.endpoints.get_or_insert_default().feedback = path.into();
        self.option(FEEDBACK)
    }

    /// Sets the URL of this server, for front ends of 2024 that do not accept relative paths.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Enables a feature of the Workspace.
    pub fn enable(self, switch: Switch) -> Self {
        self.option(switch.as_str())
    }

    /// Adds an option that is always on; the request's `workspace_options` has it.
    pub fn option(mut self, id: &str) -> Self {
        self.features.set(id, true.to_raw());
        self
    }

    /// Adds an option that the user can set; the request's `workspace_options` has it.
    pub fn control(mut self, id: &str, control: Control) -> Self {
        self.features.set(id, control.to_raw());
        self
    }

    /// Adds a model that the user can select; the request's `model` has its id.
    pub fn model(mut self, id: impl Into<String>, name: impl Into<String>) -> Self {
        self.models.push(Model {
            id: id.into(),
            name: name.into(),
            unknown: Members::new(),
        });
        self
    }

    /// Returns the location for requests, in descriptors of any year.
    pub fn query_url(&self) -> &str {
        let endpoints = self.endpoints.as_ref();
        let query = endpoints.map_or("", |endpoints| endpoints.query.as_str());
        if query.is_empty() { &self.link } else { query }
    }

    /// Returns `true` if a feature is on, as the Workspace reads descriptors of any year: the
    /// deprecated flags take precedence.
    pub fn has(&self, feature: &str) -> bool {
        // The front end lets the flags of 2024 override `features` where both are present.
        let flag = match feature {
            "streaming" => self.has_streaming,
            _ if Switch::WIDGETS
                .iter()
                .any(|switch| switch.as_str() == feature) =>
            {
                self.has_function_calling
            }
            _ => None,
        };
        let switch = || self.features.get(feature)?.as_bool();
        flag.or_else(switch).unwrap_or_default()
    }

    /// Returns the path at which the agent is mounted.
    pub(crate) fn route(&self) -> &str {
        let path = match self.query_url() {
            path if path.starts_with('/') => path,
            _ if self.route.is_empty() => QUERY,
            _ => &self.route,
        };
        // A route matches the path alone; the other parts of the advertised location are only for the browser.
        path.split(['?', '#']).next().unwrap_or_default()
    }

    /// Returns an iterator over all advertised locations.
    pub(super) fn places(&mut self) -> impl Iterator<Item = &mut String> {
        let endpoints = self.endpoints.iter_mut();
        let endpoints = endpoints.flat_map(|endpoints| {
            let Endpoints {
                query,
                feedback,
                upload_docs,
                ..
            } = endpoints;
            [query, feedback, upload_docs]
        });
        [&mut self.image, &mut self.link]
            .into_iter()
            .chain(endpoints)
    }
}

/// The default path.
const QUERY: &str = "/v1/query";
const FEEDBACK: &str = "feedback";
