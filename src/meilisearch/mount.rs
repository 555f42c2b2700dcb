//! Mounting of agents as one workspace or as all workspaces.

use std::sync::Arc;

use super::Meilisearch;
use crate::agent::Agent;
use crate::router;
use crate::router::{MountError, Site};

/// A mount for Meilisearch chat clients, at `POST /chats/{workspace}/chat/completions`.
///
/// The agent serves all workspaces; the workspace of a request is
/// [`Request::param("workspace")`](crate::Request::param).
#[derive(Clone, Debug)]
#[must_use]
pub struct Mount {
    path: String,
}

impl Mount {
    /// Creates a mount at the default path.
    pub fn new() -> Self {
        Self {
            path: "/chats/{workspace}/chat/completions".into(),
        }
    }

    /// Sets the path, such as `/chats/films/chat/completions` for a single workspace.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }
}

impl Default for Mount {
    fn default() -> Self {
        Self::new()
    }
}

impl router::Mount for Mount {
    type Protocol = Meilisearch;

    fn mount(
        self,
        agent: Arc<dyn Agent<Meilisearch>>,
        site: &mut Site<'_>,
    ) -> Result<(), MountError> {
        site.agent(&self.path, agent)
    }
}
