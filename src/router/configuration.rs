//! The router: its configuration, and the entry of every request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use futures_core::Stream;
use http::request::Parts;
use http::{Request, Response};

use super::current::Current;
use super::guard::Guard;
use super::hosts::Hosts;
use super::intake::Budget;
use super::path::BasePath;
use super::settings::Settings;
use super::version::Version;
use super::{Cors, Mount, MountError, Site};
use crate::agent::{Agent, Body, Reply, agent_fn};
use crate::consent::Consent;
use crate::conversations::Conversations;
use crate::protocol::{AgentError, Env, Refusal, Turn};
#[cfg(feature = "resumable")]
use crate::replies::Replies;

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
#[must_use]
pub struct Router(Arc<Current>);

impl Router {
    /// Creates a router without routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the origins from which browsers may call. The default is the origins of the mounts; see [`Site::origins`].
    pub fn cors(mut self, cors: Cors) -> Self {
        self.settings().cors = cors;
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
    pub fn hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.settings().hosts = Hosts::of(hosts);
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
    pub fn base_path(mut self, path: &str) -> Self {
        self.settings().base = BasePath::new(path);
        self
    }

    /// Adds a guard: an async check of the head of every request, before its body is read. A guard returns the head, to
    /// whose extensions it may add values, or refuses the request in the format that clients of the route expect.
    ///
    /// Guards run in the order in which they were added, on every route, including documents and routes that are
    /// mounted later. They do not run for preflights, nor for a path or a method without a route. [`Site::guard`] adds
    /// a guard to some agents only. The [`RouteKind`](super::RouteKind) in the extensions is the purpose of the route,
    /// so that a limit of turns can exempt stops and resumed replies; [`max_turns`](Self::max_turns) is such a limit.
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
    pub fn guard<F, R>(mut self, check: F) -> Self
    where
        F: Fn(Parts) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Parts, Refusal>> + Send + 'static,
    {
        self.settings().guards.push(Guard::new(check));
        self
    }

    /// Sets the maximum size of a request body in bytes. A larger body is refused with status 413. The default is 32
    /// MiB. A route may have a [smaller limit](super::Endpoint::body_limit).
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.settings().limits.size = bytes;
        self
    }

