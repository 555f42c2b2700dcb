//! Replies that outlive the connection on which they were requested.
//!
//! Without this module a reply ends with its connection: a page that is reloaded loses the answer.
//! [`Router::resumable`](crate::Router::resumable) gives a router [`Replies`]. Agents then run in their own tasks, and
//! their output is also appended to a log in a [`ReplyStore`], from which any server that shares the store can send it
//! again.
//!
//! # Tasks
//!
//! | part | runs | does |
//! |---|---|---|
//! | pump | as a task, one per reply | polls the body, which runs the agent; puts frames into local memory; appends them to the log, one append at a time, as often as the store requests |
//! | tail | in the body of each response | takes events from local memory, or from the log if another process runs the reply |
//!
//! A tail does not wait for the log while local memory has the events that it needs, and the pump waits for tails only
//! once storing has ended. The end of a log is written once: by the pump, or by a server that finds the pump's server
//! dead.

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
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
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
use crate::protocol::{Env, Environment, Protocol, Refusal, Resumption, User};
use pump::Pump;
use runs::Shared;
use tail::Tail;

/// The configuration of replies that outlive their connections: the store of their logs, their users, and limits.
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
/// Clones share the store and the running replies. Timers come from the environment of the router: without a timer, a
/// failed call to the store is not repeated, and no reply is cancelled because of its age.
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
    /// The maximum time of a connection, after which its client resumes the reply.
    reconnect: Option<Duration>,
    /// `true` if all callers count as one user.
    single: bool,
}

/// The maximum time that the head of a response waits for each response of the store.
const REGISTRATION: Duration = Duration::from_millis(10);

const MINUTE: Duration = Duration::from_secs(60);

impl Replies {
    /// Creates the replies of a server with several users.
    ///
    /// `spawn` runs a task to its end, such as `tokio::spawn`. A reply belongs to the [`User`] of its request, whom a
    /// guard has added: no other user can read or cancel it. Without a user the reply is not resumable.
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

