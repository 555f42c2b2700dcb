//! How an agent is mounted: as a model.

use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderValue, Method, Response, StatusCode};

use super::{
    Anthropic, ContentBlock, Message, MessagesRequest, Model, REQUEST_ID, SHOULD_RETRY, StopReason,
    Usage, new_id,
};
use crate::agent::{Agent, Body};
use crate::json::model::object;
use crate::json::{Escape, ValueWriter};
use crate::protocol::{Env, Protocol, Refusal};
use crate::router::{Call, Endpoint, Mount, MountError, Site, json};

type Mounted = (Model, Arc<dyn Agent<Anthropic>>);

/// The models of a router, each with its agent.
#[derive(Clone, Default)]
struct Models(Vec<Mounted>);

/// Answers at `POST /v1/messages`, as a stream or whole, and estimates tokens at
/// `POST /v1/messages/count_tokens`.
///
/// Several agents share these paths: the request's `model` says which one answers, the first one
/// when it says nothing. To mount one agent under several names, mount clones of an `Arc`.
///
/// A request without `stream` for a single token, such as a client sends to count tokens or to try a
/// key, is answered without the agent.
impl Mount for Model {
    type Protocol = Anthropic;

    fn mount(
        self,
        agent: Arc<dyn Agent<Anthropic>>,
        site: &mut Site<'_>,
    ) -> Result<(), MountError> {
        let path = self.path_text().to_owned();
        let models = site.shared::<Models>();
        if models.at(&path).any(|(model, _)| model.id() == self.id()) {
            let message = format!("model already mounted: {}", self.id());
            return Err(MountError::Invalid(message));
        }
        models.0.push((self, agent));
        let count = format!("{path}/count_tokens");
        site.shared_route(Method::POST, &count, CountTokens)?;
        site.shared_route(Method::POST, &path, Messages(path.clone()))
    }
}

impl Models {
    /// Returns the models at this path.
    fn at<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Mounted> {
        let models = self.0.iter();
        models.filter(move |(model, _)| model.path_text() == path)
    }
}

/// `POST /v1/messages` for all models of a path.
struct Messages(String);

impl Messages {
    /// Returns the model that a request asks for; the first one when it does not say.
    fn find<'a>(&'a self, call: &'a Call, id: &str) -> Result<&'a Mounted, Refusal> {
        let models = call.shared::<Models>().into_iter();
        let mut models = models.flat_map(|models| models.at(&self.0));
        let found = models.find(|(model, _)| id.is_empty() || model.id() == id);
        found.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no such model").at("model"))
    }

    async fn answer(&self, mut call: Call) -> Result<Response<Body>, Refusal> {
        let body = std::mem::take(&mut call.body);
        let mut request = Anthropic::read(&call.parts, body)?;
        let (model, agent) = self.find(&call, &request.model)?;
        if request.model.is_empty() {
            model.id().clone_into(&mut request.model);
        }
        if request.max_tokens == Some(1) && !request.is_stream() {
            return Ok(json(StatusCode::OK, probed(&request, call.env()).to_json()));
        }
        let (agent, may_retry) = (Arc::clone(agent), model.may_retry());
        let mut response = call.answer_request(agent, request).await;
        if may_retry && response.status() == StatusCode::OK {
            response.headers_mut().remove(SHOULD_RETRY);
        }
        Ok(response)
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

#[async_trait]
impl Endpoint for Messages {
    async fn call(&self, call: Call) -> Response<Body> {
        let id = new_id("req_", call.env());
        let answer = self.answer(call).await;
        let mut response = answer.unwrap_or_else(|refusal| self.refuse(&refusal));
        // Claude Code and Copilot show it with errors. Letters and digits always are a header value.
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Anthropic::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(Anthropic::NAME)
    }
}

/// `POST /v1/messages/count_tokens`: an estimate, the same for every model.
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