    /// Sets the maximum memory of all request bodies together in bytes. A body counts from its first byte until the
    /// agent drops the request. The default is 256 MiB.
    ///
    /// One body may use half of the free memory. A body that does not fit is refused with status 503. So however many
    /// uploads stall, small requests are still read.
    ///
    /// A request holds up to six times its bytes, and up to forty times if it has nothing but short elements. Each
    /// object therefore counts as at least 213 bytes and each further element as 13, which only weighs for bodies of
    /// little else. A body that alone weighs more than the budget is refused with status 413.
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.settings().limits.budget = Budget::new(bytes);
        self
    }

    /// Sets the timeout of a request body. A slower body is refused with status 408. The default is 60 seconds. This
    /// needs a timer; see [`Environment::ticks`].
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.settings().limits.timeout = timeout;
        self
    }

    /// Sets the time that the head of a response waits for the first output of the agent, in protocols whose clients
    /// [retry turns that fail in a stream](crate::protocol::Extras::awaits_output), such as those of language models.
    /// The default is 5 seconds; with zero the head is sent at once.
    ///
    /// A turn that fails within this time without output is answered with the [status](AgentError::status) of its
    /// error, 400 by default, and `x-should-retry: false` unless the error is [retryable](AgentError::retryable). A
    /// later failure is part of the stream. If the client disconnects during the wait, the agent is dropped. Without a
    /// timer, see [`Environment::ticks`], the head waits only for the first poll of the agent.
    ///
    /// [`Environment::ticks`]: crate::protocol::Environment::ticks
    pub fn first_output_timeout(mut self, timeout: Duration) -> Self {
        self.settings().first_output_timeout = Some(timeout);
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
    pub fn max_turns(mut self, turns: usize) -> Self {
        self.settings().turn_limits.turns = turns;
        self
    }

    /// Sets the maximum number of running turns of one user: the [`User`] that a guard has added, such as
    /// [`Keys::guard`](super::Keys::guard). Further turns are refused with status 429 and `retry-after`. By default
    /// there is no limit, and requests without a user have none. A turn counts as for [`max_turns`](Self::max_turns).
    ///
    /// [`User`]: crate::protocol::User
    pub fn max_turns_per_user(mut self, turns: usize) -> Self {
        self.settings().turn_limits.of_user = turns;
        self
    }

    /// Sets the maximum number of turns that one user may begin in a minute of the clock. Further turns are refused
    /// with status 429, and `retry-after` with the remaining seconds of the minute. By default there is no limit. Users
    /// and turns are those of [`max_turns_per_user`](Self::max_turns_per_user).
    pub fn max_turns_per_minute(mut self, turns: u32) -> Self {
        self.settings().turn_limits.of_minute = turns;
        self
    }

    /// Sets the environment: time, randomness and the timer. Observers that were added before remain.
    pub fn env(mut self, env: Env) -> Self {
        let settings = self.settings();
        settings.env = env.with_observers_of(&settings.env);
        self
    }

    /// Sets the key with which questions in text are signed: 32 random bytes that all servers of a service share. The
    /// default is a random key for each router and its clones, or a key that servers share through the store of
    /// [resumable replies](crate#features).
    ///
    /// Servers that share only this key do not know which questions the other servers have accepted: within an hour,
    /// each server accepts an answer once.
    pub fn secret(mut self, key: [u8; 32]) -> Self {
        self.settings().consent = Consent::new(key);
        self
    }

    /// Makes replies resumable: agents continue when their clients disconnect, and front ends that can request a reply
    /// again receive all of it. Mounts add the routes for this, whether they are mounted before or after this call. See
    /// [`replies`](crate::replies).
    #[cfg(feature = "resumable")]
    pub fn resumable(mut self, replies: Replies) -> Self {
        self.settings().replies = Some(replies);
        self
    }

    /// Lets clients continue a conversation by an id, with a request that contains only the new messages, if their
    /// protocol has such ids. Mounts add the routes for this, whether they are mounted before or after this call. See
    /// [`conversations`](crate::conversations).
    pub fn conversations(mut self, conversations: Conversations) -> Self {
        self.settings().conversations = Some(conversations);
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
    pub fn observe(mut self, observer: impl Fn(&Turn<'_>) + Send + Sync + 'static) -> Self {
        let settings = self.settings();
        settings.env = std::mem::take(&mut settings.env).observe(observer);
        self
    }

    /// Ends the turns of this router and of its clones, for a shutdown.
    ///
    /// From this call on no new turn begins: such a request is refused with status 503 and `retry-after`, once its body
    /// is complete. A stalled upload gets no response; the server closes its connection. Documents, resumed replies and
    /// stops are still answered. Running turns continue, with or without a client, until `patience`, such as a sleep,
    /// is ready. Then each remaining turn ends with the failure of its protocol and
    /// [`Outcome::ShutDown`](crate::protocol::Outcome::ShutDown), and its agent is dropped. Clients are told not to
    /// retry the turn.
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
        let settings = Arc::clone(&self.version().settings);
        let turns = &settings.turns;
        turns.drain(patience, || settings.env.ticks(UNREAD)).await;
    }

    /// Replaces the routes and settings of this router and of all its clones with those of `next`, for a change of the
    /// configuration while a server runs.
    ///
    /// Every request from now on is answered by `next`, on whichever connection it arrives, and so is every turn of an
    /// open [WebSocket](super::socket): it meets the guards, limits, hosts, origins and agents of `next`. Requests that
    /// have arrived before end as they began, with the agent, the limits and the stores of then: a long reply may go on
    /// for hours after the key of its user was removed.
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
        self.0.replace(Version::clone(&next.version()));
    }

    pub(super) fn version(&self) -> Arc<Version> {
        self.0.get()
    }

    fn edit(&mut self) -> &mut Version {
        Arc::make_mut(&mut self.0).get_mut()
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.edit().settings)
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
    pub fn handle<B, D, E>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<Body>> + use<B, D, E>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        self.version().handle(request)
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.version().fmt(f)
    }
}
