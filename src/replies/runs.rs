//! The replies that this process runs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Waker};

use super::health::Health;
use super::limits::Limits;
use super::local::Local;
use super::store::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyStore, StoreError,
};
use crate::protocol::{Env, Framing};
use crate::sync::{Mutex, MutexGuard};

/// A task that the caller of this crate must spawn.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state that all clones of a [`Replies`](super::Replies) share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn ReplyStore>,
    pub(super) health: Health,
    pub(super) spawn: Box<dyn Fn(Task) + Send + Sync>,
    /// `true` while a task loads the common key from the store.
    pub(super) loads_key: AtomicBool,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    replies: HashMap<ReplyId, Run>,
    /// The last run of each conversation.
    latest: HashMap<ConversationKey, ReplyId>,
    /// The number of runs of each user; users without runs have no entry.
    users: HashMap<Arc<str>, usize>,
}

struct Run {
    local: Arc<Local>,
    conversation: Option<ConversationKey>,
    user: Arc<str>,
}

impl Shared {
    pub(super) fn new(store: Arc<dyn ReplyStore>, spawn: Box<dyn Fn(Task) + Send + Sync>) -> Self {
        Self {
            store,
            health: Health::default(),
            spawn,
            loads_key: AtomicBool::new(false),
            runs: Mutex::default(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // A poisoned lock is usable: no code under it panics in the middle of a change.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run. Fails if the maximum number of runs is reached.
    pub(super) fn enter(
        &self,
        id: ReplyId,
        conversation: Option<ConversationKey>,
        user: &Arc<str>,
        limits: &Limits,
        framing: Framing,
    ) -> Option<Arc<Local>> {
        let mut runs = self.runs();
        let own = runs.users.get(user).copied().unwrap_or_default();
        let is_full = runs.replies.len() >= limits.runs;
        let is_over = !limits.single && own >= limits.runs_per_user;
        if is_full || is_over || runs.replies.contains_key(&id) {
            return None;
        }
        runs.users.insert(Arc::clone(user), own + 1);
        let local = Arc::new(Local::new(framing));
        if let Some(conversation) = conversation {
            runs.latest.insert(conversation, id);
        }
        let run = Run {
            local: Arc::clone(&local),
            conversation,
            user: Arc::clone(user),
        };
        runs.replies.insert(id, run);
        Some(local)
    }

    pub(super) fn find(&self, id: &ReplyId) -> Option<Arc<Local>> {
        let runs = self.runs();
        runs.replies.get(id).map(|run| Arc::clone(&run.local))
    }

    /// Returns the last run of a conversation, if it runs in this process.
    pub(super) fn latest(&self, conversation: &ConversationKey) -> Option<ReplyId> {
        self.runs().latest.get(conversation).copied()
    }

    /// Waits for a call to the store, until its timeout, and counts it.
    pub(super) async fn ask<T>(
        &self,
        env: &Env,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.health.call(env, call).await
    }

    /// Reads a page of a log.
    pub(super) async fn read(
        &self,
        env: &Env,
        id: &ReplyId,
        from: u64,
        framing: Framing,
    ) -> Result<LogPage, StoreError> {
        let read = async { self.store.read(id, from).await?.check(from, framing) };
        self.ask(env, read).await
    }

    /// Notes a reader in the store, without waiting for the call.
    pub(super) fn note_reader(self: &Arc<Self>, id: ReplyId, env: &Env) {
        let (shared, env) = (Arc::clone(self), env.clone());
        // The error is ignored: without the note a reply is at worst cancelled too early.
        let note = async move { drop(shared.ask(&env, shared.store.note_reader(&id)).await) };
        (self.spawn)(Box::pin(note));
    }

    /// Runs a task that calls the store: at once if it completes at its first poll, as with a store in memory, and
    /// otherwise as a task of its own, if the runtime still accepts one.
    pub(super) fn finish(&self, mut task: Task) {
        // A second panic while another panic unwinds would abort the process.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut cx = Context::from_waker(Waker::noop());
            if task.as_mut().poll(&mut cx).is_pending() {
                (self.spawn)(task);
            }
        }));
    }

    /// Writes the end of a log whose task is dropped.
    pub(super) fn seal(&self, id: ReplyId, end: ReplyEnd) {
        let store = Arc::clone(&self.store);
        self.finish(Box::pin(async move { drop(store.seal(&id, end).await) }));
    }

    /// Replaces the latest reply of a conversation by an empty log: a page that requests the latest reply must not get
    /// an earlier one.
    pub(super) fn supersede(self: &Arc<Self>, id: ReplyId, meta: ReplyMeta, env: &Env) {
        let (shared, env) = (Arc::clone(self), env.clone());
        self.finish(Box::pin(async move {
            let store = &shared.store;
            if shared.ask(&env, store.create(&id, &meta)).await.is_ok() {
                let _ = shared.ask(&env, store.seal(&id, ReplyEnd::Done)).await;
            }
        }));
    }

    /// Removes a run.
    pub(super) fn leave(&self, id: &ReplyId) {
        let mut runs = self.runs();
        let Some(run) = runs.replies.remove(id) else {
            return;
        };
        if let Some(own) = runs.users.get_mut(&run.user) {
            *own -= 1;
            if *own == 0 {
                runs.users.remove(&run.user);
            }
        }
        if let Some(conversation) = run.conversation {
            // A later run of the conversation may have replaced this one.
            if runs.latest.get(&conversation) == Some(id) {
                runs.latest.remove(&conversation);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.runs().replies.len()
    }
}

opaque_debug!(Shared);
