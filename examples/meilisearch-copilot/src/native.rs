//! From Meilisearch to Meilisearch.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use copilot_wire::meilisearch::{
    ApiError, ApiKey, ChatRequest, Ending, Event, Meilisearch, Message, Output, SearchFailure,
    StreamError, Unknown,
};
use copilot_wire::protocol::{AgentError, Protocol, Refusal};
use copilot_wire::router::{Endpoint, HttpRequest};
use copilot_wire::{Agent, Body, Reply, Request};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Response};

use crate::bridge::Bridge;
use crate::failure::{failed_search, is_temporary, told};
use crate::{Answer, Upstream, UpstreamError};

/// The route of Meilisearch clients: conversations are passed through with the client's key.
///
/// The client keeps its own history, and has switched on what it wants to hear. The search engine is asked
/// before the head of the response is sent, so that a refusal keeps its status and its body.
pub(crate) struct Native(pub(crate) Arc<Bridge>);

impl Native {
    pub(crate) const PATH: &'static str = "/chats/{workspace}/chat/completions";

    /// Returns the workspace with the key of the client.
    fn upstream(&self, headers: &HeaderMap) -> Result<Upstream, ApiError> {
        let upstream = self.0.upstream.clone();
        if self.0.shared_key {
            return Ok(upstream);
        }
        let value = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
        let key = value.and_then(|value| value.strip_prefix("Bearer "));
        let key = key.ok_or_else(ApiError::missing_authorization)?;
        let key = ApiKey::new(key).map_err(|_| ApiError::invalid_api_key())?;
        Ok(upstream.key(key))
    }

    /// Asks the search engine.
    ///
    /// # Errors
    ///
    /// A refusal of the search engine, which the client gets as it is. Any other failure becomes that of the turn.
    async fn ask(&self, call: &mut HttpRequest) -> Result<(ChatRequest, Passing), Refusal> {
        let bridge = &self.0;
        let upstream = self.upstream(&call.parts.headers)?;
        let mut chat = Meilisearch::read(&call.parts, std::mem::take(&mut call.body))?;
        if chat.model.is_empty() {
            chat.model.clone_from(&bridge.model);
        }
        chat.messages.retain(|message| !is_empty(message));
        // A page of a proxy has no code, and a refusal of our own key is not about the client.
        let is_ours = |error: &ApiError| {
            error.code.is_empty() || (bridge.shared_key && error.kind() == "auth")
        };
        let asked = match upstream.ask(&chat).await {
            Err(UpstreamError::Refused(error)) if !is_ours(&error) => {
                let is_temporary = is_temporary(error.status);
                let refusal = Refusal::from(error);
                return Err(match is_temporary {
                    true => refusal.retryable(),
                    false => refusal,
                });
            }
            asked => asked,
        };
        let passing = Passing {
            asked: Mutex::new(Some(asked)),
            error_frames: bridge.error_frames,
        };
        Ok((chat, passing))
    }
}

#[async_trait]
impl Endpoint for Native {
    async fn call(&self, mut call: HttpRequest) -> Response<Body> {
        match self.ask(&mut call).await {
            Ok((chat, passing)) => call.answer_request(Arc::new(passing), chat, ()).await,
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Meilisearch::refuse(refusal).map(Body::full)
    }

    /// Checks that there is a key, as Meilisearch does before it reads the body.
    fn admit(&self, parts: &Parts) -> Result<(), Refusal> {
        self.upstream(&parts.headers)?;
        Ok(())
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(Meilisearch::NAME)
    }
}

/// The agent of one turn, whose answer is on its way.
struct Passing {
    /// Taken by the turn.
    asked: Mutex<Option<Result<Answer, UpstreamError>>>,
    error_frames: bool,
}

#[async_trait]
impl Agent<Meilisearch> for Passing {
    async fn answer(
        &self,
        _: Request<Meilisearch>,
        reply: Reply<Meilisearch>,
    ) -> Result<(), AgentError> {
        let asked = self
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(asked) = asked else {
            return Ok(());
        };
        let mut answer = asked.map_err(told)?;
        while let Some(event) = answer.next().await.map_err(told)? {
            self.pass(event, &reply).await?;
        }
        match answer.outcome() {
            Ok(reason) => Ok(reply.end(reason)?),
            Err(UpstreamError::Failed(failure)) => {
                let error = UpstreamError::Failed(failure.clone());
                let mut shown = StreamError::new(&failure.kind, error.message());
                shown.code = failure.code;
                shown.param = failure.param;
                // The log has the reason; the front end has its own form of it.
                reply.end(Ending::Failure(shown))?;
                Err(told(error))
            }
            Err(error) => Err(told(error)),
        }
    }
}

impl Passing {
    /// Passes an event as it is. What is changed: failures keep their kind and code, but not the words of the
    /// server and the provider.
    async fn pass(&self, event: Event, reply: &Reply<Meilisearch>) -> Result<(), AgentError> {
        match event {
            Event::Text(text) => reply.text(&text).await?,
            Event::Refusal(text) => reply.send(Output::Refusal(text)).await?,
            Event::Progress(progress) => reply.send(progress).await?,
            Event::Append(append) => reply.send(append).await?,
            Event::Sources(sources) => reply.send(sources).await?,
            Event::RoundBreak => reply.send(Output::RoundBreak).await?,
            Event::Provider(provider) => reply.send(provider).await?,
            Event::Logprobs(logprobs) => reply.send(Output::Logprobs(logprobs)).await?,
            Event::Unknown(Unknown::Call(call)) => reply.send(Output::Call(call)).await?,
            Event::Error(failure) => {
                let notice = failed_search(failure.code.as_deref());
                match SearchFailure::try_from(failure) {
                    Ok(search) if self.error_frames => reply.send(search).await?,
                    Ok(_) => reply.error(notice).await?,
                    // One that is terminal is the outcome.
                    Err(_) => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns `true` for a message of the assistant that says and calls nothing. A client keeps one of a
/// turn that failed, and strict providers refuse every conversation that has one.
fn is_empty(message: &Message) -> bool {
    message.role() == "assistant"
        && message.text().is_none_or(|text| text.is_empty())
        && message.tool_calls().is_empty()
        && message.json().get("refusal").is_none_or(|it| it.is_null())
}
