//! Mounting of agents by their descriptors.

use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderValue, Method, Response, StatusCode};

use super::{Descriptor, Feedback, OpenBb, descriptor};
use crate::agent::{Agent, Body};
use crate::protocol::AgentError;
use crate::router::{Endpoint, HttpRequest, Mount, MountError, Site, json};

/// The origins of the Workspace: the web app, the desktop app and local builds.
const ORIGINS: [&str; 5] = [
    "https://pro.openbb.co",
    "https://pro.openbb.dev",
    "http://localhost",
    "http://localhost:1420",
    "http://localhost:5050",
];

/// The descriptors of all agents of a router.
#[derive(Clone, Default)]
struct Descriptors(Vec<Descriptor>);

/// Mounts an agent at the descriptor's path, by default `POST /v1/query`. `GET /agents.json` and
/// `GET /copilots.json` list the descriptors of all agents of the router. A server may have several
/// agents, each at a path of its own.
///
/// Mounting fails with a [`MountError`] if the path is taken, or if the descriptor would make the
/// Workspace reject all agents of this server.
impl Mount for Descriptor {
    type Protocol = OpenBb;

    fn mount(self, agent: Arc<dyn Agent<OpenBb>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.named_agent(self.route(), &self.name, agent)?;
        // Requests come from the user's browser, which lets only pages of allowed origins read an answer.
        site.origins(ORIGINS.map(HeaderValue::from_static));
        let descriptors = &mut site.shared::<Descriptors>().0;
        descriptors.push(self);
        // Every mount checks all descriptors again: the Workspace validates the complete document, and the names of any
        // two agents can collide.
        descriptor::check_all(descriptors)?;
        site.document("/agents.json", |call| {
            descriptor::agents_json(&advertised(call))
        })?;
        site.document("/copilots.json", |call| {
            descriptor::copilots_json(&advertised(call))
        })
    }
}

/// Returns the descriptors with the paths at which clients reach this router.
fn advertised(call: &HttpRequest) -> Vec<Descriptor> {
    let descriptors = call.shared::<Descriptors>().cloned().unwrap_or_default();
    let mut descriptors = descriptors.0;
    for descriptor in &mut descriptors {
        for place in descriptor.places() {
            // Absolute URLs were set by the operator and are not changed.
            if place.starts_with('/') {
                *place = call.public_path(place);
            }
        }
    }
    descriptors
}

/// Returns a route for the users' feedback on answers, to be added with
/// [`Router::with`](crate::Router::with). The path, such as `/v1/feedback`, is the one that
/// [`Descriptor::feedback`] names.
///
/// If `take` fails, the user reads that the feedback was not accepted.
///
/// ```
/// use copilot_wire::{Router, openbb};
///
/// let router = Router::new().with(openbb::feedback("/v1/feedback", |feedback| async move {
///     println!("{}", feedback.vote.as_str());
///     Ok(())
/// }))?;
/// # let _ = router;
/// # Ok::<(), copilot_wire::router::MountError>(())
/// ```
pub fn feedback<F, R>(
    path: impl Into<String>,
    take: F,
) -> impl FnOnce(&mut Site<'_>) -> Result<(), MountError>
where
    F: Fn(Feedback) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let path = path.into();
    move |site| site.route(Method::POST, &path, FeedbackEndpoint(take))
}

struct FeedbackEndpoint<F>(F);

#[async_trait]
impl<F, R> Endpoint for FeedbackEndpoint<F>
where
    F: Fn(Feedback) -> R + Send + Sync,
    R: Future<Output = Result<(), AgentError>> + Send,
{
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let feedback = match Feedback::read(&call.parts.headers, &call.body) {
            Ok(feedback) => feedback,
            Err(refusal) => return self.refuse(&refusal),
        };
        // The closure is called inside the future, so that its panics are caught too.
        let taken = async { (self.0)(feedback).await };
        match call.run::<OpenBb, _>(taken).await {
            // The Workspace accepts any status 2xx.
            Ok(()) => json(StatusCode::OK, "{}"),
            Err(refusal) => self.refuse(&refusal),
        }
    }
}
