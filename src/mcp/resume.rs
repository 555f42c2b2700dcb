//! Resuming the stream of a call.

use async_trait::async_trait;
use http::header::ALLOW;
use http::{HeaderValue, Response, StatusCode};

use super::endpoint::foreign;
use super::position::Position;
use super::protocol::lost;
use super::{Mcp, message};
use crate::agent::Body;
use crate::protocol::{Protocol as _, Refusal};
use crate::router::{self, Endpoint, HttpRequest, RouteKind};

/// `GET /mcp` with `last-event-id`: the events of a reply after that id.
pub(super) struct Resume;

#[async_trait]
impl Endpoint for Resume {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        if !call.is_origin_allowed() {
            return self.refuse(&foreign());
        }
        let last = message::header(&call.parts.headers, "last-event-id");
        let (Some(last), Some(replies)) = (last, call.replies(call.route())) else {
            // This server sends no stream that does not belong to a call.
            let status = StatusCode::METHOD_NOT_ALLOWED;
            let refusal = Refusal::new(status, "only with last-event-id");
            return self.refuse(&refusal.header(ALLOW, HeaderValue::from_static("POST")));
        };
        let Some(position) = Position::read(last) else {
            let message = "last-event-id is not one of this server";
            return self.refuse(&Refusal::new(StatusCode::BAD_REQUEST, message));
        };
        let id = replies.reply(&position.reply);
        if let (Ok(None), Some(call)) = (replies.state(&id).await, position.call()) {
            // Only a result ends the client's wait.
            let mut out = Vec::new();
            lost(call, &mut out);
            return router::stream::<Mcp>(Body::full(out));
        }
        // The stream waits for an unavailable store, and at last ends with a failure, which needs the id of the call.
        let first = format!("id: {last}\n\n");
        router::stream::<Mcp>(replies.tail_behind::<Mcp>(id, position.next, first))
    }

    /// Returns `false`: a `GET` request has no body.
    fn has_body(&self) -> bool {
        false
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Mcp::refuse(refusal).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Resume
    }
}
