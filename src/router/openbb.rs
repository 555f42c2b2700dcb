//! Mounts agents for the OpenBB Workspace.

use std::future::Future;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Response, StatusCode};

use super::endpoint::{Call, Document, Endpoint, Streaming, run};
use super::{MountError, Router, json};
use crate::agent::{Agent, Body};
use crate::openbb::{self, Descriptor, Feedback, OpenBb};
use crate::protocol::{AgentError, Protocol};

impl Router {
    /// Mounts an agent for the OpenBB Workspace.
    ///
    /// It answers at the descriptor's query path (`POST /v1/query`), and the descriptor is served
    /// with those of all other agents at `GET /agents.json` and `GET /copilots.json`. A server may
    /// have several agents, each with a query path of its own.
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
        descriptor
            .check()
            .map_err(|error| MountError::Descriptor(error.to_string()))?;
        self.route(
            Method::POST,
            descriptor.query_path(),
            Streaming::<OpenBb, _>::new(agent),
        )?;
        let inner = self.edit();
        let first = inner.openbb.is_empty();
        inner.openbb.push(descriptor);
        let documents = openbb::documents(&inner.openbb)
            .map_err(|error| MountError::Descriptor(error.to_string()))?;
        for (path, document) in ["/agents.json", "/copilots.json"]
            .into_iter()
            .zip(documents)
        {
            // The document grows with every agent: the newest replaces the one before.
            if !first {
                self.unroute(&Method::GET, path)?;
            }
            self.route(Method::GET, path, Document(Bytes::from(document)))?;
        }
        Ok(self)
    }

    /// Hears what users of the OpenBB Workspace think of answers, at a path such as
    /// `/v1/feedback`: the one that [`Descriptor::feedback`] names.
    ///
    /// When `heard` fails, the user reads that the feedback was not taken.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is none, or taken.
    pub fn openbb_feedback<F, R>(mut self, path: &str, heard: F) -> Result<Self, MountError>
    where
        F: Fn(Feedback) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), AgentError>> + Send + 'static,
    {
        self.route(Method::POST, path, Hear(heard))?;
        Ok(self)
    }
}

/// An endpoint for feedback.
struct Hear<F>(F);

#[async_trait]
impl<F, R> Endpoint for Hear<F>
where
    F: Fn(Feedback) -> R + Send + Sync,
    R: Future<Output = Result<(), AgentError>> + Send,
{
    async fn call(&self, call: Call) -> Response<Body> {
        let feedback = match Feedback::read(&call.parts.headers, &call.body) {
            Ok(feedback) => feedback,
            Err(refusal) => return self.refuse(&refusal),
        };
        let heard = async { (self.0)(feedback).await };
        match run(OpenBb::NAME, &call.env, heard).await {
            // Any 2xx will do.
            Ok(()) => json(StatusCode::OK, b"{}".to_vec()),
            Err(refusal) => self.refuse(&refusal),
        }
    }
}
