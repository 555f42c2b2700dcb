//! Replies that outlive the connection that asked for them.
//!
//! Without this module a reply ends with its connection: a page that is reloaded has lost the answer.
//! [`Router::resumable`](crate::Router::resumable) gives a router [`Replies`]: agents then run in tasks of
//! their own, and their output is also appended to a log in a [`ReplyStore`], from which any server that
//! shares the store can send it again.
//!
//! # Tasks
//!
//! | part | runs | does |
//! |---|---|---|
//! | pump | as a task, one per reply | polls the body, which runs the agent; puts frames into local memory; appends them to the log, one append at a time, as often as the store asks for |
//! | tail | in the body of each response | takes events from local memory, or from the log where this process does not run the reply |
//!
//! A tail never waits for the log while local memory has what it needs, and the pump waits for tails only once nothing
//! is stored any more. The end of a log is written once, by whoever is first: the pump, or a server that finds the pump's server dead.

mod health;
mod local;
mod memory;
mod pump;
mod questions;
mod runs;
mod store;
mod tail;
mod user;

pub use health::StoreHealth;
pub use memory::MemoryReplyStore;
pub use runs::Task;
pub use store::{
    ConversationKey, Page, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
pub use user::UserReplies;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use http::request::Parts;

use crate::agent::{Agent, Body, Request, Running};
use crate::conversations::ConnectionTurns;
use crate::protocol::{Env, Environment, Protocol, Refusal, Resumption, Session as _, Ticks, User};
use pump::Pump;
use runs::Shared;
use tail::Tail;

/// The configuration of replies that outlive their connections: the store of their logs, their users,
/// and limits.
///
/// ```
/// use copilot_wire::Router;
/// use copilot_wire::replies::{MemoryReplyStore, Replies};
/// # fn spawn(_: copilot_wire::replies::Task) {}
///
/// // `spawn` is `tokio::spawn`, or what another runtime has.
/// let replies = Replies::per_user(MemoryReplyStore::new(), spawn);
/// let router = Router::new().resumable(replies);
/// # let _ = router;
/// ```
///
/// Cloning it shares the store and the runs. Timers come from the environment of the router: without one a
/// store that fails is not asked again, and nothing is cancelled for its age.
#[derive(Clone)]
pub struct Replies {
    shared: Arc<Shared>,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    keep: Duration,
    lifetime: Duration,
    abandoned: Duration,
    bytes: usize,
    events: u64,
    runs: usize,
    runs_per_user: usize,
    join: bool,
    /// The time limit of a connection, after which its client resumes.
    reconnect: Option<Duration>,
    /// All callers are one user.
    single: bool,
}

/// The time for which the head of a response waits for each answer of the store.
const REGISTRATION: Duration = Duration::from_millis(10);

const MINUTE: Duration = Duration::from_secs(60);

impl Replies {
    /// Creates the replies of a server with several users.
    ///
    /// `spawn` runs a task to its end, such as `tokio::spawn`. The reply to a request belongs to its
    /// [`User`], whom a guard has added: nobody else can read or cancel it. Without a user the reply is not
    /// resumable.
    pub fn per_user<S, T>(store: impl ReplyStore + 'static, spawn: S) -> Self
    where
        S: Fn(Task) -> T + Send + Sync + 'static,
    {
        let spawn = move |task| drop(spawn(task));
        Self {
            shared: Arc::new(Shared::new(Arc::new(store), Box::new(spawn))),
            limits: Limits {
                keep: 10 * MINUTE,
                lifetime: 60 * MINUTE,
                abandoned: 10 * MINUTE,
                bytes: 8 << 20,
                events: 100_000,
                runs: 1000,
                runs_per_user: 32,
                join: false,
                reconnect: None,
                single: false,
            },
        }
    }

    /// Creates the replies of a server with one user: everybody who can send requests can read and cancel
    /// all replies by their ids.
    pub fn single_user<S, T>(store: impl ReplyStore + 'static, spawn: S) -> Self
    where
        S: Fn(Task) -> T + Send + Sync + 'static,
    {
        let mut replies = Self::per_user(store, spawn);
        replies.limits.single = true;
        replies
    }

    /// Sets the time for which a reply is stored after its end. The default is 10 minutes.
    #[must_use]
    pub fn keep(mut self, time: Duration) -> Self {
        self.limits.keep = time;
        self
    }

    /// Sets the time limit of a reply, after which it fails. The default is an hour.
    #[must_use]
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.limits.lifetime = time;
        self
    }

    /// Sets the time without a reader on any server after which a reply is cancelled. The default is 10
    /// minutes.
    #[must_use]
    pub fn abandoned(mut self, time: Duration) -> Self {
        self.limits.abandoned = time;
        self
    }

    /// Sets the limits of one reply, in bytes and in events, beyond which it is not stored. The defaults are 8 MiB
    /// and 100,000 events. At most this much of each reply is in memory while the store is unavailable.
    ///
    /// Beyond them the log ends with [`ReplyEnd::Lost`], and the reply goes on for the readers that are connected to
    /// this server; without any it fails. At most 256 KiB of it are in memory from then on: the agent waits for the
    /// reader that is furthest, and a reader that falls behind by more gets a failure. The same holds for
    /// a reply whose log was lost or was ended by another server.
    #[must_use]
    pub fn limit(mut self, bytes: usize, events: u64) -> Self {
        (self.limits.bytes, self.limits.events) = (bytes, events);
        self
    }

    /// Sets the number of resumable replies that may run in this process at once. Further ones are ordinary
    /// replies, which end with their connections. The default is 1,000.
    #[must_use]
    pub fn runs(mut self, most: usize) -> Self {
        self.limits.runs = most;
        self
    }

    /// Sets the number of resumable replies of one user that may run in this process at once. Further ones are
    /// ordinary replies. The default is 32; a server with a single user has no such limit.
    #[must_use]
    pub fn runs_per_user(mut self, most: usize) -> Self {
        self.limits.runs_per_user = most;
        self
    }

    /// Sets whether the replies of front ends without a way to resume are resumable too. The agent then
    /// goes on when such a client disconnects, and the same request of the same user gets the same reply from its
    /// beginning, while the agent runs. By default these replies end with their connections.
    /// The head of a joined reply does not [wait](crate::Router::first_output_timeout) for the first output.
    #[must_use]
    pub fn join(mut self, join: bool) -> Self {
        self.limits.join = join;
        self
    }

    /// Sets the time limit of a connection, after which its client resumes the reply on a new one. By default
    /// connections last as long as replies.
    ///
    /// For servers that share a store behind a proxy or a mesh that ends every stream after a while: the connection is
    /// broken before, behind a whole event, as a broken network breaks it. The body fails with
    /// [`Interrupted`](crate::Interrupted), which servers turn into an incomplete response (HTTP/1) or a reset stream (HTTP/2).
    /// At a shutdown every connection is broken within a second, so that readers go on at another server, while the
    /// replies go on here until [the patience](crate::Router::drain) is over.
    ///
    /// Only connections of replies that can be resumed are broken, and only once the store has their log; never those
    /// that are [joined](Self::join), and no WebSockets. A client that does not resume after a broken connection shows
    /// an error: the guide says what clients need. The time is counted in whole seconds, and only in an environment
    /// with a timer.
    #[must_use]
    pub fn reconnect_after(mut self, time: Duration) -> Self {
        self.limits.reconnect = Some(time);
        self
    }

    /// Returns the number of replies that run in this process.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.len()
    }

    /// Returns the health of the store, as the calls of this process have found it, for health checks and metrics.
    /// It does not ask the store. With the feature `tracing` an event reports when the store becomes unreachable,
    /// and when it is reachable again.
    #[must_use]
    pub fn health(&self) -> StoreHealth {
        self.shared.health.report(self.running())
    }

    /// Returns `true` if the reply to `request` is to be stored.
    pub(crate) fn takes<P: Protocol>(&self, request: &P::Request) -> bool {
        let resumes = P::resumption(request) != Resumption::Never;
        P::is_stream(request) && (self.limits.join || resumes)
    }

    /// Returns the replies of the user who sent a request.
    pub(crate) fn of(
        &self,
        parts: &Parts,
        path: &str,
        env: &Env,
        running: &Running,
    ) -> Option<UserReplies> {
        let user = match parts.extensions.get::<User>() {
            _ if self.limits.single => "",
            Some(user) => &*user.id,
            None => return None,
        };
        let mut replies = self.clone();
        if parts.extensions.get::<ConnectionTurns>().is_some() {
            // A WebSocket has several replies at a time, and an end of its own at a shutdown.
            replies.limits.reconnect = None;
        }
        Some(UserReplies::new(replies, user, path, env, running))
    }

    /// Returns the digest of a request to a path if equal requests share a reply; else an empty text.
    pub(crate) fn digest(&self, parts: &Parts, body: &[u8]) -> String {
        match self.limits.join {
            true => store::digest(parts.uri.query().unwrap_or_default(), body),
            false => String::new(),
        }
    }

    /// Runs an agent in a task, and returns the body of the first reader; an ordinary body past the number
    /// of runs.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when the client relies on a reply that cannot be stored.
    ///
    /// # Cancel safety
    ///
    /// The agent has not started when the future is dropped, or goes on without a reader.
    async fn run<P: Protocol>(
        &self,
        user: &UserReplies,
        conversation: Option<ConversationKey>,
        agent: Arc<dyn Agent<P>>,
        request: Request<P>,
    ) -> Result<Body, Refusal> {
        let env = &user.env;
        let required = P::resumption(&request) == Resumption::Required;
        let refuse = |message| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Err(Refusal::new(status, message).code("overloaded").retryable())
        };
        // Ids of replies let a client read them, so they come from the system's randomness,
        // whatever the environment has.
        let mut session = request.session(&Env::new(Secret(env.clone())));
        let id = match session.reply_id() {
            Some(id) => user.reply(id),
            None => user.reply(&Env::new(Secret(env.clone())).uuid()),
        };
        let mut meta = ReplyMeta::new(self.limits.lifetime + self.limits.keep, self.limits.keep);
        meta.conversation = conversation;
        let entered = self
            .shared
            .enter(id, conversation, &user.user, &self.limits, P::FRAMING);
        let Some(local) = entered else {
            if required {
                return refuse("too many replies at a time");
            }
            if P::resumption(&request) == Resumption::Possible && conversation.is_some() {
                self.shared.supersede(id, meta, env);
            }
            self.shared.health.add_unstored();
            let body = Body::run_session(agent, request, session, env);
            body.set_unstored(true);
            return Ok(body);
        };
        // Removes the run if this future is dropped.
        let guard = Guard(self, id);
        if required {
            let create = self.shared.store.create(&id, &meta);
            if self.shared.ask(env, create).await.is_err() {
                return refuse("replies cannot be stored now");
            }
        }
        let meta = Some(meta).filter(|_| !required);
        session.set_stored();
        let mut body = Body::run_session(agent, request, session, env);
        if !P::STORES_KEEP_ALIVE {
            // Keep-alives are the tails' own: each connection has a silence of its own, and none of
            // them belongs into the log.
            body = body.without_ticks();
        }
        user.running.attach(&body);
        let tail = Tail::new::<P>(self.clone(), id, 0, env, user.running.clone());
        let mut reader = Arc::clone(&local).reader();
        let running = user.running.clone();
        let mut pump = Pump::new(self.clone(), id, local, body, meta, env, running);
        // From here on the pump removes the run when it is dropped.
        std::mem::forget(guard);
        poll_fn(|cx| {
            // A store in memory has the log then.
            pump.poll_store(cx);
            Poll::Ready(())
        })
        .await;
        (self.shared.spawn)(Box::pin(pump));
        // The log is there when the client reads the head, so a request that comes at once finds it, on any
        // server. The agent runs meanwhile.
        let mut patience = None;
        poll_fn(|cx| match reader.poll_registered(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => {
                let patience = patience.get_or_insert_with(|| env.ticks(REGISTRATION));
                match patience {
                    Some(ticks) => ticks.as_mut().poll_next(cx).map(drop),
                    None => Poll::Ready(()),
                }
            }
        })
        .await;
        Ok(Body::from_frames(tail))
    }
}

/// A guard of a run that has not started yet.
struct Guard<'a>(&'a Replies, ReplyId);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.shared.leave(&self.1);
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shared = f.debug_struct("Replies");
        shared.field("shared", &self.shared);
        shared.field("limits", &self.limits).finish()
    }
}

/// An environment with randomness from the system, for ids that cannot be guessed.
struct Secret(Env);

impl Environment for Secret {
    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn random(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            self.0.random(bytes);
        }
    }

    fn ticks(&self, period: Duration) -> Option<Ticks> {
        self.0.ticks(period)
    }
}
