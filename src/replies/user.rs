//! The replies of one user below one path.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;

use super::Replies;
use super::local::Found;
use super::pump::{Pump, TICK};
use super::store::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
use super::tail::Tail;
use crate::agent::{Agent, Body, Request, Running};
use crate::conversations::ConnectionTurns;
use crate::protocol::{Env, Environment, Protocol, Refusal, Resumption, User};

/// The maximum time that the head of a response waits for each response of the store.
const REGISTRATION: Duration = Duration::from_millis(10);

/// The replies of one user below one path. Ids of other users' replies are not found here.
///
/// An endpoint gets this value from [`HttpRequest::replies`](crate::router::HttpRequest::replies):
///
/// ```
/// use copilot_wire::protocol::{Protocol, Refusal};
/// use copilot_wire::router::{HttpRequest, stream};
/// use copilot_wire::Body;
/// use http::Response;
///
/// /// Sends the latest reply of a conversation from its beginning.
/// async fn resume<P: Protocol>(call: &HttpRequest, path: &str) -> Option<Response<Body>> {
///     let replies = call.replies(path)?;
///     let id = replies.latest(call.param("conversation")?).await?;
///     Some(stream::<P>(replies.tail::<P>(id, 0)))
/// }
///
/// /// Cancels the latest reply of a conversation.
/// async fn stop(call: &HttpRequest, path: &str) -> Result<(), Refusal> {
///     if let (Some(replies), Some(id)) = (call.replies(path), call.param("conversation")) {
///         replies.cancel_latest(id).await?;
///     }
///     Ok(())
/// }
/// ```
pub struct UserReplies {
    replies: Replies,
    user: Arc<str>,
    path: String,
    env: Env,
    /// The request that is being answered.
    running: Running,
}

impl Replies {
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
        Some(UserReplies {
            replies,
            user: user.into(),
            path: path.to_owned(),
            env: env.clone(),
            running: running.clone(),
        })
    }
}

impl UserReplies {
    /// Returns the key of a reply by the id that its front end uses, which
    /// [`Session::reply_id`](crate::protocol::Session::reply_id) has returned.
    pub fn reply(&self, id: &str) -> ReplyId {
        ReplyId::new(&self.user, &self.path, id)
    }

    fn conversation(&self, id: &str) -> ConversationKey {
        ConversationKey::new(&self.user, &self.path, id)
    }

    fn store(&self) -> &dyn ReplyStore {
        &*self.replies.shared.store
    }

