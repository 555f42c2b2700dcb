//! The configuration of replies that outlive their connections.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;

use super::health::StoreHealth;
use super::limits::Limits;
use super::runs::{Shared, Task};
use super::store::{self, ReplyStore};
use crate::protocol::{Protocol, Resumption};

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
#[must_use]
pub struct Replies {
    pub(super) shared: Arc<Shared>,
    pub(super) limits: Limits,
}

impl Replies {
    /// Creates the replies of a server with several users.
    ///
    /// `spawn` runs a task to its end, such as `tokio::spawn`. A reply belongs to the [`User`](crate::protocol::User)
    /// of its request, whom a guard has added: no other user can read or cancel it. Without a user the reply is not
    /// resumable.
    pub fn per_user<S, T>(store: impl ReplyStore + 'static, spawn: S) -> Self
    where
        S: Fn(Task) -> T + Send + Sync + 'static,
    {
        let spawn = move |task| drop(spawn(task));
        Self {
            shared: Arc::new(Shared::new(Arc::new(store), Box::new(spawn))),
            limits: Limits::default(),
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
    pub fn keep(mut self, time: Duration) -> Self {
        self.limits.keep = time;
        self
    }

    /// Sets the maximum time of a reply, after which it fails. The default is an hour.
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.limits.lifetime = time;
        self
    }

    /// Sets the time after which a reply without a reader on any server is cancelled. The default is 10 minutes.
    pub fn abandoned(mut self, time: Duration) -> Self {
        self.limits.abandoned = time;
        self
    }

    /// Sets the limits of one reply, in bytes and in events, beyond which it is not stored. The defaults are 8 MiB and
    /// 100,000 events. While the store is unavailable, at most this much of each reply is in memory.
    ///
    /// Beyond the limits the log ends with [`ReplyEnd::Lost`](super::ReplyEnd::Lost), and the reply continues for the
    /// readers that are connected to this server; without a reader it fails. From then on at most 256 KiB of the reply
    /// are in memory: the agent waits for the furthest reader, and a reader that falls further behind gets a failure.
    /// The same applies to a reply whose log was lost or was ended by another server.
    pub fn limit(mut self, bytes: usize, events: u64) -> Self {
        (self.limits.bytes, self.limits.events) = (bytes, events);
        self
    }

    /// Sets the maximum number of resumable replies that run in this process at the same time. Further replies are
    /// ordinary ones, which end with their connections. The default is 1,000.
    pub fn runs(mut self, most: usize) -> Self {
        self.limits.runs = most;
        self
    }

    /// Sets the maximum number of resumable replies of one user that run in this process at the same time. Further
    /// replies are ordinary ones. The default is 32; a server with a single user has no such limit.
    pub fn runs_per_user(mut self, most: usize) -> Self {
        self.limits.runs_per_user = most;
        self
    }

    /// Sets whether replies are also resumable for front ends that cannot resume. The agent then continues when such a
    /// client disconnects. While it runs, the same request of the same user joins its reply from the beginning. By
    /// default these replies end with their connections. The head of a joined reply does not
    /// [wait](crate::Router::first_output_timeout) for the first output.
    pub fn join(mut self, join: bool) -> Self {
        self.limits.join = join;
        self
    }

    /// Sets the maximum time of a connection, after which its client resumes the reply on a new one. By default there
    /// is no maximum.
    ///
    /// Use it for servers that share a store behind a proxy or a mesh that ends every stream after some time. The
    /// connection is broken earlier, after a whole event, like a network failure. The body fails with
    /// [`Interrupted`](crate::agent::Interrupted), which servers turn into an incomplete response (HTTP/1) or a reset
    /// stream (HTTP/2). At a shutdown every connection is broken within a second, so that readers continue at another
    /// server, while the replies continue here until [the patience](crate::Router::drain) is over.
    ///
    /// Only connections of replies that can be resumed are broken, once their log is stored; connections that were
    /// [joined](Self::join) and WebSockets are not. A client that does not resume after a broken connection shows an
    /// error; the guide lists what clients need. The time is counted in whole seconds, and only if the environment has
    /// a timer.
    pub fn reconnect_after(mut self, time: Duration) -> Self {
        self.limits.reconnect = Some(time);
        self
    }

    /// Returns the number of replies that run in this process.
    pub fn running(&self) -> usize {
        self.shared.len()
    }

    /// Returns the health of the store as observed by the calls of this process, for health checks and metrics. It does
    /// not call the store. With the feature `tracing` an event reports when the store becomes unreachable, and when it
    /// is reachable again.
    pub fn health(&self) -> StoreHealth {
        self.shared.health.report(self.running())
    }

    /// Returns `true` if the reply to `request` must be stored.
    pub(crate) fn takes<P: Protocol>(&self, request: &P::Request) -> bool {
        let resumes = (P::EXTRAS.resumption)(request) != Resumption::Never;
        (P::EXTRAS.is_stream)(request) && (self.limits.join || resumes)
    }

    /// Returns the digest of a request to a path if equal requests share a reply; otherwise an empty text.
    pub(crate) fn digest(&self, parts: &Parts, body: &[u8]) -> String {
        match self.limits.join {
            true => store::digest(parts.uri.query().unwrap_or_default(), body),
            false => String::new(),
        }
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shared = f.debug_struct("Replies");
        shared.field("shared", &self.shared);
        shared.field("limits", &self.limits).finish()
    }
}
