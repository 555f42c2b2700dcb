//! The common parts of the protocols of language models: agents mounted as models, the list of all models, and relays
//! of other servers' answers.
//!
//! A [`Model`] mounts an agent for one protocol. The models of all protocols share one list at `GET /v1/models`, which
//! contains each name once. A [`Relay`] relays the answer of a model, a [`Passthrough`] passes
//! it on as it came. A [`Toolset`] answers with a model that calls tools of the agent.

mod card;
mod chat;
#[cfg(feature = "tracing")]
mod contents;
mod free_text;
mod mount;
mod named;
mod passthrough;
mod profile;
mod prompt;
mod rate_limit;
mod refused;
mod relay;
mod relay_error;
pub(crate) mod setters;
mod tools;
mod upstream;

use std::marker::PhantomData;

#[cfg(feature = "resumable")]
use bytes::Bytes;
use http::Response;

use crate::agent::Body;
use crate::conversations::{Recording, UserConversations};
use crate::protocol::{Env, Protocol, Refusal};
use crate::router::{MountError, Site};

pub use card::{Card, Catalog, cards, unknown_model};
pub use chat::{chat, chat_with_contents};
pub use free_text::{free_text_arguments, free_text_input, free_text_tool};
#[allow(unused_imports, reason = "not every dialect counts tokens")]
pub(crate) use mount::{TokenCounts, estimated_tokens};
pub use passthrough::Passthrough;
#[allow(unused_imports, reason = "one dialect has it")]
pub(crate) use profile::NO_REASONING;
pub use profile::{CacheMarks, Effort, Names, Profile, ReasoningMember, Setting, SystemPlace};
pub use prompt::{
    PromptItem, PromptResult, file_note, prompt_items, prompt_options, texts, tool_choice, url_of,
};
pub use refused::{refused, retry_after, server_message};
pub use relay::Relay;
pub use relay_error::RelayError;
pub use tools::{AgentTool, Toolset};
pub use upstream::{Prompt, Upstream};

/// The text of an answer without text: an empty answer makes coding clients repeat the request or fail.
pub(crate) const NO_ANSWER: &str = "There is no answer.";

/// Returns the class of a refusal, in the two dialects whose classes are the same. Clients choose their exception by
/// the status.
pub fn error_class(refusal: &Refusal) -> &'static str {
    match refusal.status().as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// A protocol whose requests name a model.
pub trait Dialect: Protocol {
    /// The path of a client's base URL, below which [`Model::new`] mounts a model. `/v1` by default.
    const BASE: &'static str = "/v1";

    /// The path of requests below a client's base URL, such as `/chat/completions`.
    const PATH: &'static str;

    /// The format of the list of models for clients of this dialect, if it is not the common format with `object` and
    /// `data`. `None` by default.
    const CATALOG: Option<Catalog> = None;

    /// Returns the name of the header with a figure of a rate limit, which is `limit` or `remaining`, in a unit such as
    /// `requests`: by default the name that most servers use.
    const RATE_LIMIT: fn(figure: &str, unit: &str) -> String =
        |figure, unit| format!("x-ratelimit-{figure}-{unit}");

    /// Returns the name of the requested model; empty if the request has none.
    fn model(request: &mut Self::Request) -> &mut String;

    /// Adds further routes for a model at `path`. The default adds none.
    ///
    /// # Errors
    ///
    /// [`MountError`] if a path is taken.
    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        let _ = (path, site);
        Ok(())
    }

    /// Converts a request that wants only the beginning of its reply at first into a request for a stream. Returns
    /// `false` if it is not such a request, which is the default.
    #[cfg(feature = "resumable")]
    fn begin(request: &mut Self::Request) -> bool {
        let _ = request;
        false
    }

    /// Returns the document that answers such a [request](Self::begin), created from the first events of the reply.
    #[cfg(feature = "resumable")]
    fn begun(events: &[u8]) -> Response<Body> {
        Response::new(Body::full(Bytes::copy_from_slice(events)))
    }

    /// Adds the stored turns to a request that continues a conversation by an id. Returns the data that the session
    /// needs, and the recording of the new turn if it must be stored. Does nothing by default.
    ///
    /// It is called on a router with [conversations](crate::Router::conversations). On other routers the extensions of
    /// the head have no [`UserConversations`], and [`Protocol::read`] must refuse such a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] if the conversation cannot be continued.
    fn resume(
        request: &mut Self::Request,
        conversations: UserConversations,
    ) -> impl Future<Output = Result<(Self::Settings, Option<Recording>), Refusal>> + Send {
        let _ = (request, conversations);
        async { Ok((Self::Settings::default(), None)) }
    }

    /// Answers a request without the agent. The default returns `None`.
    fn answer_itself(request: &Self::Request, env: &Env) -> Option<Response<Body>> {
        let _ = (request, env);
        None
    }

    /// Returns the events of a stream that answers a request which only prepares the next request. No agent runs, but
    /// the turn is recorded as usual. `None` by default.
    fn prepared(request: &Self::Request, settings: &Self::Settings, env: &Env) -> Option<Vec<u8>> {
        let _ = (request, settings, env);
        None
    }

    /// Changes the head of a response. `may_retry` is `true` if clients may retry a failed request. Changes nothing by
    /// default.
    fn finish(response: &mut Response<Body>, may_retry: bool, env: &Env) {
        let _ = (response, may_retry, env);
    }
}

/// A model: the name under which an agent is mounted.
#[derive(Debug)]
#[must_use]
pub struct Model<P> {
    card: Card,
    path: String,
    /// `true` if the model answers requests for unknown names.
    is_catch_all: bool,
    /// `true` if clients may retry a failed request.
    pub(crate) may_retry: bool,
    dialect: PhantomData<fn() -> P>,
}

impl<P: Dialect> Model<P> {
    /// Creates a model.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            card: Card::new(id.into()),
            path: format!("{}{}", P::BASE, P::PATH),
            is_catch_all: false,
            may_retry: false,
            dialect: PhantomData,
        }
    }

    /// Sets the owner of the model.
    pub fn owned_by(mut self, owner: impl Into<String>) -> Self {
        self.card.owned_by = owner.into();
        self
    }

    /// Sets the creation time in seconds since 1970.
    pub fn created(mut self, unix_time: u64) -> Self {
        self.card.created = unix_time;
        self
    }

    /// Sets the path, which must end with [`Dialect::PATH`]. By default it is [`Dialect::BASE`] and [`Dialect::PATH`].
    /// The part before [`Dialect::PATH`] is the base URL for clients, and the models are listed below it.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Lets the model answer requests for every name that no other model has, such as the name of a small model that a
    /// coding client uses for small tasks. Only the model's own name is listed. The agent and the reply get the
    /// requested name. By default a request for an unknown name is refused with status 404.
    pub fn catch_all(mut self) -> Self {
        self.is_catch_all = true;
        self
    }

    /// Returns the name of the model.
    pub fn id(&self) -> &str {
        &self.card.id
    }

    /// Returns the path of the client's base URL; `None` if the path does not end with
    /// [`Dialect::PATH`].
    fn base_path(&self) -> Option<&str> {
        let path = self.path.strip_suffix('/').unwrap_or(&self.path);
        path.strip_suffix(P::PATH)
    }
}

impl<P> Clone for Model<P> {
    fn clone(&self) -> Self {
        Self {
            card: self.card.clone(),
            path: self.path.clone(),
            is_catch_all: self.is_catch_all,
            may_retry: self.may_retry,
            dialect: PhantomData,
        }
    }
}
