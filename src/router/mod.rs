//! Handling of one HTTP request: paths, CORS, limits and refusals.

mod admission;
mod content_coding;
mod cors;
mod current;
mod endpoint;
mod guard;
mod hosts;
#[cfg(feature = "http-body")]
mod http_body;
mod intake;
mod keys;
mod path;
#[cfg(feature = "playground")]
mod playground;
mod routes;
mod site;
pub mod socket;
#[cfg(feature = "tower")]
mod tower;
mod upload;

pub use cors::Cors;
pub(crate) use endpoint::AgentEndpoint;
pub use endpoint::{Endpoint, HttpRequest, RouteKind, json, stream};
pub use keys::{Keys, KeysError};
pub use site::{Mount, MountError, Site};

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use futures_core::Stream;
use http::header::ALLOW;
use http::request::Parts;
use http::{Extensions, HeaderValue, Request, Response, StatusCode};

use crate::agent::{Agent, Body, Reply, TurnLimits, Turns, agent_fn};
use crate::conversations::{Connections, Conversations};
use crate::protocol::consent::Consent;
use crate::protocol::{AgentError, Env, Outcome, Progress, Record, Refusal, Turn};
#[cfg(feature = "resumable")]
use crate::replies::Replies;
use current::Current;
use guard::Guard;
use hosts::Hosts;
use intake::{Budget, Limits};
use path::{BasePath, Path};
pub use path::{escape_segment, path_params};
use routes::{Found, Needs, Params, Route};
use upload::Upload;

/// The maximum time that a shutdown waits for clients to read the ends of their turns.
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
/// Cloning a router is cheap: clones share everything, also what [replaces](Self::replace) the router while a server
/// runs. A method that changes a router makes a router of its own from a clone.
#[derive(Clone, Default)]
pub struct Router(Arc<Current>);

#[derive(Clone, Default)]
struct Inner {
    routes: Vec<Route>,
    /// The paths of `POST` routes that also have a WebSocket.
    sockets: Vec<(Path, socket::Factory)>,
    /// The turns that are stored for the lifetime of a connection.
    connections: Connections,
    cors: Cors,
    hosts: Hosts,
    base: BasePath,
    guards: Vec<Guard>,
    limits: Limits,
    env: Env,
    consent: Consent,
    turns: Turns,
    turn_limits: TurnLimits,
    /// `None` for [`FIRST_OUTPUT_TIMEOUT`].
    first_output_timeout: Option<Duration>,
    #[cfg(feature = "resumable")]
    replies: Option<Replies>,
    conversations: Option<Conversations>,
    /// The state that mounts share, by type.
    shared: Extensions,
    /// The origins of the mounted front ends.
    origins: Vec<HeaderValue>,
}

