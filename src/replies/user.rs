//! The replies of one user below one path.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;

use super::Replies;
use super::local::Found;
use super::pump::TICK;
use super::store::{ConversationKey, Page, ReplyId, ReplyState, ReplyStore, StoreError};
use super::tail::Tail;
use crate::agent::{Agent, Body, Request, Running};
use crate::protocol::{Env, Protocol, Refusal, Resumption};

/// The replies of one user below one path. The ids of other users' replies lead nowhere.
pub(crate) struct UserReplies {
    replies: Replies,
    user: String,
    path: String,
    pub(super) env: Env,
    /// The request that is answered.
    pub(super) running: Running,
}

impl UserReplies {
    pub(super) fn new(
        replies: Replies,
        user: String,
        path: &str,
        env: &Env,
        running: &Running,
    ) -> Self {
        Self {
            replies,
            user,
            path: path.to_owned(),
            env: env.clone(),
            running: running.clone(),
        }
    }

    /// Returns the key of a reply by the id that its front end knows.
    pub(crate) fn reply(&self, id: &str) -> ReplyId {
        ReplyId::new(&self.user, &self.path, id)
    }

    fn conversation(&self, id: &str) -> ConversationKey {
        ConversationKey::new(&self.user, &self.path, id)
    }

    fn store(&self) -> &dyn ReplyStore {
        &*self.replies.shared.store
    }

    /// Runs an agent, or joins the reply to an equal request, of which `digest` is the digest.
    pub(crate) async fn answer<P: Protocol>(
        &self,
        agent: Arc<dyn Agent<P>>,
        request: Request<P>,
        digest: &str,
    ) -> Result<Body, Refusal> {
        let conversation = match P::resumption(&request) {
            Resumption::Possible | Resumption::Required => {
                request.conversation_id().map(|id| self.conversation(&id))
            }
            Resumption::Never => {
                // The word keeps a digest apart from the id of a conversation.
                let same = self.conversation(&format!("request {digest}"));
                if let Some(id) = self.running(&same).await {
                    return Ok(self.tail::<P>(id, 0));
                }
                Some(same)
            }
        };
        self.replies.run(self, conversation, agent, request).await
    }

    /// Returns the latest reply of a conversation if it has no end yet, without the store if it runs here.
    async fn running(&self, conversation: &ConversationKey) -> Option<ReplyId> {
        let here = self.replies.shared.latest(conversation);
        if let Some(id) = here.filter(|id| self.runs_here(id)) {
            return Some(id);
        }
        let id = self.store().latest(conversation).await.ok().flatten()?;
        let state = self.state(&id).await.ok().flatten()?;
        state.end.is_none().then_some(id)
    }

    /// Returns `true` if this process runs a reply that has no end yet.
    fn runs_here(&self, id: &ReplyId) -> bool {
        let local = self.replies.shared.find(id);
        local.is_some_and(|local| local.is_running())
    }

    /// Returns the latest reply of a conversation, unless its end was read already.
    pub(crate) async fn unread(&self, conversation: &str) -> Result<Option<ReplyId>, StoreError> {
        let conversation = self.conversation(conversation);
        let here = self.replies.shared.latest(&conversation);
        let latest = match (self.store().latest(&conversation).await, here) {
            // It is not stored, or the store is away.
            (Ok(None) | Err(_), Some(id)) => Some(id),
            (latest, _) => latest?,
        };
        let Some(id) = latest else {
            return Ok(None);
        };
        if self.runs_here(&id) {
            return Ok(Some(id));
        }
        match self.store().state(&id).await {
            Ok(state) => Ok((!state.is_read()).then_some(id)),
            Err(StoreError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the state of a reply; `None` if there is no such reply. Without the store if the reply runs
    /// here: it is not known then how far readers are.
    pub(crate) async fn state(&self, id: &ReplyId) -> Result<Option<ReplyState>, StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            return Ok(Some(local.state()));
        }
        match self.store().state(id).await {
            Ok(state) => Ok(Some(state)),
            Err(StoreError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records that somebody reads a reply.
    pub(crate) fn note_reader(&self, id: &ReplyId) {
        self.replies.shared.note_reader(*id, 0);
    }

    /// Reads events of a reply, as [`ReplyStore::read`] does, from memory if the reply runs here.
    pub(crate) async fn read(&self, id: &ReplyId, from: u64) -> Result<Page, StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            let mut reader = local.reader();
            let mut ticks = self.env.ticks(TICK);
            let found = poll_fn(|cx| match (reader.poll(from, cx), &mut ticks) {
                (Poll::Ready(found), _) => Poll::Ready(Some(found)),
                (Poll::Pending, Some(ticks)) => ticks.as_mut().poll_next(cx).map(|_| None),
                (Poll::Pending, None) => Poll::Pending,
            });
            match found.await {
                Some(Found::Events(events, next)) => return Ok(Page::new(events, next, None)),
                Some(Found::End(end)) => return Ok(Page::new(Bytes::new(), from, Some(end))),
                Some(Found::Dropped) => {}
                // A tick without events: an empty page, as a store answers after its wait.
                None => return Ok(Page::new(Bytes::new(), from, None)),
            }
        }
        self.store().read(id, from).await
    }

    /// Returns the body with the events of a reply from number `from` on.
    pub(crate) fn tail<P: Protocol>(&self, id: ReplyId, from: u64) -> Body {
        let running = self.running.clone();
        let tail = Tail::new(self.replies.clone(), id, from, P::lost, &self.env, running);
        Body::from_frames(tail)
    }

    /// Cancels the latest reply of a conversation, if it has one. The one that runs here is cancelled first,
    /// without the store.
    pub(crate) async fn cancel_latest(&self, conversation: &str) -> Result<(), StoreError> {
        let conversation = self.conversation(conversation);
        let here = self.replies.shared.latest(&conversation);
        if let Some(id) = &here {
            self.cancel(id).await?;
        }
        match self.store().latest(&conversation).await {
            Ok(Some(id)) if Some(id) != here => self.cancel(&id).await,
            Err(error) if here.is_none() => Err(error),
            _ => Ok(()),
        }
    }

    /// Cancels a reply, here or on the server that runs it.
    pub(crate) async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            // Here without the store: a reply can be stopped while the store is away.
            local.cancel();
            return Ok(());
        }
        match self.store().cancel(id).await {
            Err(StoreError::Gone) => Ok(()),
            done => done,
        }
    }
}

/// Returns the refusal of a request that the store has failed.
pub(crate) fn unavailable(_: StoreError) -> Refusal {
    let status = http::StatusCode::SERVICE_UNAVAILABLE;
    Refusal::new(status, "replies cannot be read now")
        .code("overloaded")
        .retryable()
}
