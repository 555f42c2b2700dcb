//! One HTTP request in, one response out: paths, CORS, limits and refusals.

mod cors;
mod endpoint;
#[cfg(feature = "github")]
mod github;
mod hosts;
#[cfg(feature = "http-body")]
mod http_body;
mod intake;
#[cfg(feature = "meilisearch")]
mod meilisearch;
#[cfg(feature = "openai")]
mod openai;
#[cfg(feature = "openbb")]
mod openbb;
mod path;
#[cfg(feature = "playground")]
mod playground;
#[cfg(feature = "tower")]
mod tower;

pub use cors::Cors;
pub use path::MountError;

use std::fmt;
use std::sync::Arc;

use bytes::Buf;
use futures_core::Stream;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};

use crate::agent::Body;
use crate::protocol::{Env, Refusal};
use endpoint::{Call, Endpoint};
use hosts::Hosts;
use path::Path;

/// What a router does to every request and response.
///
/// Mount agents on it, then hand it every request of the server:
///
#[cfg_attr(feature = "openbb", doc = "```")]
#[cfg_attr(not(feature = "openbb"), doc = "```ignore")]
/// # use copilot_wire::protocol::{AgentError, Conversation, Protocol};
/// # use copilot_wire::{Agent, Reply, Request, async_trait};
/// # struct Echo;
/// # #[async_trait]
/// # impl<P: Protocol> Agent<P> for Echo {
/// #     async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
/// #         Ok(reply.text("hello").await?)
/// #     }
/// # }
/// use copilot_wire::Router;
/// use copilot_wire::openbb::Descriptor;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Router::new().openbb(Descriptor::new("echo", "Echo", "Repeats what you say"), Echo)?;
/// # Ok(()) }
/// ```
///
/// Cloning a router is cheap: clones share everything.
#[derive(Clone, Debug, Default)]
pub struct Router {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    routes: Vec<Route>,
    cors: Cors,
    hosts: Hosts,
    limit: Limit,
    env: Env,
    #[cfg(feature = "openai")]
    openai: Vec<openai::Mounted>,
    #[cfg(feature = "openbb")]
    openbb: Vec<crate::openbb::Descriptor>,
    #[cfg(feature = "playground")]
    playground: playground::Shown,
}

#[derive(Clone, Copy)]
struct Limit(usize);

impl Default for Limit {
    /// Nine megabytes of widget data in one request are real.
    fn default() -> Self {
        Self(32 * 1024 * 1024)
    }
}

#[derive(Clone)]
struct Route {
    method: Method,
    path: Path,
    endpoint: Arc<dyn Endpoint>,
}

