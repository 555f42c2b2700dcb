//! How an agent is mounted: as a workspace, or as all of them.

use std::sync::Arc;

use super::Meilisearch;
use crate::agent::Agent;
use crate::router;
use crate::router::{MountError, Site};

/// Mounts an agent for Meilisearch chat clients, at `POST /chats/{workspace}/chat/completions`.
///
/// Every workspace is this agent's; the one of a request is
/// [`Request::param("workspace")`](crate::Request::param).
#[derive(Clone, Debug)]
pub struct Mount {
    path: String,
}

impl Mount {
    /// Creates a mount at the default path.
    #[must_use]
    pub fn new() -> Self {
        Self {
            path: "/chats/{workspace}/chat/completions".into(),
        }
    }

    /// Sets the path, such as `/chats/films/chat/completions` for a workspace of its own.
    #[must_use]
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
