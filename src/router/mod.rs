//! One HTTP request in, one response out: paths, CORS, limits and refusals.

mod admission;
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
pub mod socket;
#[cfg(feature = "tower")]
mod tower;
mod upload;

pub use cors::Cors;
pub(crate) use endpoint::AgentEndpoint;
pub use endpoint::{Call, Endpoint, RouteKind, json, stream};
pub use site::{Mount, MountError, Site};

use std::any::TypeId;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use futures_core::Stream;
use http::header::ALLOW;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode};

use crate::agent::{Agent, Body, Reply, Turns, agent_fn};
use crate::conversations::{Connections, Conversations};
use crate::protocol::consent::Consent;
use crate::protocol::{AgentError, Env, Outcome, Progress, Record, Refusal, Turn};
#[cfg(feature = "resumable")]
use crate::replies::Replies;
use guard::Guard;
use hosts::Hosts;
use intake::{Budget, Limits};
use path::{BasePath, Path};
pub use path::{escape_segment, path_params};
use upload::Upload;

/// The time for which a shutdown waits for clients to read the ends of their turns.
const UNREAD: Duration = Duration::from_secs(5);

/// Routes HTTP requests to mounted agents and returns their replies as streaming responses.
///
/// Mount agents on it, then pass every request of the server to it:
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
    /// The paths whose `POST` routes have a WebSocket.
    sockets: Vec<(Path, socket::Factory)>,
    /// The turns that are kept for connections.
    connections: Connections,
    cors: Cors,
    hosts: Hosts,
    base: BasePath,
    guards: Vec<Guard>,
    limits: Limits,
    env: Env,
    consent: Consent,
    turns: Turns,
    /// `None` for any number.
    max_turns: Option<usize>,
    /// `None` for the default.
    first_output_timeout: Option<Duration>,
    #[cfg(feature = "resumable")]
    replies: Option<Replies>,
    conversations: Option<Conversations>,
    /// The state that mounts share, by type.
    shared: Extensions,
    /// The origins of the mounted front ends.
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
    /// The stores of which the router needs one for the route to exist.
    needs: Option<Needs>,
    endpoint: Arc<dyn Endpoint>,
}

/// Stores of a router.
#[derive(Clone, Copy, Default)]
struct Needs {
    #[cfg(feature = "resumable")]
    replies: bool,
    conversations: bool,
}

