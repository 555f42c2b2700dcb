//! The replies that this process runs.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use super::local::Local;
use super::store::{ConversationKey, ReplyEnd, ReplyId, ReplyStore};

/// A task that the library asks the caller to spawn.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state that all clones of a [`Replies`](super::Replies) share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn ReplyStore>,
    pub(super) spawn: Box<dyn Fn(Task) + Send + Sync>,
    /// A task loads the key of questions from the store.
    pub(super) loads_key: AtomicBool,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    replies: HashMap<ReplyId, Run>,
    /// The run that each conversation had last.
    latest: HashMap<ConversationKey, ReplyId>,
}

struct Run {
    local: Arc<Local>,
    conversation: Option<ConversationKey>,
}

impl Shared {
    pub(super) fn new(store: Arc<dyn ReplyStore>, spawn: Box<dyn Fn(Task) + Send + Sync>) -> Self {
        Self {
            store,
            spawn,
            loads_key: AtomicBool::new(false),
            runs: Mutex::default(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Nothing that is done under the lock panics in the middle of a change.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run, unless there are `most` already.
    pub(super) fn enter(
        &self,
        id: ReplyId,
        conversation: Option<ConversationKey>,
        most: usize,
    ) -> Option<Arc<Local>> {
        let mut runs = self.runs();
        if runs.replies.len() >= most || runs.replies.contains_key(&id) {
            return None;
        }
        let local = Arc::new(Local::new());
        if let Some(conversation) = conversation {
            runs.latest.insert(conversation, id);
        }
        let run = Run {
            local: Arc::clone(&local),
            conversation,
        };
        runs.replies.insert(id, run);
        Some(local)
    }

    pub(super) fn find(&self, id: &ReplyId) -> Option<Arc<Local>> {
        let runs = self.runs();
        runs.replies.get(id).map(|run| Arc::clone(&run.local))
    }

    /// Returns the run that a conversation had last, if it runs here.
    pub(super) fn latest(&self, conversation: &ConversationKey) -> Option<ReplyId> {
        self.runs().latest.get(conversation).copied()
    }

    /// Tells the store how far a reader is, without waiting for it.
    pub(super) fn note_reader(&self, id: ReplyId, next: u64) {
        let store = Arc::clone(&self.store);
        // Without this note a reply is cancelled too early at worst, so the error is not reported.
        let note = async move { drop(store.note_reader(&id, next).await) };
        (self.spawn)(Box::pin(note));
    }

    /// Writes the end of a log whose task is dropped: at once if the store can, as a store in memory does, and
    /// else in a task of its own, if the runtime still accepts one.
    pub(super) fn seal(&self, id: ReplyId, end: ReplyEnd) {
        let store = Arc::clone(&self.store);
        let mut seal: Task = Box::pin(async move { drop(store.seal(&id, end).await) });
        // A second panic while the first one unwinds would end the program.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut cx = Context::from_waker(Waker::noop());
            if seal.as_mut().poll(&mut cx).is_pending() {
                (self.spawn)(seal);
            }
        }));
    }

    /// Removes a run.
    pub(super) fn leave(&self, id: &ReplyId) {
        let mut runs = self.runs();
        let run = runs.replies.remove(id);
        if let Some(conversation) = run.and_then(|run| run.conversation) {
            // A later run of the conversation may have taken the place.
            if runs.latest.get(&conversation) == Some(id) {
                runs.latest.remove(&conversation);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.runs().replies.len()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replies")
            .field("store", &self.store)
            .field("runs", &self.len())
            .finish_non_exhaustive()
    }
}