    /// Sets the maximum time of a reply, after which it fails. The default is an hour.
    #[must_use]
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.limits.lifetime = time;
        self
    }

    /// Sets the time after which a reply without a reader on any server is cancelled. The default is 10 minutes.
    #[must_use]
    pub fn abandoned(mut self, time: Duration) -> Self {
        self.limits.abandoned = time;
        self
    }

    /// Sets the limits of one reply, in bytes and in events, beyond which it is not stored. The defaults are 8 MiB and
    /// 100,000 events. While the store is unavailable, at most this much of each reply is in memory.
    ///
    /// Beyond the limits the log ends with [`ReplyEnd::Lost`], and the reply continues for the readers that are
    /// connected to this server; without a reader it fails. From then on at most 256 KiB of the reply are in memory:
    /// the agent waits for the furthest reader, and a reader that falls further behind gets a failure. The same applies
    /// to a reply whose log was lost or was ended by another server.
    #[must_use]
    pub fn limit(mut self, bytes: usize, events: u64) -> Self {
        (self.limits.bytes, self.limits.events) = (bytes, events);
        self
    }

    /// Sets the maximum number of resumable replies that run in this process at the same time. Further replies are
    /// ordinary ones, which end with their connections. The default is 1,000.
    #[must_use]
    pub fn runs(mut self, most: usize) -> Self {
        self.limits.runs = most;
        self
    }

    /// Sets the maximum number of resumable replies of one user that run in this process at the same time. Further
    /// replies are ordinary ones. The default is 32; a server with a single user has no such limit.
    #[must_use]
    pub fn runs_per_user(mut self, most: usize) -> Self {
        self.limits.runs_per_user = most;
        self
    }

    /// Sets whether replies are also resumable for front ends that cannot resume. The agent then continues when such a
    /// client disconnects. While it runs, the same request of the same user joins its reply from the beginning. By
    /// default these replies end with their connections. The head of a joined reply does not
    /// [wait](crate::Router::first_output_timeout) for the first output.
    #[must_use]
    pub fn join(mut self, join: bool) -> Self {
        self.limits.join = join;
        self
    }

    /// Sets the maximum time of a connection, after which its client resumes the reply on a new one. By default there
    /// is no maximum.
    ///
    /// Use it for servers that share a store behind a proxy or a mesh that ends every stream after some time. The
    /// connection is broken earlier, after a whole event, like a network failure. The body fails with
    /// [`Interrupted`](crate::agent::Interrupted), which servers turn into an incomplete response (HTTP/1) or a reset stream
    /// (HTTP/2). At a shutdown every connection is broken within a second, so that readers continue at another server,
    /// while the replies continue here until [the patience](crate::Router::drain) is over.
    ///
    /// Only connections of replies that can be resumed are broken, once their log is stored; connections that were
    /// [joined](Self::join) and WebSockets are not. A client that does not resume after a broken connection shows an
    /// error; the guide lists what clients need. The time is counted in whole seconds, and only if the environment has
    /// a timer.
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

    /// Returns the health of the store as observed by the calls of this process, for health checks and metrics. It does
    /// not call the store. With the feature `tracing` an event reports when the store becomes unreachable, and when it
    /// is reachable again.
    #[must_use]
    pub fn health(&self) -> StoreHealth {
        self.shared.health.report(self.running())
    }

    /// Returns `true` if the reply to `request` must be stored.
    pub(crate) fn takes<P: Protocol>(&self, request: &P::Request) -> bool {
        let resumes = (P::EXTRAS.resumption)(request) != Resumption::Never;
        (P::EXTRAS.is_stream)(request) && (self.limits.join || resumes)
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
            // A WebSocket has several replies at a time, and handles shutdowns itself.
            replies.limits.reconnect = None;
        }
        Some(UserReplies::new(replies, user, path, env, running))
    }

    /// Returns the digest of a request to a path if equal requests share a reply; otherwise an empty text.
    pub(crate) fn digest(&self, parts: &Parts, body: &[u8]) -> String {
        match self.limits.join {
            true => store::digest(parts.uri.query().unwrap_or_default(), body),
            false => String::new(),
        }
    }

    /// Runs an agent in a task, and returns the body of the first reader. If too many replies run, returns an ordinary
    /// body.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when the client requires a reply that can be resumed, and the reply cannot be stored.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the agent has not started, or it continues without a reader.
    async fn run<P: Protocol>(
        &self,
        user: &UserReplies,
        conversation: Option<ConversationKey>,
        agent: Arc<dyn Agent<P>>,
        request: Request<P>,
    ) -> Result<Body, Refusal> {
        let env = &user.env;
        let required = (P::EXTRAS.resumption)(&request) == Resumption::Required;
        let refuse = |message| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Err(Refusal::new(status, message).code("overloaded").retryable())
        };
        // The id of a reply lets a client read it, so it must come from the system's randomness, even if the
        // environment has another source.
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
            if (P::EXTRAS.resumption)(&request) == Resumption::Possible && conversation.is_some() {
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
        (P::EXTRAS.stored)(session.blocks());
        let mut body = Body::run_session(agent, request, session, env);
        if !P::EXTRAS.stores_keep_alive {
            // Each tail sends its own keep-alives, because each connection has its own silence, and the log must not
            // contain them.
            body = body.without_ticks();
        }
        user.running.attach(&body);
        let tail = Tail::new::<P>(self.clone(), id, 0, env, user.running.clone());
        let mut reader = Arc::clone(&local).reader();
        let running = user.running.clone();
        let mut pump = Pump::new(self.clone(), id, local, body, meta, env, running);
        // From here on the pump removes the run when the pump is dropped.
        std::mem::forget(guard);
        poll_fn(|cx| {
            // A store in memory creates the log in this call.
            pump.poll_store(cx);
            Poll::Ready(())
        })
        .await;
        (self.shared.spawn)(Box::pin(pump));
        // The log exists before the client reads the head, so that an immediate request to any server finds it. The
        // agent runs in the meantime.
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

/// Removes a run that has not started when it is dropped.
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
}