    /// Waits for a call to the store, until its timeout.
    async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.replies.shared.ask(&self.env, call).await
    }

    /// Runs an agent, or joins the reply to an equal request, which has the same `digest`.
    pub(crate) async fn answer<P: Protocol>(
        &self,
        agent: Arc<dyn Agent<P>>,
        request: Request<P>,
        digest: &str,
    ) -> Result<Body, Refusal> {
        let mut replies = self.replies.clone();
        let conversation = match (P::EXTRAS.resumption)(&request) {
            Resumption::Possible | Resumption::Required => {
                let conversation = request.conversation_id();
                if conversation.is_none()
                    && (P::EXTRAS.resumption)(&request) == Resumption::Possible
                {
                    // The client has no id by which it could request the reply again.
                    replies.limits.reconnect = None;
                }
                conversation.map(|id| self.conversation(&id))
            }
            Resumption::Never => {
                replies.limits.reconnect = None;
                // The prefix makes a digest different from the id of a conversation.
                let same = self.conversation(&format!("request {digest}"));
                if let Some(id) = self.running(&same).await {
                    let running = self.running.clone();
                    let tail = Tail::new::<P>(replies, id, 0, &self.env, running);
                    return Ok(Body::from_frames(tail));
                }
                Some(same)
            }
        };
        self.run(replies, conversation, agent, request).await
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
        replies: Replies,
        conversation: Option<ConversationKey>,
        agent: Arc<dyn Agent<P>>,
        request: Request<P>,
    ) -> Result<Body, Refusal> {
        let env = &self.env;
        let required = (P::EXTRAS.resumption)(&request) == Resumption::Required;
        let refuse = |message| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Err(Refusal::new(status, message).code("overloaded").retryable())
        };
        // The id of a reply lets a client read it, so it must come from the system's randomness, even if the
        // environment has another source.
        let mut session = request.session(&Env::new(Secret(env.clone())));
        let id = match session.reply_id() {
            Some(id) => self.reply(id),
            None => self.reply(&Env::new(Secret(env.clone())).uuid()),
        };
        let mut meta = ReplyMeta::new(
            replies.limits.lifetime + replies.limits.keep,
            replies.limits.keep,
        );
        meta.conversation = conversation;
        let entered =
            replies
                .shared
                .enter(id, conversation, &self.user, &replies.limits, P::FRAMING);
        let Some(local) = entered else {
            if required {
                return refuse("too many replies at a time");
            }
            if (P::EXTRAS.resumption)(&request) == Resumption::Possible && conversation.is_some() {
                replies.shared.supersede(id, meta, env);
            }
            replies.shared.health.add_unstored();
            let body = Body::run_session(agent, request, session, env);
            body.set_unstored(true);
            return Ok(body);
        };
        // Removes the run if this future is dropped.
        let guard = Guard(&replies, id);
        if required {
            let create = replies.shared.store.create(&id, &meta);
            if replies.shared.ask(env, create).await.is_err() {
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
        body.register(&self.running);
        let tail = Tail::new::<P>(replies.clone(), id, 0, env, self.running.clone());
        let mut reader = Arc::clone(&local).reader();
        let running = self.running.clone();
        let mut pump = Pump::new(replies.clone(), id, local, body, meta, env, running);
        // From here on the pump removes the run when the pump is dropped.
        std::mem::forget(guard);
        poll_fn(|cx| {
            // A store in memory creates the log in this call.
            pump.poll_store(cx);
            Poll::Ready(())
        })
        .await;
        (replies.shared.spawn)(Box::pin(pump));
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

    /// Returns the latest reply of a conversation if it has no end yet. If it runs in this process, the store is not
    /// called.
    async fn running(&self, conversation: &ConversationKey) -> Option<ReplyId> {
        let here = self.replies.shared.latest(conversation);
        if let Some(id) = here.filter(|id| self.runs_here(id)) {
            return Some(id);
        }
        // The head of the response waits for this lookup. While the store is unavailable, the agent answers again.
        let lookup = async {
            let id = self.ask(self.store().latest(conversation)).await;
            let id = id.ok().flatten()?;
            let state = self.state(&id).await.ok().flatten()?;
            state.end.is_none().then_some(id)
        };
        self.env.within(REGISTRATION, lookup).await.flatten()
    }

    /// Returns `true` if this process runs a reply that has no end yet.
    fn runs_here(&self, id: &ReplyId) -> bool {
        let local = self.replies.shared.find(id);
        local.is_some_and(|local| local.is_running())
    }

    /// Returns the latest reply of a conversation, if it runs or is still stored. While the store is unavailable, finds
    /// only replies that run in this process.
    pub async fn latest(&self, conversation: &str) -> Option<ReplyId> {
        let conversation = self.conversation(conversation);
        let here = self.replies.shared.latest(&conversation);
        let local = here.and_then(|id| self.replies.shared.find(&id));
        if local.is_some_and(|local| !local.is_stored()) {
            // The store has only earlier replies of the conversation.
            return here;
        }
        let Ok(Some(id)) = self.ask(self.store().latest(&conversation)).await else {
            return here;
        };
        let Ok(Some(state)) = self.state(&id).await else {
            return here;
        };
        // An empty log with an end marks a reply that was not stored.
        let is_empty = state.next == 0 && state.end == Some(ReplyEnd::Done);
        (!is_empty).then_some(id)
    }

    /// Returns the state of a reply; `None` if there is no such reply. If it runs in this process, the store is not
    /// called.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the call to the store fails.
    pub async fn state(&self, id: &ReplyId) -> Result<Option<ReplyState>, StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            return Ok(Some(local.state()));
        }
        match self.ask(self.store().state(id)).await {
            Ok(state) => Ok(Some(state)),
            Err(StoreError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Notes a reader of a reply: a reply without readers is cancelled [after some time](Replies::abandoned).
    pub fn note_reader(&self, id: &ReplyId) {
        self.replies.shared.note_reader(*id, &self.env);
    }

    /// Reads events of a reply, like [`ReplyStore::read`], but from memory if the reply runs in this process.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the call to the store fails, or there is no such reply.
    pub async fn read<P: Protocol>(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            let mut reader = local.reader();
            let mut ticks = self.env.ticks(TICK);
            let found = poll_fn(|cx| match (reader.poll(from, cx), &mut ticks) {
                (Poll::Ready(found), _) => Poll::Ready(Some(found)),
                (Poll::Pending, Some(ticks)) => ticks.as_mut().poll_next(cx).map(|_| None),
                (Poll::Pending, None) => Poll::Pending,
            });
            match found.await {
                Some(Found::Events(events, next)) => {
                    return Ok(LogPage::new(from..next, events, None));
                }
                Some(Found::End(end)) => {
                    return Ok(LogPage::new(from..from, Bytes::new(), Some(end)));
                }
                Some(Found::Dropped) => {}
                // After a tick without events the page is empty, like the page of a store after its wait.
                None => return Ok(LogPage::new(from..from, Bytes::new(), None)),
            }
        }
        self.replies
            .shared
            .read(&self.env, id, from, P::FRAMING)
            .await
    }

    /// Returns a body with the events of a reply from number `from` on. If the reply has fewer events, only its end is
    /// sent.
    pub fn tail<P: Protocol>(&self, id: ReplyId, from: u64) -> Body {
        self.tail_behind::<P>(id, from, "")
    }

    /// Returns a body like [`tail`](Self::tail), for a client that has sent the part of the first event that
    /// [`Extras::lost`](crate::protocol::Extras::lost) needs, so that it is not read from the store.
    pub fn tail_behind<P: Protocol>(
        &self,
        id: ReplyId,
        from: u64,
        first: impl Into<Bytes>,
    ) -> Body {
        let running = self.running.clone();
        let tail = Tail::new::<P>(self.replies.clone(), id, from, &self.env, running);
        Body::from_frames(tail.behind(first.into()))
    }

    /// Cancels the latest reply of a conversation, if there is one. A reply that runs in this process is cancelled
    /// first, without the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the call to the store fails.
    pub async fn cancel_latest(&self, conversation: &str) -> Result<(), StoreError> {
        let conversation = self.conversation(conversation);
        let here = self.replies.shared.latest(&conversation);
        if let Some(id) = &here {
            self.cancel(id).await?;
        }
        match self.ask(self.store().latest(&conversation)).await {
            Ok(Some(id)) if Some(id) != here => self.cancel(&id).await,
            Err(error) if here.is_none() => Err(error),
            _ => Ok(()),
        }
    }

    /// Cancels a reply, here or on the server that runs it. It is no error if there is no such reply.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the call to the store fails.
    pub async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            // Without the store, so that the reply can be stopped while the store is unavailable.
            local.cancel();
            return Ok(());
        }
        match self.ask(self.store().cancel(id)).await {
            Err(StoreError::Gone) => Ok(()),
            done => done,
        }
    }
}

/// Removes a run that has not started when it is dropped.
struct Guard<'a>(&'a Replies, ReplyId);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.shared.leave(&self.1);
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

opaque_debug!(UserReplies);