impl Router {
    /// Creates a router without routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the origins that may call from a browser. The default is those of the mounts, see
    /// [`Site::origins`].
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.edit().cors = cors;
        self
    }

    /// Sets the hosts that requests may be for, without ports. Others are refused with status 421.
    /// The default is any.
    ///
    /// A server on a user's own machine needs this: a web page can let its own name resolve
    /// to `127.0.0.1` (DNS rebinding). Its requests then have the origin of the agent, so
    /// CORS does not reject them.
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

    /// Sets the path below which clients reach this router, such as `/agents`, if a proxy or a
    /// framework serves other things on the same host. The default is the root.
    ///
    /// Documents advertise paths below it. Requests match whether or not it was stripped from their
    /// path on the way, so nothing else depends on the configuration of the proxy. A trailing slash makes no
    /// difference.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// // In front: `proxy_pass http://127.0.0.1:7777/;`, which strips the path, or without the slash at its end,
    /// // which does not.
    /// let router = Router::new().base_path("/agents");
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn base_path(mut self, path: &str) -> Self {
        self.edit().base = BasePath::new(path);
        self
    }

    /// Adds a guard: an async check of the head of every request, before its body is read. It returns the
    /// head, to whose extensions it may add its findings, or refuses the request in the form
    /// that clients of the route read.
    ///
    /// Guards run in the order in which they were added, on every route, including documents and
    /// routes that are mounted later; only preflights are exempt. A path or a method without a route is refused
    /// without them. [`Site::guard`] adds one to some
    /// agents. The [`RouteKind`] in the extensions says what the route is for, so that a limit of turns can let stops
    /// and resumed replies pass; [`max_turns`](Self::max_turns) is such a limit.
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

    /// Sets the limit of a request body in bytes; a larger one is refused with status 413. The default is
    /// 32 MiB. Routes may have [less](Endpoint::body_limit).
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.edit().limits.size = bytes;
        self
    }

    /// Sets the limit of the memory of all request bodies together in bytes, from their first byte until
    /// the agents drop their requests. The default is 256 MiB.
    ///
    /// One body may take half of what is free. A body that does not fit is refused with status 503:
    /// however many uploads stall, small requests are still read.
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.edit().limits.budget = Budget::new(bytes);
        self
    }

    /// Sets the timeout of a request body; a slower one is refused with
    /// status 408. The default is 60 seconds. This needs a timer, see [`Environment::ticks`].
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.edit().limits.timeout = timeout;
        self
    }

    /// Sets the time for which the head of a response waits for the first output of the agent, where clients
    /// [repeat turns that fail in a stream](crate::Protocol::AWAITS_OUTPUT), as those of language models do. The default is
    /// 5 seconds; with zero the head is sent at once.
    ///
    /// A turn that fails within this time and has sent nothing is answered with the
    /// [status](AgentError::status) of its error, 400 by default, and `x-should-retry: false` unless the error is
    /// [retryable](AgentError::retryable). A later failure is part of the stream. If the client leaves during the
    /// wait, the agent is dropped. Without a timer, see [`Environment::ticks`], the head waits for the first poll of
    /// the agent only.
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    #[must_use]
    pub fn first_output_timeout(mut self, timeout: Duration) -> Self {
        self.edit().first_output_timeout = Some(timeout);
        self
    }

    /// Sets the number of turns that may run at a time; further ones are refused with status 503 and
    /// `retry-after`. The default is any number.
    ///
    /// A turn counts from the last byte of its request until its response is sent or dropped and its agent is done:
    /// uploads that stall do not count. Documents, stops and resumed replies do not count either, so all of them work
    /// while every turn is taken.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// let router = Router::new().max_turns(64);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn max_turns(mut self, turns: usize) -> Self {
        self.edit().max_turns = Some(turns);
        self
    }

    /// Sets the environment: time, randomness and the timer. Observers that were added before remain.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        let inner = self.edit();
        inner.env = env.with_observers_of(&inner.env);
        self
    }

    /// Sets the key with which questions in text are signed: 32 random bytes that all servers of a service
    /// have. The default is a random key for each router and its clones, or one that servers share through the
    /// store of [resumable replies](crate#features).
    ///
    /// Servers that share this key alone do not tell each other which questions were answered: within an hour an
    /// answer counts once on each of them.
    #[must_use]
    pub fn secret(mut self, key: [u8; 32]) -> Self {
        self.edit().consent = Consent::new(key);
        self
    }

    /// Makes replies resumable: agents go on when their clients leave, and front ends that can ask for a reply
    /// again get all of it. Mounts bring the routes for that, whether they are mounted before or after. See
    /// [`replies`](crate::replies).
    #[cfg(feature = "resumable")]
    #[must_use]
    pub fn resumable(mut self, replies: Replies) -> Self {
        self.edit().replies = Some(replies);
        self
    }

    /// Lets clients continue a conversation by an id, with a request that has only what is new, where their protocol
    /// has such ids. Mounts bring the routes for that, whether they are mounted before or after. See
    /// [`conversations`](crate::conversations).
    #[must_use]
    pub fn conversations(mut self, conversations: Conversations) -> Self {
        self.edit().conversations = Some(conversations);
        self
    }

    /// Adds an observer, which is called once for every turn, at its end, with the outcome and
    /// the duration. See [`Env::observe`].
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

    /// Ends the turns of this router and of its clones, for a shutdown.
    ///
    /// From the call on no turn begins: a request that would begin one is refused with status 503 and
    /// `retry-after`, also if its body is still arriving, as soon as that is complete. An upload that stalls gets no
    /// response: the server closes its connection. Documents, resumed replies and stops are still answered.
    /// Running turns go on, with or without a client, until `patience`, such as a sleep, is ready. Then each turn that
    /// still runs ends with the failure of its protocol and [`Outcome::ShutDown`], and its agent is dropped. Clients are
    /// told not to retry it.
    ///
    /// Returns when the server has taken the last byte of every response and dropped its body, and the ends of
    /// resumable replies are stored: at once if nothing runs, and at most 5 seconds after
    /// `patience` otherwise, so that a client that does not read holds up nothing. Without a
    /// [timer](crate::protocol::Environment::ticks) it returns when all turns are ended. The server then closes the
    /// connections that are left.
    ///
    /// ```
    /// # use copilot_wire::Router;
    /// # async fn stop(router: Router, sleep: impl Future<Output = ()>) {
    /// router.drain(sleep).await; // such as tokio::time::sleep(Duration::from_secs(30))
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// New turns are refused even if this future is dropped. The call may be repeated, also concurrently.
    pub async fn drain(&self, patience: impl Future<Output = ()>) {
        let limit = || self.inner.env.ticks(UNREAD);
        self.inner.turns.drain(patience, limit).await;
    }

    fn edit(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// Mounts an agent as a descriptor, a model, or any other [`Mount`].
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or `what` conflicts with what is
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
    /// The request's body is any stream of byte buffers. It is read to its end, up to the limit, before
    /// the agent starts. An invalid request is answered with an error status.
    ///
    /// Over HTTP/1, a refusal waits for the rest of a body that is within the limit: for up to five
    /// seconds where there is a timer, otherwise for the bytes that are there. They are dropped as they
    /// come. A connection that is closed while the client still sends may lose the response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request and its agent. The agent of a stream runs in the body, so it has not
    /// started then, or its [first output](Self::first_output_timeout) was awaited. The agent of an answer without a
    /// stream runs in this future.
    pub async fn handle<B, D, E>(&self, request: Request<B>) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let inner = &*self.inner;
        let (parts, body) = request.into_parts();
        let body = pin!(body);
        // Made first, because every response, refusals included, has to wait for the rest of the
        // body.
        let mut upload = Upload::new(&parts, body, inner.limits.size);
        let origin = inner.cors.origin(&parts.headers, &inner.origins);
        let mut response = match inner.find(&parts) {
            Found::Socket(route) => socket::no_socket(route),
            Found::Route(route, params) => self.answer(route, params, parts, &mut upload).await,
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
        // To refusals too: without the header a browser hides the status and the message from its
        // page.
        inner.cors.apply(origin, response.headers_mut());
        upload.finish(&response, &inner.env).await;
        response
    }

    async fn answer<D, E>(
        &self,
        route: &Route,
        params: Params,
        mut parts: Parts,
        body: impl Stream<Item = Result<D, E>>,
    ) -> Response<Body>
    where
        D: Buf,
    {
        let endpoint = &route.endpoint;
        let path = self.inner.base.join_shared(&route.text);
        let protocol = endpoint.protocol();
        let record = protocol.map(|protocol| Record::new(&self.inner.env, protocol));
        let mut seen = Extensions::new();
        let admitted = self.inner.admit(route, &mut parts, body, &mut seen);
        let response = match admitted.await {
            Ok((body, running)) => {
                let call = Call {
                    #[cfg(feature = "resumable")]
                    digest: match &self.inner.replies {
                        Some(replies) => replies.digest(&parts, &body),
                        None => String::new(),
                    },
                    parts,
                    params,
                    body,
                    path: Arc::clone(&route.text),
                    public_path: Arc::clone(&path),
                    router: self.clone(),
                    running: running.clone(),
                    recording: None,
                    agent: None,
                };
                let mut response = endpoint.call(call).await;
                response.body_mut().set_running(running);
                response
            }
            Err(refusal) => endpoint.refuse(&refusal),
        };
        // The turn of an agent is reported at its end.
        if let (Some(record), Some(refusal)) = (record, response.extensions().get::<Refusal>()) {
            let record = record.path(Some(path)).extensions(&seen);
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

/// The time for which the head of a response waits for the first output.
const FIRST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

type Params = Vec<(Box<str>, Box<str>)>;

enum Found<'a> {
    Route(&'a Route, Params),
    /// The handshake of a WebSocket, which [`Router::socket`] answers, at the path of this route.
    Socket(&'a Route),
    Preflight,
    OtherMethods(HeaderValue),
    Nothing,
    OtherHost,
}

impl Inner {
    fn first_output_timeout(&self) -> Duration {
        self.first_output_timeout.unwrap_or(FIRST_OUTPUT_TIMEOUT)
    }

    fn find(&self, request: &Parts) -> Found<'_> {
        // Before any route: a page that rebinds its name to this address (DNS rebinding) learns of
        // none.
        if !self.hosts.take(request) {
            return Found::OtherHost;
        }
        let is_handshake = socket::is_handshake(request);
        let mut found = Found::Nothing;
        for path in self.base.strip(request.uri.path()) {
            if is_handshake {
                // Whatever else answers a `GET` there.
                if let Found::Route(route, _) = self.find_at(&Method::POST, path) {
                    return Found::Socket(route);
                }
            }
            found = self.find_at(&request.method, path);
            if !matches!(found, Found::Nothing) {
                break;
            }
        }
        found
    }

    /// Returns `true` if there is one of these stores.
    fn has(&self, needs: Needs) -> bool {
        #[cfg(feature = "resumable")]
        let replies = needs.replies && self.replies.is_some();
        #[cfg(not(feature = "resumable"))]
        let replies = false;
        replies || needs.conversations && self.conversations.is_some()
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
            if route.needs.is_some_and(|needs| !self.has(needs)) {
                continue;
            }
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
        // A browser asks with this method before it sends a POST across origins.
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
