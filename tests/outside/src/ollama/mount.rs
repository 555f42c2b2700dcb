//! The routes: chats, and the documents about models.

use std::sync::Arc;

use copilot_wire::protocol::{Protocol, Refusal};
use copilot_wire::router::{Call, Endpoint, Mount, MountError, RouteKind, Site};
use copilot_wire::{Agent, Body, async_trait};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::Ollama;
use super::date::date_time;

/// The version that the server reports: the first one with ids of calls.
const VERSION: &str = "0.12.10";

/// A model that an agent answers as, at `POST /api/chat`; listed at `GET /api/tags`, and described at
/// `POST /api/show`.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    base: String,
}

impl Model {
    /// Creates a model with this name. Clients may add `:latest`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base: String::new(),
        }
    }

    /// Sets the path before `/api/chat` and the other paths: the host of a client may have one. Empty by default.
    #[must_use]
    pub fn base(mut self, path: impl Into<String>) -> Self {
        self.base = path.into();
        self
    }
}

/// The models of a router.
#[derive(Clone, Default)]
struct Models(Vec<(Model, Arc<dyn Agent<Ollama>>)>);

impl Models {
    fn at<'a>(
        &'a self,
        base: &'a str,
    ) -> impl Iterator<Item = &'a (Model, Arc<dyn Agent<Ollama>>)> {
        self.0.iter().filter(move |(model, _)| model.base == base)
    }

    fn find(&self, base: &str, name: &str) -> Option<&Arc<dyn Agent<Ollama>>> {
        let name = name.strip_suffix(":latest").unwrap_or(name);
        let mut models = self.0.iter();
        let found = models.find(|(model, _)| model.base == base && model.name == name);
        found.map(|(_, agent)| agent)
    }
}

impl Mount for Model {
    type Protocol = Ollama;

    fn mount(self, agent: Arc<dyn Agent<Ollama>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let Self { name, base } = self.clone();
        let models = site.shared::<Models>();
        if models.find(&base, &name).is_some() {
            let message = format!("model already mounted: {name}");
            return Err(MountError::Invalid(message));
        }
        models.0.push((self, agent));
        let path = |end: &str| format!("{base}/api/{end}");
        site.shared_route(Method::POST, &path("chat"), Chat(base.clone()))?;
        site.shared_route(Method::POST, &path("show"), Show(base.clone()))?;
        site.document(&path("version"), version)?;
        let tags_path = path("tags");
        site.document(&tags_path, move |call| tags(call, &base))
    }
}

fn tags(call: &Call, base: &str) -> Vec<u8> {
    let models = call.shared::<Models>().into_iter();
    let models = models.flat_map(|models| models.at(base)).map(|(Model { name, .. }, _)| {
        json!({
            "name": name, "model": name, "modified_at": date_time(0), "size": 0, "digest": "", "details": details(),
        })
    });
    json!({"models": models.collect::<Vec<_>>()})
        .to_string()
        .into()
}

fn version(_: &Call) -> Vec<u8> {
    json!({"version": VERSION}).to_string().into()
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "",
        "quantization_level": "",
    })
}

fn unknown(name: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("model '{name}' not found"))
}

fn refuse(refusal: &Refusal) -> Response<Body> {
    Ollama::refuse(refusal).map(Body::full)
}

struct Chat(String);

#[async_trait]
impl Endpoint for Chat {
    async fn call(&self, mut call: Call) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        let request = match Ollama::read(&call.parts, body) {
            Ok(request) => request,
            Err(refusal) => return refuse(&refusal),
        };
        let models = call.shared::<Models>();
        match models.and_then(|models| models.find(&self.0, &request.model)) {
            Some(agent) => {
                let agent = Arc::clone(agent);
                call.answer_request(agent, request, ()).await
            }
            None => refuse(&unknown(&request.model)),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(Ollama::NAME)
    }
}

struct Show(String);

#[async_trait]
impl Endpoint for Show {
    async fn call(&self, call: Call) -> Response<Body> {
        let asked: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        // Older clients send `name`.
        let name = asked.get("model").or_else(|| asked.get("name"));
        let name = name.and_then(Value::as_str).unwrap_or_default();
        let models = call.shared::<Models>();
        if models
            .and_then(|models| models.find(&self.0, name))
            .is_none()
        {
            return refuse(&unknown(name));
        }
        let shown = json!({
            "modelfile": "", "parameters": "", "template": "", "details": details(), "model_info": {},
            "capabilities": ["completion", "tools", "thinking", "vision"], "modified_at": date_time(0),
        });
        let mut response = Response::new(Body::full(shown.to_string()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}
