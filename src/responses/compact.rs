//! The endpoint for compacted conversations.

use async_trait::async_trait;
use http::{Response, StatusCode};

use super::documents;
use crate::agent::Body;
use crate::protocol::Refusal;
use crate::router::{Endpoint, HttpRequest};

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
