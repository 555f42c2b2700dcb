//! Mounts agents for OpenAI clients.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::{Method, Response, StatusCode};

use super::endpoint::{Call, Document, Endpoint};
use super::{MountError, Router, json, stream};
use crate::agent::{Agent, Body, Request};
use crate::openai::{self, Accumulator, Content, ErrorObject, Event, Model, OpenAi};
use crate::protocol::{EventDecoder, EventError, Protocol, Refusal};
use crate::sse::Decoder;

/// An agent and the name that it is asked for by.
#[derive(Clone)]
pub(super) struct Mounted {
    model: Model,
    agent: Arc<dyn Agent<OpenAi>>,
}

impl Router {
    /// Mounts an agent for OpenAI clients, as a model.
    ///
    /// It answers at `POST /v1/chat/completions`, with `stream` and without, and is listed at
    /// `GET /v1/models`. Several agents share these paths: the request's `model` says which one
    /// answers, the first one when it says nothing. To mount one agent under several names, mount
    /// clones of an `Arc`.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the model is mounted already, or something else has the path.
    pub fn openai(
        mut self,
        model: impl Into<Model>,
        agent: impl Agent<OpenAi> + 'static,
    ) -> Result<Self, MountError> {
        let model = model.into();
        let base = model.base_path().to_owned();
        let agent = Arc::new(agent);
        let mut mounted = self.edit().openai.clone();
        let others = mounted
            .iter()
            .filter(|other| other.model.base_path() == base);
        if others.clone().any(|other| other.model.id() == model.id()) {
            return Err(MountError::Taken);
        }
        let paths = [
            (Method::POST, format!("{base}/chat/completions")),
            (Method::GET, format!("{base}/models")),
            (Method::GET, format!("{base}/models/{{model}}")),
        ];
        if others.count() > 0 {
            // The endpoints know every model: the newest replace the ones before.
            for (method, path) in &paths {
                self.unroute(method, path)?;
            }
        }
        mounted.push(Mounted { model, agent });
        let here: Vec<Mounted> = mounted
            .iter()
            .filter(|other| other.model.base_path() == base)
            .cloned()
            .collect();
        let list = openai::documents(here.iter().map(|mounted| &mounted.model));
        let [(post, completions), (get, models), (get_one, one)] = paths;
        self.route(get, &models, Document(Bytes::from(list)))?;
        self.route(get_one, &one, OneModel(here.clone()))?;
        self.route(post, &completions, Completions(here))?;
        self.edit().openai = mounted;
        Ok(self)
    }
}

/// `POST /v1/chat/completions`.
struct Completions(Vec<Mounted>);

#[async_trait]
impl Endpoint for Completions {
    async fn call(&self, call: Call) -> Response<Body> {
        let mut message = match OpenAi::read(&call.parts, call.body) {
            Ok(message) => message,
            Err(refusal) => return self.refuse(&refusal),
        };
        let mounted = match find(&self.0, &message.model) {
            Ok(mounted) => mounted,
            Err(refusal) => return self.refuse(&refusal),
        };
        if message.model.is_empty() {
            mounted.model.id().clone_into(&mut message.model);
        }
        let streaming = message.is_stream();
        let request = Request::<OpenAi>::from_parts(call.parts, message).with_params(call.params);
        let body = Body::run(Arc::clone(&mounted.agent), request, &call.env);
        if streaming {
            stream(body)
        } else {
            collect(body).await
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        json(refusal.status(), OpenAi::refuse(refusal))
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(OpenAi::NAME)
    }
}

/// `GET /v1/models/{model}`.
struct OneModel(Vec<Mounted>);

#[async_trait]
impl Endpoint for OneModel {
    async fn call(&self, call: Call) -> Response<Body> {
        let name = call.params.first().map_or("", |(_, name)| name);
        match find(&self.0, name) {
            Ok(mounted) => json(StatusCode::OK, mounted.model.document()),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        json(refusal.status(), OpenAi::refuse(refusal))
    }
}

/// The agent that a request asks for; the first one when it does not say.
fn find<'a>(mounted: &'a [Mounted], model: &str) -> Result<&'a Mounted, Refusal> {
    mounted
        .iter()
        .find(|mounted| model.is_empty() || mounted.model.id() == model)
        .ok_or_else(|| {
            Refusal::new(StatusCode::NOT_FOUND, "no such model")
                .code("model_not_found")
                .at("model")
        })
}

/// Runs a reply to its end and answers with all of it at once.
async fn collect(body: Body) -> Response<Body> {
    match completion(body).await {
        Ok(completion) => json(StatusCode::OK, completion),
        Err(error) => json(StatusCode::INTERNAL_SERVER_ERROR, error.to_json()),
    }
}

async fn completion(mut body: Body) -> Result<Vec<u8>, ErrorObject> {
    // What the agent says is no input: no limit holds but memory.
    let mut decoder = EventDecoder::<OpenAi>::from_frames(Decoder::with_budget(usize::MAX));
    let mut whole = Accumulator::with_limit(usize::MAX);
    let odd = |_: EventError| ErrorObject::new("the answer cannot be read");
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
        let mut input = &*frame;
        while let Some(event) = decoder.next(&mut input).map_err(odd)? {
            match event {
                Event::Chunk(chunk) => {
                    let _ = whole.push(&chunk);
                }
                Event::Error(error) => return Err(error),
                Event::Done => {}
            }
        }
    }
    let mut completion = whole.finish();
    for choice in &mut completion.choices {
        let message = &mut choice.message;
        let instead = !message.tool_calls.is_empty() || message.refusal.is_some();
        // The empty text that the role comes with says nothing beside calls or a refusal.
        if instead && message.content.text().is_empty() {
            message.content = Content::Null;
        }
    }
    Ok(completion.to_json())
}
