//! Mounting an agent as a model.

use async_trait::async_trait;
use http::header::{ALLOW, CONNECTION, UPGRADE};
use http::{HeaderValue, Method, Response, StatusCode};

#[cfg(feature = "resumable")]
use super::stored;
use super::{Responses, ResponsesRequest, Storage, retrieve, stored_turn};
use crate::agent::Body;
use crate::conversations::{Recording, UserConversations};
use crate::models::{self, Dialect};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::{Call, Endpoint, MountError, Site};

/// A model, as clients of the Responses API see it: the name that an agent is mounted under.
///
/// It answers at `POST /v1/responses` and is listed at `GET /v1/models`.
///
/// ```
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::{Agent, Reply, Request, Router, async_trait};
/// # struct Analyst;
/// # #[async_trait]
/// # impl<P: Protocol> Agent<P> for Analyst {
/// #     async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
/// #         Ok(reply.text("Up 3 %.").await?)
/// #     }
/// # }
/// use copilot_wire::responses::Model;
///
/// let router = Router::new().mount(Model::new("analyst"), Analyst)?;
/// # drop(router);
/// # Ok::<(), copilot_wire::router::MountError>(())
/// ```
pub type Model = models::Model<Responses>;

impl Dialect for Responses {
    const PATH: &'static str = "/responses";

    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        site.shared_route(Method::GET, path, NoSocket)?;
        #[cfg(feature = "resumable")]
        stored::mount(path, site)?;
        retrieve::mount(path, site)
    }

    #[cfg(feature = "resumable")]
    fn begin(request: &mut ResponsesRequest) -> bool {
        let begins = request.is_background() && !request.is_stream();
        if begins {
            // The reply is stored as a stream. The client then asks for it by its id, with or
            // without events.
            request.stream = Some(true);
        }
        begins
    }

    #[cfg(feature = "resumable")]
    fn begun(events: &[u8]) -> Response<Body> {
        stored::begun(events)
    }

    async fn resume(
        request: &mut ResponsesRequest,
        conversations: UserConversations,
    ) -> Result<(Storage, Option<Recording>), Refusal> {
        stored_turn::resume(request, conversations).await
    }

    fn model(request: &mut ResponsesRequest) -> &mut String {
        &mut request.model
    }
}

/// The endpoint `GET /v1/responses`, where Codex and the official clients open a WebSocket.
struct NoSocket;

#[async_trait]
impl Endpoint for NoSocket {
    async fn call(&self, call: Call) -> Response<Body> {
        let refuse = |status, message| self.refuse(&Refusal::new(status, message));
        if !call.parts.headers.contains_key(UPGRADE) {
            let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
            let allow = HeaderValue::from_static("POST, OPTIONS");
            response.headers_mut().insert(ALLOW, allow);
            return response;
        }
        // After 426 Codex posts its request at once; after any other status it first repeats the handshake, six
        // times, and after 400 it gives up.
        let message = "there are no WebSockets here: post the request";
        let mut response = refuse(StatusCode::UPGRADE_REQUIRED, message);
        let headers = response.headers_mut();
        // RFC 9110, section 15.5.22: the protocol that is required must be named, and section 7.8: `upgrade` needs
        // its connection option.
        headers.insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        Responses::refuse(refusal).map(Body::full)
    }

    fn has_body(&self) -> bool {
        false
    }
}
