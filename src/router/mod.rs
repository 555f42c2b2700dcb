//! One HTTP request in, one response out: paths, CORS, limits and refusals.

mod cors;
mod endpoint;
mod guard;
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

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::header::ALLOW;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode};

use crate::agent::{Agent, Body, Reply, agent_fn};
use crate::protocol::{AgentError, Env, Outcome, Progress, Record, Refusal, Turn};
use guard::Guard;
use hosts::Hosts;
use intake::{Budget, Limits};
use path::{BasePath, Path};

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
    base: BasePath,
    guards: Vec<Guard>,
    limits: Limits,
    env: Env,
    /// The state that mounts share, by its type.
    shared: Extensions,
    /// The origins of the front ends that are mounted.
    origins: Vec<HeaderValue>,
}

#[derive(Clone)]
struct Route {
    method: Method,
    path: Path,
    /// The path as text, for reports.
    text: Arc<str>,
    /// The guards of the scope that it was added in.
    guards: Vec<Guard>,
    /// The type of the endpoint, if several mounts may add it.
    shared: Option<TypeId>,
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

    /// Sets the path below which clients reach this router, such as `/agents`: where a proxy or a
    /// framework serves other things beside it. The default is the root.
    ///
    /// Documents advertise paths below it. Requests are found whether or not it was stripped from their
    /// path on the way, so nothing else depends on how the proxy is set up. A trailing slash makes no
    /// difference.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// // In front: `proxy_pass http://127.0.0.1:7777/;` or `nest_service("/agents", router)`, which
    /// // strip the path, or `proxy_pass http://127.0.0.1:7777;`, which does not.
    /// let router = Router::new().base_path("/agents");
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn base_path(mut self, path: &str) -> Self {
        self.edit().base = BasePath::new(path);
        self
    }

    /// Adds a guard: a check of the head of every request, before its body is read. It returns the
    /// head, in whose extensions it may leave what it found out, or refuses the request in the form
    /// that clients of the route read.
    ///
    /// Guards run in the order in which they were added, on every route, documents among them, also on
    /// those that are mounted later; only preflights pass without. [`Site::guard`] adds one to some
    /// agents. What a guard leaves in the extensions is dropped when the turn is over, which makes a
    /// permit there a limit on turns.
    ///
    /// ```
    /// use copilot_wire::Router;
    /// use copilot_wire::protocol::Refusal;
    /// use http::StatusCode;
    ///
    /// let router = Router::new().guard(async |parts: http::request::Parts| {
    ///     match parts.headers.contains_key("x-api-key") {
    ///         true => Ok(parts),
    ///         false => Err(Refusal::new(StatusCode::UNAUTHORIZED, "an API key is missing")),
    ///     }
    /// });
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn guard<F, R>(mut self, check: F) -> Self
    where
        F: Fn(Parts) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Parts, Refusal>> + Send + 'static,
    {
        self.edit().guards.push(Guard::new(check));
        self
    }

