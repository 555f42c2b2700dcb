//! The endpoints beside `POST /v1/responses` that answer without the agent.

use async_trait::async_trait;
use http::{Response, StatusCode};

use super::{Responses, ResponsesRequest, documents};
use crate::agent::Body;
use crate::json::wire::object;
use crate::json::{Escape, ValueWriter};
use crate::models::count_tokens;
use crate::protocol::{Conversation as _, HistoryItem, Protocol as _, Refusal};
use crate::router::{Endpoint, HttpRequest, RouteKind, json};

/// The endpoint `POST /v1/responses/input_tokens`: the number of the agent, or an estimate.
pub(super) struct InputTokens;

/// Returns an estimate of the tokens of a request: a quarter of the bytes of its texts, calls, results and tools, and
/// 1,600 for each image or file.
fn estimated_tokens(request: &ResponsesRequest) -> u64 {
    let (mut bytes, mut files) = (0, 0);
    for item in request.raw_history() {
        match item {
            HistoryItem::Message(message) => bytes += message.text.len(),
            HistoryItem::Reasoning(text) => bytes += text.len(),
            HistoryItem::Attachment(_) => files += 1,
            HistoryItem::Call(call) => bytes += call.name.len() + call.arguments.len(),
            HistoryItem::Result(result) => bytes += result.content.len(),
        }
    }
    for tool in request.tools() {
        let schema = tool.parameters.as_ref();
        bytes += tool.name.len() + tool.description.len();
        bytes += schema.map_or(0, |schema| schema.as_bytes().len());
    }
    (bytes / 4 + files * 1_600) as u64
}

#[async_trait]
impl Endpoint for InputTokens {
    async fn call(&self, mut call: HttpRequest) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        let request = match Responses::read(&call.parts, body) {
            Ok(request) => request,
            Err(refusal) => return self.refuse(&refusal),
        };
        let estimated = estimated_tokens(&request);
        let counted = count_tokens::<Responses>(call, request).await;
        let mut out = Vec::new();
        object(ValueWriter::new(&mut out, Escape::Json), |count| {
            count
                .str("object", "response.input_tokens")
                .u64("input_tokens", counted.unwrap_or(estimated));
        });
        json(StatusCode::OK, out)
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        documents::refuse(refusal)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Other
    }
}

/// The endpoint `POST /v1/responses/compact`, which is refused: a compacted conversation is for the model that has made
/// it, and an agent is no such model. Clients then summarize by a turn.
pub(super) struct Compact;

#[async_trait]
impl Endpoint for Compact {
    async fn call(&self, _: HttpRequest) -> Response<Body> {
        let message = "conversations are not compacted here: ask for a summary";
        let refusal = Refusal::new(StatusCode::NOT_FOUND, message);
        self.refuse(&refusal.code("unsupported_endpoint"))
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        documents::refuse(refusal)
    }
}
