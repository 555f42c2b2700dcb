//! The replies of one user below one path.

use std::sync::Arc;

use super::Replies;
use super::local::Order;
use super::store::{ConversationKey, Page, ReplyId, ReplyState, ReplyStore, StoreError};
use super::tail::Tail;
use crate::agent::{Agent, Body, Request};
use crate::protocol::{Env, Protocol, Refusal, Resumption};

/// The replies of one user below one path. The ids of other users' replies lead nowhere.
pub(crate) struct UserReplies {
    replies: Replies,
    user: String,
    path: String,
    pub(super) env: Env,
}

impl UserReplies {
    pub(super) fn new(replies: Replies, user: String, path: &str, env: &Env) -> Self {
        Self {
            replies,
            user,
            path: path.to_owned(),
            env: env.clone(),
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

    /// Returns the latest reply of a conversation if it has no end yet.
    async fn running(&self, conversation: &ConversationKey) -> Option<ReplyId> {
        let id = self.store().latest(conversation).await.ok().flatten()?;
        if let Some(local) = self.replies.shared.find(&id) {
            return local.is_running().then_some(id);
        }
        let state = self.store().state(&id).await.ok()?;
        state.end.is_none().then_some(id)
    }

    /// Returns the latest reply of a conversation, unless its end was read already.
    pub(crate) async fn unread(&self, conversation: &str) -> Result<Option<ReplyId>, StoreError> {
        let conversation = self.conversation(conversation);
        let Some(id) = self.store().latest(&conversation).await? else {
            return Ok(None);
        };
        let state = self.state(&id).await?;
        Ok(state.is_some_and(|state| !state.is_read()).then_some(id))
    }

    /// Returns the state of a reply; `None` if there is no such reply.
    pub(crate) async fn state(&self, id: &ReplyId) -> Result<Option<ReplyState>, StoreError> {
        match self.store().state(id).await {
            Ok(state) => Ok(Some(state)),
            Err(StoreError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records that somebody reads a reply.
    pub(crate) async fn note_reader(&self, id: &ReplyId) {
        // A reply without this note is cancelled too early at worst, so the error is not reported.
        let _ = self.store().note_reader(id, 0).await;
    }

    /// Reads events of a reply.
    pub(crate) async fn read(&self, id: &ReplyId, from: u64) -> Result<Page, StoreError> {
        self.store().read(id, from).await
    }

    /// Returns the body with the events of a reply from number `from` on.
    pub(crate) fn tail<P: Protocol>(&self, id: ReplyId, from: u64) -> Body {
        let tail = Tail::new(self.replies.clone(), id, from, P::lost, &self.env);
        Body::from_frames(tail)
    }

    /// Cancels the latest reply of a conversation, if it has one.
    pub(crate) async fn cancel_latest(&self, conversation: &str) -> Result<(), StoreError> {
        let conversation = self.conversation(conversation);
        match self.store().latest(&conversation).await? {
            Some(id) => self.cancel(&id).await,
            None => Ok(()),
        }
    }

    /// Cancels a reply, here or on the server that runs it.
    pub(crate) async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        if let Some(local) = self.replies.shared.find(id) {
            // Here without the store: a reply can be stopped while the store is away.
            local.order(Order::Cancel);
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
    Refusal::new(status, "replies cannot be read now").code("overloaded")
}
