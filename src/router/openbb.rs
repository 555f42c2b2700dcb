//! Mounts agents for the OpenBB Workspace.

use bytes::Bytes;
use http::Method;

use super::endpoint::{Document, Streaming};
use super::{MountError, Router};
use crate::agent::Agent;
use crate::openbb::{self, Descriptor, OpenBb};

impl Router {
    /// Mounts an agent for the OpenBB Workspace.
    ///
    /// It answers at the descriptor's query path (`POST /v1/query`), and the descriptor is served
    /// with those of all other agents at `GET /agents.json` and `GET /copilots.json`.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken, or the descriptor would hide all agents of this
    /// server from the Workspace.
    pub fn openbb(
        mut self,
        descriptor: Descriptor,
        agent: impl Agent<OpenBb> + 'static,
    ) -> Result<Self, MountError> {
        self.route(
            Method::POST,
            descriptor.query_path(),
            Streaming::<OpenBb, _>::new(agent),
        )?;
        let inner = self.edit();
        inner.openbb.push(descriptor);
        let documents = openbb::documents(&inner.openbb)
            .map_err(|error| MountError::Descriptor(error.to_string()))?;
        for (path, document) in ["/agents.json", "/copilots.json"]
            .into_iter()
            .zip(documents)
        {
            // The document grows with every agent: the newest replaces the one before.
            let inner = self.edit();
            inner
                .routes
                .retain(|route| route.path.matches(path).is_none());
            self.route(Method::GET, path, Document(Bytes::from(document)))?;
        }
        Ok(self)
    }
}
