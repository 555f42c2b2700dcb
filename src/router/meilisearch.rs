//! Mounts agents for Meilisearch chat clients.

use http::Method;

use super::endpoint::Streaming;
use super::{MountError, Router};
use crate::agent::Agent;
use crate::meilisearch::Meilisearch;

impl Router {
    /// Mounts an agent for Meilisearch chat clients, at `POST /chats/{workspace}/chat/completions`.
    ///
    /// Every workspace is this agent's; which one was asked is
    /// [`Request::param("workspace")`](crate::Request::param). For a workspace of its own see
    /// [`meilisearch_at`](Self::meilisearch_at).
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken.
    pub fn meilisearch(self, agent: impl Agent<Meilisearch> + 'static) -> Result<Self, MountError> {
        self.meilisearch_at("/chats/{workspace}/chat/completions", agent)
    }

    /// Mounts an agent for Meilisearch chat clients at a path of its own, such as
    /// `/chats/films/chat/completions`.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken, or is none.
    pub fn meilisearch_at(
        mut self,
        path: &str,
        agent: impl Agent<Meilisearch> + 'static,
    ) -> Result<Self, MountError> {
        self.route(Method::POST, path, Streaming::<Meilisearch, _>::new(agent))?;
        Ok(self)
    }
}
