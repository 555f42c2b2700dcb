//! Mounting an agent as a model.

use http::Method;
#[cfg(feature = "resumable")]
use http::Response;

use super::compact::Compact;
#[cfg(feature = "resumable")]
use super::stored;
use super::{Responses, ResponsesRequest, Storage, routes, session, socket, stored_turn};
#[cfg(feature = "resumable")]
use crate::agent::Body;
use crate::conversations::{Recording, UserConversations};
use crate::models::{self, Dialect, TokenCounts};
use crate::protocol::{Env, Refusal};
use crate::router::{MountError, Site};

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
        site.socket(path, socket::ResponsesSocket::default)?;
        let counts = TokenCounts::<Self>::new(Some("response.input_tokens"));
        site.shared_route(Method::POST, &format!("{path}/input_tokens"), counts)?;
        site.shared_route(Method::POST, &format!("{path}/compact"), Compact)?;
        #[cfg(feature = "resumable")]
        routes::mount_replies(path, site)?;
        routes::mount(path, site)
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

    fn prepared(request: &ResponsesRequest, storage: &Storage, env: &Env) -> Option<Vec<u8>> {
        let generate = request.unknown.get("generate")?;
        (generate.as_bool() == Some(false)).then(|| session::prepared(request, storage, env))
    }

    fn model(request: &mut ResponsesRequest) -> &mut String {
        &mut request.model
    }
}
