//! The agent.

use std::fmt;
use std::sync::Arc;

use copilot_wire::meilisearch::{Failure, Meilisearch, Outcome};
use copilot_wire::protocol::{AgentError, Notice, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};

use crate::{Memory, Store, Upstream, UpstreamError};

/// Answers from a Meilisearch workspace, on every front end.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) upstream: Upstream,
    pub(crate) model: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) error_frames: bool,
}

impl Bridge {
    /// A bridge that asks `model`, by the name that the workspace's provider has for it.
    #[must_use]
    pub fn new(upstream: Upstream, model: impl Into<String>) -> Self {
        Self {
            upstream,
            model: model.into(),
            store: Arc::new(Memory::default()),
            error_frames: false,
        }
    }

    /// Sets where conversations are kept.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// Sets whether Meilisearch clients hear of a search that failed as the search engine says it,
    /// in an error frame. Clients built on OpenAI's libraries abort the whole answer on one, so by
    /// default it is a note in the text, as on every other front end.
    #[must_use]
    pub fn error_frames(mut self, send: bool) -> Self {
        self.error_frames = send;
        self
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Bridge {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.native::<Meilisearch>(reply) {
            Ok((request, reply)) => self.pass(request, reply).await,
            Err((request, reply)) => self.relay(&request, &reply).await,
        }
    }
}

/// What the user reads when there was no answer to be had.
pub(crate) fn sorry(error: UpstreamError) -> AgentError {
    let message = match &error {
        UpstreamError::Refused(_) => "The search engine refused the request.",
        UpstreamError::Garbage(_) => "The search engine sent something that cannot be read.",
        _ => "The search engine cannot be reached, or has stopped answering.",
    };
    AgentError::from(error).with_message(message)
}

/// What the user reads when the answer did not come to its end; nothing when it did.
pub(crate) fn verdict(outcome: &Outcome) -> Result<(), AgentError> {
    Err(AgentError::new(match outcome {
        Outcome::Answered(_) => return Ok(()),
        Outcome::Failed(failure) => format!("The model gave up: {}", reason(failure)),
        Outcome::Incomplete => "The search engine gave no answer.".to_owned(),
        _ => "The answer broke off.".to_owned(),
    }))
}

/// What the user reads of a search that failed while the answer goes on.
pub(crate) fn failed_search(message: &str) -> Notice {
    Notice::new(format!("A search failed: {message}")).code("search_failed")
}

/// What may be told of a failure: the provider's own words, but not the server's about its own
/// connections, which can hold addresses.
pub(crate) fn reason(failure: &Failure) -> &str {
    match failure.kind.as_str() {
        "transport_error" | "reqwest_error" | "internal_reqwest_error" => {
            "its provider cannot be reached."
        }
        "json_deserialize_error" | "invalid_utf8_error" | "parser_error" | "stream_ended" => {
            "its provider's answer broke off."
        }
        _ => &failure.message,
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("upstream", &self.upstream)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
