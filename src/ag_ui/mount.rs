//! Mounting an agent.

use std::sync::Arc;

use super::AgUi;
use crate::agent::Agent;
use crate::router::{self, MountError, Site};

/// Mounts an agent for AG-UI apps, by default at `POST /agui`.
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
#[must_use]
pub struct Mount {
    path: String,
    settings: Settings,
}

/// The settings of a [`Mount`], for its replies.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
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
    pub fn new() -> Self {
        Self {
            path: "/agui".into(),
            settings: Settings::default(),
        }
    }

    /// Sets the path.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets whether a confirmation is an interrupt. By default it is a question in text: an app that does not answer
    /// interrupts cannot continue after one, because its client starts no run without the answer.
    pub fn interrupts(mut self, interrupts: bool) -> Self {
        self.settings.interrupts = interrupts;
        self
    }

    /// Sets whether tables, charts and citations are also sent as Markdown, for apps without components for them. The
    /// default is `true`.
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
        site.agent_with(&self.path, agent, self.settings)
    }
}