impl Router {
    /// A router without routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who may call from a browser. The default is the origins of the OpenBB Workspace.
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.edit().cors = cors;
        self
    }

    /// Sets the hosts that requests may be for, without ports; others are refused with status 421.
    /// The default is any.
    ///
    /// A server on somebody's own machine needs this: a page of the web can have its own name lead
    /// to `127.0.0.1` (DNS rebinding), and its requests are then of one origin with the agent, so
    /// that CORS does not keep it out.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// let router = Router::new().hosts(["localhost", "127.0.0.1", "[::1]"]);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.edit().hosts = Hosts::of(hosts);
        self
    }

    /// Sets the size in bytes up to which a request body is read. The default is 32 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.edit().limit = Limit(bytes);
        self
    }

    /// Sets the environment: time, randomness, the keep-alive timer, and who hears of incidents.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        self.edit().env = env;
        self
    }

    fn edit(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// Adds a route; no two may have one method and one path.
    fn route(
        &mut self,
        method: Method,
        path: &str,
        endpoint: impl Endpoint + 'static,
    ) -> Result<(), MountError> {
        let path = Path::parse(path)?;
        let routes = &mut self.edit().routes;
        if routes
            .iter()
            .any(|route| route.method == method && route.path.overlaps(&path))
        {
            return Err(MountError::Taken);
        }
        routes.push(Route {
            method,
            path,
            endpoint: Arc::new(endpoint),
        });
        #[cfg(feature = "playground")]
        self.edit().list_fronts();
        Ok(())
    }

    /// Takes back a route that an earlier mount added at this very path, to make room for a newer one.
    #[cfg(any(feature = "openai", feature = "openbb"))]
    fn unroute(&mut self, method: &Method, path: &str) -> Result<(), MountError> {
        let path = Path::parse(path)?;
        let routes = &mut self.edit().routes;
        routes.retain(|route| route.method != *method || route.path != path);
        Ok(())
    }

    /// Answers one request.
    ///
    /// The request's body is any stream of byte buffers. It is read whole, up to the limit, before
    /// the agent starts. The response never fails: what is wrong with the request is its status.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request. An agent that streams has not started then: it runs
    /// in the body. What answers all at once (a completion without `stream`, a skill, feedback) runs
    /// in this future, and is dropped with it.
    pub async fn handle<B, D, E>(&self, request: Request<B>) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let inner = &*self.inner;
        let (parts, body) = request.into_parts();
        let origin = inner.cors.origin(&parts.headers);
        let mut response = match inner.find(&parts) {
            Found::Route(route, params) => match intake::read(&parts, body, inner.limit.0).await {
                Ok(body) => {
                    let call = Call {
                        parts,
                        params,
                        body,
                        env: inner.env.clone(),
                    };
                    route.endpoint.call(call).await
                }
                Err(refusal) => route.endpoint.refuse(&refusal),
            },
            Found::Preflight => inner.cors.preflight(&parts.headers),
            Found::OtherMethods(allow) => {
                let message = "method not allowed";
                let mut response = refuse(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
                response.headers_mut().insert(ALLOW, allow);
                response
            }
            Found::Nothing => refuse(&Refusal::new(StatusCode::NOT_FOUND, "no such path")),
            Found::OtherHost => {
                let message = "this server does not go by that host";
                refuse(&Refusal::new(StatusCode::MISDIRECTED_REQUEST, message))
            }
        };
        inner.cors.apply(origin, response.headers_mut());
        response
    }
}

enum Found<'a> {
    Route(&'a Route, Vec<(Box<str>, Box<str>)>),
    Preflight,
    OtherMethods(HeaderValue),
    Nothing,
    OtherHost,
}

impl Inner {
    fn find(&self, request: &Parts) -> Found<'_> {
        if !self.hosts.take(request) {
            return Found::OtherHost;
        }
        let (method, path) = (&request.method, request.uri.path());
        // A HEAD request is a GET whose body the server leaves out.
        let wanted = if *method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let mut allow = Vec::new();
        for route in &self.routes {
            let Some(params) = route.path.matches(path) else {
                continue;
            };
            if route.method == *wanted {
                return Found::Route(route, params);
            }
            allow.push(route.method.as_str());
            if route.method == Method::GET {
                allow.push("HEAD");
            }
        }
        if allow.is_empty() {
            return Found::Nothing;
        }
        if *method == Method::OPTIONS {
            return Found::Preflight;
        }
        allow.push("OPTIONS");
        match HeaderValue::from_str(&allow.join(", ")) {
            Ok(allow) => Found::OtherMethods(allow),
            Err(_) => Found::Nothing,
        }
    }
}

/// The parameters of a path, such as `workspace`, by a template.
#[cfg(feature = "testing")]
pub(crate) fn path_params(template: &str, path: &str) -> Vec<(Box<str>, Box<str>)> {
    let template = Path::parse(template).ok();
    template
        .and_then(|template| template.matches(path))
        .unwrap_or_default()
}

/// nginx holds responses back by default; this turns that off for the one response.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The response that a stream leaves in. Its head goes out before the agent's first word.
fn stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("identity"));
    response
}

/// A JSON document.
fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refuse(refusal: &Refusal) -> Response<Body> {
    json(refusal.status(), refusal.to_json())
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.routes.iter().map(|route| (&route.method, &route.path)))
            .finish()
    }
}
