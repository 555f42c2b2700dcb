//! One HTTP request in, one response out: paths, CORS, limits and refusals.

mod cors;
mod endpoint;
mod hosts;
#[cfg(feature = "http-body")]
mod http_body;
mod intake;
mod path;
#[cfg(feature = "playground")]
mod playground;
mod site;
#[cfg(feature = "tower")]
mod tower;

pub use cors::Cors;
pub(crate) use endpoint::json;
pub use endpoint::{Call, Endpoint};
pub use site::{Mount, MountError, Site};

use std::fmt;
use std::sync::Arc;

use bytes::Buf;
use futures_core::Stream;
use http::header::ALLOW;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode};

use crate::agent::{Agent, Body, Reply, agent_fn};
use crate::protocol::{AgentError, Env, Refusal};
use hosts::Hosts;
use path::Path;

/// Routes HTTP requests to mounted agents and returns their replies as streaming responses.
///
/// Mount agents on it, then pass it every request of the server:
///
/// ```
/// use copilot_wire::router::{Mount, MountError};
/// use copilot_wire::{Agent, Router};
///
/// fn server<M: Mount>(
///     what: M,
///     agent: impl Agent<M::Protocol> + 'static,
/// ) -> Result<Router, MountError> {
///     Router::new().body_limit(1024 * 1024).mount(what, agent)
/// }
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
    /// The state that mounts share, by its type.
    shared: Extensions,
    /// The origins of the front ends that are mounted.
    origins: Vec<HeaderValue>,
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

    /// Sets who may call from a browser. The default is the origins that mounts bring, see
    /// [`Site::origins`].
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

    /// Mounts an agent as what `what` says: a descriptor, a model, or any other [`Mount`].
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or `what` cannot be mounted beside what is
    /// mounted already.
    pub fn mount<M: Mount>(
        self,
        what: M,
        agent: impl Agent<M::Protocol> + 'static,
    ) -> Result<Self, MountError> {
        self.with(|site| what.mount(Arc::new(agent), site))
    }

    /// Mounts a function as an agent, see [`agent_fn`](crate::agent_fn).
    ///
    /// # Errors
    ///
    /// Those of [`mount`](Self::mount).
    pub fn mount_fn<M, F, Fut>(self, what: M, answer: F) -> Result<Self, MountError>
    where
        M: Mount,
        F: Fn(crate::Request<M::Protocol>, Reply<M::Protocol>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
    {
        self.mount(what, agent_fn(answer))
    }

    /// Adds routes of any kind.
    ///
    /// # Errors
    ///
    /// The error of `add`.
    pub fn with<E>(mut self, add: impl FnOnce(&mut Site<'_>) -> Result<(), E>) -> Result<Self, E> {
        add(&mut Site {
            router: self.edit(),
        })?;
        Ok(self)
    }

    /// Answers one request.
    ///
    /// The request's body is any stream of byte buffers. It is read whole, up to the limit, before
    /// the agent starts. The response never fails: what is wrong with the request is its status.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request. An agent that streams has not started then: it runs
    /// in the body. An answer that is one document is made in this future, and dropped with it.
    pub async fn handle<B, D, E>(&self, request: Request<B>) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let inner = &*self.inner;
        let (parts, body) = request.into_parts();
        let origin = inner.cors.origin(&parts.headers, &inner.origins);
        let mut response = match inner.find(&parts) {
            Found::Route(route, params) => match intake::read(&parts, body, inner.limit.0).await {
                Ok(body) => {
                    let call = Call {
                        parts,
                        params,
                        body,
                        router: self.clone(),
                    };
                    route.endpoint.call(call).await
                }
                Err(refusal) => route.endpoint.refuse(&refusal),
            },
            Found::Preflight => inner.cors.preflight(&parts.headers, &inner.origins),
            Found::OtherMethods(allow) => {
                let message = "method not allowed";
                let mut response = refuse(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
                response.headers_mut().insert(ALLOW, allow);
                response
            }
            Found::Nothing => refuse(&Refusal::new(StatusCode::NOT_FOUND, "no such path")),
            Found::OtherHost => {
                let message = "host not allowed";
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
