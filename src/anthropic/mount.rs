//! Mounting of agents as models.

use async_trait::async_trait;
use http::{HeaderValue, Method, Response, StatusCode};

use super::{
    Anthropic, ContentBlock, Message, MessagesRequest, REQUEST_ID, SHOULD_RETRY, StopReason, Usage,
    new_id,
};
use crate::agent::Body;
use crate::json::model::object;
use crate::json::{Escape, ValueWriter};
use crate::models::{self, Dialect};
use crate::protocol::{Env, Protocol, Refusal};
use crate::router::{Call, Endpoint, MountError, Site, json};

/// A model for clients of Anthropic Messages: the name under which an agent is mounted.
///
/// The agent answers at `POST /v1/messages`, with or without a stream.
/// `POST /v1/messages/count_tokens` estimates tokens, and `GET /v1/models` lists the model. The
/// base URL for clients is the part before `/v1/messages`.
///
/// A request without `stream` for a single token, with which clients count tokens or test a key, is
/// answered without the agent.
///
/// ```
/// use copilot_wire::anthropic::Model;
///
/// let model = Model::new("analyst").path("/agents/v1/messages");
/// assert_eq!(model.id(), "analyst");
/// ```
pub type Model = models::Model<Anthropic>;

impl Model {
    /// Sets if clients may repeat a request whose stream failed. The default is `false`.
    ///
    /// The header that forbids it is sent before the agent runs, so it cannot depend on the
    /// failure. With `false`, a failure that the agent marks as
    /// [retryable](crate::protocol::AgentError::retryable) is not retried by clients that obey the
    /// header, such as Copilot's command line. With `true` these clients retry every failure in a
    /// stream, which repeats the side effects of the agent.
    #[must_use]
    pub fn retries(mut self, retries: bool) -> Self {
        self.may_retry = retries;
        self
    }
}

impl Dialect for Anthropic {
    const PATH: &'static str = "/messages";

    fn model(request: &mut MessagesRequest) -> &mut String {
        &mut request.model
    }

    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        site.shared_route(Method::POST, &format!("{path}/count_tokens"), CountTokens)
    }

    fn answer_itself(request: &MessagesRequest, env: &Env) -> Option<Response<Body>> {
        // Claude Code counts tokens with such requests, a dozen at once, where `count_tokens` is
        // missing. Each would run the agent.
        let is_probe = request.max_tokens == Some(1) && !request.is_stream();
        is_probe.then(|| json(StatusCode::OK, probed(request, env).to_json()))
    }

    fn finish(response: &mut Response<Body>, may_retry: bool, env: &Env) {
        // Only the stream of a turn: the header of a refusal was chosen by its status.
        if may_retry && response.status() == StatusCode::OK {
            response.headers_mut().remove(SHOULD_RETRY);
        }
        // Claude Code and Copilot display it with errors. Letters and digits are always a valid
        // header value.
        if let Ok(id) = HeaderValue::from_str(&new_id("req_", env)) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
    }
}

/// Answers a request for a single token without the agent.
fn probed(request: &MessagesRequest, env: &Env) -> Message {
    Message {
        id: new_id("msg_", env),
        role: "assistant".into(),
        model: request.model.clone(),
        content: vec![ContentBlock::text(".")].into(),
        stop_reason: Some(StopReason::MaxTokens),
        usage: Usage::new(request.estimated_tokens(), 1),
        ..Message::default()
    }
}

/// The endpoint `POST /v1/messages/count_tokens`: an estimate, the same for every model.
struct CountTokens;

#[async_trait]
impl Endpoint for CountTokens {
    async fn call(&self, mut call: Call) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        let request = match Anthropic::read(&call.parts, body) {
            Ok(request) => request,
            Err(refusal) => return self.refuse(&refusal),
        };
        let mut out = Vec::new();
        object(ValueWriter::new(&mut out, Escape::Json), |count| {
            count.u64("input_tokens", request.estimated_tokens());
        });
        json(StatusCode::OK, out)
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Anthropic::refuse(refusal).map(Body::full)
    }
}
