//! The agent.

use std::fmt;
use std::sync::Arc;

use copilot_wire::anthropic::{self, Anthropic, Stop, StopReason};
use copilot_wire::openai::FinishReason;
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::{self, Responses};
use copilot_wire::{Agent, Reply, Request, async_trait};

use crate::failure::told;
use crate::parameters::parameters;
use crate::{Memory, Store, Upstream};

/// Answers from a Meilisearch workspace, on every front end.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) upstream: Upstream,
    pub(crate) model: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) error_frames: bool,
    pub(crate) shared_key: bool,
}

impl Bridge {
    /// Creates a bridge that asks for `model`, by its name at the workspace's provider.
    pub fn new(upstream: Upstream, model: impl Into<String>) -> Self {
        Self {
            upstream,
            model: model.into(),
            store: Arc::new(Memory::default()),
            error_frames: false,
            shared_key: false,
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

    /// Sets whether Meilisearch clients, too, are answered with the key of the [`Upstream`], whatever key they
    /// bring, or none. By default the search engine is asked with the client's key: it refuses a wrong one, and a
    /// tenant token finds what its filter allows.
    ///
    /// The other front ends have no key of the search engine, and are always answered with that of the
    /// [`Upstream`]. Who reaches them reads what it may read.
    #[must_use]
    pub fn shared_key(mut self, shared: bool) -> Self {
        self.shared_key = shared;
        self
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Bridge {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let parameters = parameters(&*request);
        let answered = self.relay(&request, &reply, parameters).await?;
        end(request, reply, answered.map_err(told)?).await
    }
}

/// Ends the turn for this reason, in the way of the front end.
async fn end<P: Protocol>(
    request: Request<P>,
    reply: Reply<P>,
    reason: FinishReason,
) -> Result<(), AgentError> {
    let (request, reply) = match request.native::<OpenAi>(reply) {
        Ok((_, reply)) => return Ok(reply.end(reason)?),
        Err(pair) => pair,
    };
    // The others have a word only for an answer that is not whole; without a word it is told in text.
    let (incomplete, stop, note) = match reason {
        FinishReason::Length => (
            "max_output_tokens",
            StopReason::MaxTokens,
            "(The answer is cut off: it reached the model's limit.)",
        ),
        FinishReason::ContentFilter => (
            "content_filter",
            StopReason::Refusal,
            "(A filter withheld the rest of the answer.)",
        ),
        _ => return Ok(()),
    };
    let (request, reply) = match request.native::<Responses>(reply) {
        Ok((_, reply)) => {
            return Ok(reply.end(responses::Ending::Incomplete(incomplete.to_owned()))?);
        }
        Err(pair) => pair,
    };
    let reply = match request.native::<Anthropic>(reply) {
        Ok((_, reply)) => return Ok(reply.end(anthropic::Ending::Stop(Stop::from(stop)))?),
        Err((_, reply)) => reply,
    };
    Ok(reply.text(&format!("\n\n{note}")).await?)
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("upstream", &self.upstream)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
