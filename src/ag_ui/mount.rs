//! Mounting an agent.

use std::sync::Arc;

use async_trait::async_trait;
use http::{Method, Response};

use super::AgUi;
use crate::agent::{Agent, Body};
use crate::protocol::{Protocol, Refusal};
use crate::router::{self, Call, Endpoint, MountError, Site};

/// Mounts an agent for AG-UI apps, at `POST /agui`.
///
/// ```
/// use copilot_wire::ag_ui::Mount;
///
/// let mount = Mount::new()
///     .interrupts(true) // the app shows interrupts and answers them
///     .markdown(false); // it has components for tables, charts and citations
/// # drop(mount);
/// ```
#[derive(Clone, Debug)]
pub struct Mount {
    path: String,
    settings: Settings,
}

/// The settings of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) interrupts: bool,
    pub(super) markdown: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interrupts: false,
            markdown: true,
        }
    }
}

impl Mount {
    /// Creates a mount at the default path.
    #[must_use]
    pub fn new() -> Self {
        Self {
            path: "/agui".into(),
            settings: Settings::default(),
        }
    }

    /// Sets the path.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets whether a confirmation is an interrupt. By default it is a question in text: an app that
    /// does not answer interrupts cannot go on after one, because its client makes no run without the
    /// answer.
    #[must_use]
    pub fn interrupts(mut self, interrupts: bool) -> Self {
        self.settings.interrupts = interrupts;
        self
    }

    /// Sets whether tables, charts and citations are sent as Markdown as well, which is the default:
    /// for apps without components for them.
    #[must_use]
    pub fn markdown(mut self, markdown: bool) -> Self {
        self.settings.markdown = markdown;
        self
    }
}

impl Default for Mount {
    fn default() -> Self {
        Self::new()
    }
}

impl router::Mount for Mount {
    type Protocol = AgUi;

    fn mount(self, agent: Arc<dyn Agent<AgUi>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let settings = Arc::new(self.settings);
        site.route(Method::POST, &self.path, Run { agent, settings })
    }
}

/// `POST /agui`.
struct Run {
    agent: Arc<dyn Agent<AgUi>>,
    settings: Arc<Settings>,
}

#[async_trait]
impl Endpoint for Run {
    async fn call(&self, mut call: Call) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        match AgUi::read(&call.parts, body) {
            Ok(mut input) => {
                input.settings = Arc::clone(&self.settings);
                call.answer_request(Arc::clone(&self.agent), input).await
            }
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        AgUi::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(AgUi::NAME)
    }
}
