//! What the Workspace is told about an agent.

mod check;
mod document;
mod feature;

pub use check::DescriptorError;
pub use document::agents;
pub use feature::{Choice, Control, Feature, Features, Switch};

pub(super) use document::{agents_json, check_all, copilots_json};

use crate::json::model::model;
use crate::json::{List, Members};

/// What the Workspace is told about an agent: one entry of `agents.json`.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Descriptor {
    /// The key of the entry: lower-case letters, digits, `-` and `_`.
    pub id: String,
    /// The URL of the server, without the path that a router has below it, for front ends of 2024 that
    /// take whole URLs only. Not on the wire.
    pub base_url: String,
    /// The path that the agent is mounted at where its requests are posted to a whole URL. Not on the
    /// wire.
    pub route: String,
    /// What the user sees it called; unique among all agents that the user added.
    pub name: String,
    /// The welcome text, and what other agents choose by.
    pub description: String,
    /// A picture: a URL or a path.
    pub image: String,
    /// Where to post requests, before 2024-05.
    pub link: String,
    /// Where to post.
    pub endpoints: Option<Endpoints>,
    /// Whether it streams; given up in 2025.
    pub has_streaming: Option<bool>,
    /// Whether it calls functions; given up in 2025. Where it is there, it overrides the three
    /// features of widgets.
    pub has_function_calling: Option<bool>,
    /// Whether it reads uploaded files; given up in 2025.
    pub has_documents: Option<bool>,
    /// What it can do, and what the user can set.
    pub features: Features,
    /// The models that the user can pick from.
    pub models: List<Model>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Descriptor {
    name: "name" always,
    description: "description" always,
    image: "image",
    link: "link",
    has_streaming: "hasStreaming",
    has_function_calling: "hasFunctionCalling",
    has_documents: "hasDocuments",
    endpoints: "endpoints",
    features: "features",
    models: "models",
});

/// Where to post. URLs, or paths on the server of the descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoints {
    /// Requests.
    pub query: String,
    /// What the user thinks of answers.
    pub feedback: String,
    /// Files; known from the front end only.
    pub upload_docs: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Endpoints {
    query: "query",
    feedback: "feedback",
    upload_docs: "upload_docs"
});

/// A model that the user can pick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// What comes back in the request's `model`.
    pub id: String,
    /// What the user sees it called.
    pub name: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Model {
    id: "id",
    name: "name"
});

impl Descriptor {
    /// A descriptor of an agent that answers at `/v1/query` and knows no widgets.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let mut features = Features::default();
        features.set("streaming", Feature::Switch(true));
        features.set(
            Switch::WidgetDashboardSelect.as_str(),
            Feature::Switch(false),
        );
        features.set(
            Switch::WidgetDashboardSearch.as_str(),
            Feature::Switch(false),
        );
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            features,
            ..Self::default()
        }
        .path(QUERY)
    }

    /// Sets the path that requests are posted to and that the agent is mounted at. Each agent of a
    /// server needs its own.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.route = path.into();
        let endpoints = self.endpoints.get_or_insert_default();
        if !endpoints.query.contains("://") {
            endpoints.query.clone_from(&self.route);
        }
        self
    }

    /// Sets the whole URL that requests are posted to, where the Workspace must not derive it from the
    /// URL of `agents.json`. It says nothing of where the agent is [mounted](Self::path).
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.endpoints.get_or_insert_default().query = url.into();
        self
    }

    /// Says that the user may rate answers, and where that is posted.
    #[must_use]
    pub fn feedback(mut self, path: impl Into<String>) -> Self {
        self.endpoints.get_or_insert_default().feedback = path.into();
        self.features.set(FEEDBACK, Feature::Switch(true));
        self
    }

    /// Sets a picture: a path, or a URL.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = image.into();
        self
    }

    /// Sets the URL of this server, for front ends of 2024 that take no relative paths.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Turns something on that the Workspace can do for the agent.
    #[must_use]
    pub fn enable(mut self, switch: Switch) -> Self {
        self.features.set(switch.as_str(), Feature::Switch(true));
        self
    }

    /// Adds an option that is always on: it comes back in the request's `workspace_options`.
    #[must_use]
    pub fn option(mut self, id: &str) -> Self {
        self.features.set(id, Feature::Switch(true));
        self
    }

    /// Adds an option that the user can set: it comes back in the request's `workspace_options`.
    #[must_use]
    pub fn control(mut self, id: &str, control: Control) -> Self {
        self.features.set(id, Feature::Control(control));
        self
    }

    /// Adds a model that the user can pick: it comes back in the request's `model`.
    #[must_use]
    pub fn model(mut self, id: impl Into<String>, name: impl Into<String>) -> Self {
        self.models.push(Model {
            id: id.into(),
            name: name.into(),
            unknown: Members::new(),
        });
        self
    }

    /// Where requests are posted, in descriptors of any year.
    #[must_use]
    pub fn query_url(&self) -> &str {
        let endpoints = self.endpoints.as_ref();
        let query = endpoints.map_or("", |endpoints| endpoints.query.as_str());
        if query.is_empty() { &self.link } else { query }
    }

    /// Whether a feature is on, as the Workspace reads descriptors of any year: the deprecated
    /// flags win.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        let widgets = [
            Switch::WidgetDashboardSelect,
            Switch::WidgetDashboardSearch,
            Switch::WidgetGlobalSearch,
        ];
        let flag = match feature {
            "streaming" => self.has_streaming,
            _ if widgets.iter().any(|switch| switch.as_str() == feature) => {
                self.has_function_calling
            }
            _ => None,
        };
        flag.unwrap_or_else(|| matches!(self.features.get(feature), Some(Feature::Switch(true))))
    }

    /// Returns the path that the agent is mounted at.
    pub(crate) fn route(&self) -> &str {
        let path = match self.query_url() {
            path if path.starts_with('/') => path,
            _ if self.route.is_empty() => QUERY,
            _ => &self.route,
        };
        path.split(['?', '#']).next().unwrap_or_default()
    }

    /// Returns every place on a server that is advertised.
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
