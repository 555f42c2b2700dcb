//! The routes: chats, and the documents about models.

use copilot_wire::models::{self, Dialect, cards, unknown_model};
use copilot_wire::protocol::{Protocol, Refusal, date_time};
use copilot_wire::router::{Endpoint, HttpRequest, MountError, RouteKind, Site, json};
use copilot_wire::{Body, async_trait};
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::{ChatRequest, Ollama};

/// A model that an agent answers as, at `POST /api/chat`; listed at `GET /api/tags`, and described at
/// `POST /api/show`.
pub type Model = models::Model<Ollama>;

impl Dialect for Ollama {
    const BASE: &'static str = "/api";
    const PATH: &'static str = "/chat";

    fn model(request: &mut ChatRequest) -> &mut String {
        &mut request.model
    }

    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        let base = path.strip_suffix(Self::PATH).unwrap_or_default().to_owned();
        let path = |end: &str| format!("{base}/{end}");
        site.shared_route(Method::POST, &path("show"), Show(base.clone()))?;
        site.document(&path("version"), version)?;
        site.document(&path("tags"), {
            let base = base.clone();
            move |call| tags(call, &base)
        })
    }
}

/// Returns the version that the server reports: the first one with ids of calls.
fn version(_: &HttpRequest) -> Vec<u8> {
    json!({"version": "0.12.10"}).to_string().into()
}

fn tags(call: &HttpRequest, base: &str) -> Vec<u8> {
    let models = cards(call, base).map(|card| {
        json!({
            "name": card.id, "model": card.id, "modified_at": date_time(card.created), "size": 0, "digest": "",
            "details": details(),
        })
    });
    let models: Vec<_> = models.collect();
    json!({"models": models}).to_string().into()
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "",
        "quantization_level": "",
    })
}

struct Show(String);

#[async_trait]
impl Endpoint for Show {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let asked: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        // Older clients send `name`.
        let name = asked.get("model").or_else(|| asked.get("name"));
        let name = name.and_then(Value::as_str).unwrap_or_default();
        let name = name.strip_suffix(":latest").unwrap_or(name);
        let Some(card) = cards(&call, &self.0).find(|card| card.id == name) else {
            return self.refuse(&unknown_model());
        };
        let shown = json!({
            "modelfile": "", "parameters": "", "template": "", "details": details(), "model_info": {},
            "capabilities": ["completion", "tools", "thinking", "vision"], "modified_at": date_time(card.created),
        });
        json(StatusCode::OK, shown.to_string())
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Ollama::refuse(refusal).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}
