//! Mounting an agent as a model.

#[cfg(feature = "resumable")]
use super::stored;
use super::{Responses, ResponsesRequest};
#[cfg(feature = "resumable")]
use crate::agent::Body;
use crate::models::{self, Dialect};
#[cfg(feature = "resumable")]
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

    #[cfg(feature = "resumable")]
    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        stored::mount(path, site)
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
    fn begun(events: &[u8]) -> http::Response<Body> {
        stored::begun(events)
    }

    fn model(request: &mut ResponsesRequest) -> &mut String {
        &mut request.model
    }
}
