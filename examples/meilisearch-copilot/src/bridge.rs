//! The agent.

use std::fmt;
use std::sync::Arc;

use copilot_wire::json::Members;
use copilot_wire::meilisearch::{FinishReason, Meilisearch};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};

use crate::failure::told;
use crate::{Memory, Store, Upstream};

/// Answers from a Meilisearch workspace, on every front end.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) upstream: Upstream,
    pub(crate) model: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) error_frames: bool,
}

impl Bridge {
    /// Creates a bridge that asks for `model`, by its name at the workspace's provider.
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
        let (request, reply) = match request.native::<Meilisearch>(reply) {
            Ok((request, reply)) => return self.pass(request, reply).await,
            Err(pair) => pair,
        };
        let (request, reply) = match request.native::<OpenAi>(reply) {
            Ok((request, reply)) => {
                let parameters = parameters(&request.unknown);
                let answered = self.relay(&request, &reply, parameters).await?;
                return Ok(reply.end(answered.map_err(told)?)?);
            }
            Err(pair) => pair,
        };
        let answered = self.relay(&request, &reply, Members::default()).await?;
        // A front end without finish reasons is told in text.
        let note = match answered.map_err(told)? {
            FinishReason::Length => "(The answer is cut off: it reached the model's limit.)",
            FinishReason::ContentFilter => "(A filter withheld the rest of the answer.)",
            _ => return Ok(()),
        };
        Ok(reply.text(&format!("\n\n{note}")).await?)
    }
}

/// Returns the members of an OpenAI request that say how the model shall answer.
///
/// Meilisearch 1.50 drops members that it does not know, and refuses some that a client may mean
/// otherwise: `tools`, several choices, other values of `reasoning_effort` and `service_tier`.
fn parameters(members: &Members) -> Members {
    const PARAMETERS: [&str; 11] = [
        "frequency_penalty",
        "logit_bias",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "presence_penalty",
        "response_format",
        "seed",
        "stop",
        "temperature",
        "top_p",
    ];
    let mut parameters = Members::new();
    for (name, value) in members.iter().filter(|(name, _)| PARAMETERS.contains(name)) {
        parameters.push(name, value.clone());
    }
    parameters
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("upstream", &self.upstream)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