impl Router {
    /// Creates a router without routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the origins from which browsers may call. The default is the origins of the mounts; see [`Site::origins`].
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.edit().cors = cors;
        self
    }

    /// Sets the hosts for which requests are accepted, without ports. Requests for other hosts are refused with status
    /// 421. By default any host is accepted.
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

    /// Sets the path below which clients reach this router, such as `/agents`, if a proxy or a framework serves other
    /// content on the same host. The default is the root.
    ///
    /// Paths in documents begin with it. Requests match with and without it, because a proxy may strip it, so the proxy
    /// needs no particular configuration. A trailing slash makes no difference.
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

    /// Adds a guard: an async check of the head of every request, before its body is read. A guard returns the head, to
    /// whose extensions it may add values, or refuses the request in the format that clients of the route expect.
    ///
    /// Guards run in the order in which they were added, on every route, including documents and routes that are
    /// mounted later. They do not run for preflights, nor for a path or a method without a route. [`Site::guard`] adds
    /// a guard to some agents only. The [`RouteKind`] in the extensions is the purpose of the route, so that a limit of
    /// turns can exempt stops and resumed replies; [`max_turns`](Self::max_turns) is such a limit.
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

    /// Sets the maximum size of a request body in bytes. A larger body is refused with status 413. The default is 32
    /// MiB. A route may have a [smaller limit](Endpoint::body_limit).
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.edit().limits.size = bytes;
        self
    }

    /// Sets the maximum memory of all request bodies together in bytes. A body counts from its first byte until the
    /// agent drops the request. The default is 256 MiB.
    ///
    /// One body may use half of the free memory. A body that does not fit is refused with status 503. So however many
    /// uploads stall, small requests are still read.
    ///
    /// A request holds up to six times its bytes, and up to forty times if it has nothing but short elements. Each object therefore counts as
    /// at least 213 bytes and each further element as 13, which only weighs for bodies of little else. A body that alone
    /// weighs more than the budget is refused with status 413.
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.edit().limits.budget = Budget::new(bytes);
        self
    }

    /// Sets the timeout of a request body. A slower body is refused with status 408. The default is 60 seconds. This
    /// needs a timer; see [`Environment::ticks`].
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.edit().limits.timeout = timeout;
        self
    }

    /// Sets the time that the head of a response waits for the first output of the agent, in protocols whose clients
    /// [retry turns that fail in a stream](crate::protocol::Extras::awaits_output), such as those of language models. The
    /// default is 5 seconds; with zero the head is sent at once.
    ///
    /// A turn that fails within this time without output is answered with the [status](AgentError::status) of its
    /// error, 400 by default, and `x-should-retry: false` unless the error is [retryable](AgentError::retryable). A
    /// later failure is part of the stream. If the client disconnects during the wait, the agent is dropped. Without a
    /// timer, see [`Environment::ticks`], the head waits only for the first poll of the agent.
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    #[must_use]
    pub fn first_output_timeout(mut self, timeout: Duration) -> Self {
        self.edit().first_output_timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of running turns. Further turns are refused with status 503 and `retry-after`. By
    /// default there is no limit.
    ///
    /// A turn counts from the last byte of its request until its response is sent or dropped and its agent has ended;
    /// stalled uploads do not count. Documents, stops and resumed replies do not count either, so they work while the
    /// limit is reached.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// let router = Router::new().max_turns(64);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn max_turns(mut self, turns: usize) -> Self {
        self.edit().turn_limits.turns = turns;
        self
    }

    /// Sets the maximum number of running turns of one user: the [`User`] that a guard has added, such as
    /// [`Keys::guard`]. Further turns are refused with status 429 and `retry-after`. By default there is no limit, and
    /// requests without a user have none. A turn counts as for [`max_turns`](Self::max_turns).
    ///
    /// [`User`]: crate::protocol::User
    #[must_use]
    pub fn max_turns_per_user(mut self, turns: usize) -> Self {
        self.edit().turn_limits.of_user = turns;
        self
    }

    /// Sets the maximum number of turns that one user may begin in a minute of the clock. Further turns are refused with
    /// status 429, and `retry-after` with the remaining seconds of the minute. By default there is no limit. Users and
    /// turns are those of [`max_turns_per_user`](Self::max_turns_per_user).
    #[must_use]
    pub fn max_turns_per_minute(mut self, turns: u32) -> Self {
        self.edit().turn_limits.of_minute = turns;
        self
    }

    /// Sets the environment: time, randomness and the timer. Observers that were added before remain.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        let inner = self.edit();
        inner.env = env.with_observers_of(&inner.env);
        self
    }

    /// Sets the key with which questions in text are signed: 32 random bytes that all servers of a service share. The
    /// default is a random key for each router and its clones, or a key that servers share through the store of
    /// [resumable replies](crate#features).
    ///
    /// Servers that share only this key do not know which questions the other servers have accepted: within an hour,
    /// each server accepts an answer once.
    #[must_use]
    pub fn secret(mut self, key: [u8; 32]) -> Self {
        self.edit().consent = Consent::new(key);
        self
    }

    /// Makes replies resumable: agents continue when their clients disconnect, and front ends that can request a reply
    /// again receive all of it. Mounts add the routes for this, whether they are mounted before or after this call. See
    /// [`replies`](crate::replies).
    #[cfg(feature = "resumable")]
    #[must_use]
    pub fn resumable(mut self, replies: Replies) -> Self {
        self.edit().replies = Some(replies);
        self
    }

    /// Lets clients continue a conversation by an id, with a request that contains only the new messages, if their
    /// protocol has such ids. Mounts add the routes for this, whether they are mounted before or after this call. See
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
    /// From this call on no new turn begins: such a request is refused with status 503 and `retry-after`, once its body
    /// is complete. A stalled upload gets no response; the server closes its connection. Documents, resumed replies and
    /// stops are still answered. Running turns continue, with or without a client, until `patience`, such as a sleep,
    /// is ready. Then each remaining turn ends with the failure of its protocol and [`Outcome::ShutDown`], and its
    /// agent is dropped. Clients are told not to retry the turn.
    ///
    /// Returns when the server has taken the last byte of every response and dropped its body, and the ends of
    /// resumable replies are stored. This is at once if no turn runs, and otherwise at most 5 seconds after `patience`,
    /// even if a client does not read. Without a [timer](crate::protocol::Environment::ticks) it returns when all turns
    /// are ended. The server then closes the remaining connections.
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
        let inner = self.inner();
        inner
            .turns
            .drain(patience, || inner.env.ticks(UNREAD))
            .await;
    }

    /// Replaces the routes and settings of this router and of all its clones with those of `next`, for a change of the
    /// configuration while a server runs.
    ///
    /// Every request from now on is answered by `next`, on whichever connection it arrives, and so is every turn of an
    /// open [WebSocket](socket): it meets the guards, limits, hosts, origins and agents of `next`. Requests that have
    /// arrived before end as they began, with the agent, the limits and the stores of then: a long reply may go on for
    /// hours after the key of its user was removed.
    ///
    /// Running turns still count in [`max_turns`](Self::max_turns), and [`drain`](Self::drain) waits for them.
    /// Questions in text can still be answered, once, unless `next` has another [secret](Self::secret). Stores are
    /// those of `next`: give it the same ones, for example by making both routers from clones of one.
    ///
    /// ```
    /// use copilot_wire::Router;
    ///
    /// # fn configured(_: &str) -> Router { Router::new() }
    /// let router = configured("agents.toml");
    /// let server = router.clone(); // for the server, which passes every request to it
    /// // The file has changed:
    /// router.replace(configured("agents.toml"));
    /// # drop(server);
    /// ```
    pub fn replace(&self, next: Self) {
        self.0.replace(Inner::clone(&next.inner()));
    }

    fn inner(&self) -> Arc<Inner> {
        self.0.get()
    }

    fn edit(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0).get_mut()
    }

    /// Mounts an agent as a descriptor, a model, or any other [`Mount`].
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or `what` conflicts with an earlier mount.
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
    /// The same errors as [`mount`](Self::mount).
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
    /// The body of the request is any stream of byte buffers. It is read to its end, up to the limit, before the agent
    /// starts. An invalid request is answered with an error status.
    ///
    /// Over HTTP/1, a refusal waits for the remaining bytes of a body within the limit, and discards them: for up to
    /// five seconds if there is a timer, otherwise only for bytes that have arrived. If the connection were closed
    /// while the client still sends, the client could lose the response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request and its agent. The agent of a stream runs in the body of the response, so
    /// it has not started, or this future was waiting for its [first output](Self::first_output_timeout). The agent of
    /// an answer without a stream runs in this future.
    pub async fn handle<B, D, E>(&self, request: Request<B>) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let inner = self.inner();
        inner.handle(request).await
    }
}