    /// Sets the size in bytes up to which a request body is read. The default is 32 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.edit().limits.size = bytes;
        self
    }

    /// Sets the memory in bytes that all request bodies may have together, from their first byte until
    /// the agents have dropped their requests. The default is 256 MiB.
    ///
    /// One body may have as much as it leaves to others. What does not fit is refused with status 503:
    /// so however many uploads stall, small requests are still read.
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.edit().limits.budget = Budget::new(bytes);
        self
    }

    /// Sets the time within which a request body must have arrived; what takes longer is refused with
    /// status 408. The default is 60 seconds. It needs a timer, see [`Environment::ticks`].
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.edit().limits.timeout = timeout;
        self
    }

    /// Sets the environment: time, randomness and the timer. Observers that were added before stay.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        let inner = self.edit();
        inner.env = env.with_observers_of(&inner.env);
        self
    }

    /// Adds an observer: it is called once for every turn, when the turn is over, with how it ended and
    /// what it took. See [`Env::observe`].
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// let router = Router::new().observe(|turn| {
    ///     println!("{turn}, {} bytes in {:?}", turn.bytes, turn.duration);
    /// });
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Turn<'_>) + Send + Sync + 'static) -> Self {
        let inner = self.edit();
        inner.env = std::mem::take(&mut inner.env).observe(observer);
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
        self.with(|site| site.mount(what, agent))
    }

    /// Mounts a function as an agent, see [`agent_fn`].
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

    /// Adds routes of any kind, and agents that share [guards](Site::guard):
    ///
    /// ```
    /// # use copilot_wire::router::{Mount, MountError};
    /// # use copilot_wire::protocol::Refusal;
    /// # use copilot_wire::{Agent, Router};
    /// # use http::StatusCode;
    /// # fn server<M: Mount>(
    /// #     what: M,
    /// #     agent: impl Agent<M::Protocol> + 'static,
    /// # ) -> Result<Router, MountError> {
    /// Router::new().with(|site| {
    ///     site.guard(async |parts: http::request::Parts| {
    ///         match parts.headers.contains_key("x-staff") {
    ///             true => Ok(parts),
    ///             false => Err(Refusal::new(StatusCode::FORBIDDEN, "for staff only")),
    ///         }
    ///     });
    ///     site.mount(what, agent)
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `add`.
    pub fn with<E>(mut self, add: impl FnOnce(&mut Site<'_>) -> Result<(), E>) -> Result<Self, E> {
        add(&mut Site {
            router: self.edit(),
            guards: Vec::new(),
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
            Found::Route(route, params) => self.answer(route, params, parts, body).await,
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

    async fn answer<B, D, E>(
        &self,
        route: &Route,
        params: Params,
        parts: Parts,
        body: B,
    ) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let endpoint = &route.endpoint;
        let protocol = endpoint.protocol();
        let record = protocol.map(|protocol| Record::new(&self.inner.env, protocol));
        let response = match self.inner.admit(route, parts, body).await {
            Ok((parts, body)) => {
                let call = Call {
                    parts,
                    params,
                    body,
                    path: Arc::clone(&route.text),
                    router: self.clone(),
                };
                endpoint.call(call).await
            }
            Err(refusal) => endpoint.refuse(&refusal),
        };
        // The turn of an agent that answers is reported when it is over.
        if let (Some(record), Some(refusal)) = (record, response.extensions().get::<Refusal>()) {
            let record = record.path(Some(Arc::clone(&route.text)));
            let bytes = response.body().size().unwrap_or_default();
            let progress = Progress {
                bytes,
                ..Progress::default()
            };
            record.finish(Outcome::Refused(refusal), progress);
        }
        response
    }
}

type Params = Vec<(Box<str>, Box<str>)>;

enum Found<'a> {
    Route(&'a Route, Params),
    Preflight,
    OtherMethods(HeaderValue),
    Nothing,
    OtherHost,
}

impl Inner {
    /// Lets a request pass, and reads its body.
    async fn admit<B, D, E>(
        &self,
        route: &Route,
        mut parts: Parts,
        body: B,
    ) -> Result<(Parts, Bytes), Refusal>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        for guard in self.guards.iter().chain(&route.guards) {
            parts = guard.check(parts).await?;
        }
        route.endpoint.admit(&parts)?;
        let body = self.limits.read(&parts, body, &self.env).await?;
        Ok((parts, body))
    }

    fn find(&self, request: &Parts) -> Found<'_> {
        if !self.hosts.take(request) {
            return Found::OtherHost;
        }
        let mut found = Found::Nothing;
        for path in self.base.strip(request.uri.path()) {
            found = self.find_at(&request.method, path);
            if !matches!(found, Found::Nothing) {
                break;
            }
        }
        found
    }

    fn find_at(&self, method: &Method, path: &str) -> Found<'_> {
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
    let json = HeaderValue::from_static("application/json");
    refusal.to_response(json, refusal.to_json()).map(Body::full)
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.routes.iter().map(|route| (&route.method, &route.path)))
            .finish()
    }
}