impl Inner {
    async fn handle<B, D, E>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let (parts, body) = request.into_parts();
        let body = pin!(body);
        // Created first: every response, including refusals, must wait for the remaining bytes of the body.
        let mut upload = Upload::new(&parts, body, self.limits.size);
        let origin = self.cors.origin(&parts.headers, &self.origins);
        let mut response = match self.find(&parts) {
            Found::Socket(route) => socket::no_socket(route),
            Found::Route(route, params) => self.answer(route, params, parts, &mut upload).await,
            Found::Preflight => self.cors.preflight(&parts.headers, &self.origins),
            Found::OtherMethods(allow) => {
                let message = "method not allowed";
                let mut response = refuse(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
                response.headers_mut().insert(ALLOW, allow);
                response
            }
            Found::Nothing => refuse(&routes::no_such_path(parts.uri.path())),
            Found::OtherHost => {
                let message = "host not allowed";
                refuse(&Refusal::new(StatusCode::MISDIRECTED_REQUEST, message))
            }
        };
        // Refusals have the CORS headers too: without them a browser hides the status and the message from the page.
        self.cors.apply(origin, response.headers_mut());
        upload.finish(&response, &self.env).await;
        response
    }

    async fn answer<D, E>(
        self: &Arc<Self>,
        route: &Route,
        params: Params,
        mut parts: Parts,
        body: impl Stream<Item = Result<D, E>>,
    ) -> Response<Body>
    where
        D: Buf,
    {
        let endpoint = &route.endpoint;
        let path = self.base.join_shared(&route.text);
        let protocol = endpoint.protocol();
        let record = protocol.map(|protocol| Record::new(&self.env, protocol));
        let mut seen = Extensions::new();
        let admitted = self.admit(route, &mut parts, body, &mut seen);
        let response = match admitted.await {
            Ok((body, running)) => {
                let call = HttpRequest {
                    #[cfg(feature = "resumable")]
                    digest: match &self.replies {
                        Some(replies) => replies.digest(&parts, &body),
                        None => String::new(),
                    },
                    parts,
                    params,
                    body,
                    path: Arc::clone(&route.text),
                    public_path: Arc::clone(&path),
                    router: Arc::clone(self),
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
        // The turn of an agent is reported by its channel.
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

/// The default time that the head of a response waits for the first output.
const FIRST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

impl Inner {
    fn first_output_timeout(&self) -> Duration {
        self.first_output_timeout.unwrap_or(FIRST_OUTPUT_TIMEOUT)
    }
}

fn refuse(refusal: &Refusal) -> Response<Body> {
    let json = HeaderValue::from_static("application/json");
    refusal.to_response(json, refusal.to_json()).map(Body::full)
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}

/// Shows the routes.
impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.routes.iter().map(|route| (&route.method, &route.path)))
            .finish()
    }
}
