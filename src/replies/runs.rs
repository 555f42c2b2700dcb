//! The replies that this process runs.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::local::{Local, Order};
use super::store::{ConversationKey, ReplyEnd, ReplyId, ReplyStore};
use super::wakers::{Key, Wakers};

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
    draining: bool,
    /// The tasks that wait for the last run to end.
    waiting: Wakers,
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

    /// Adds a run, unless there are `most` already or no more are accepted.
    pub(super) fn enter(
        &self,
        id: ReplyId,
        conversation: Option<ConversationKey>,
        most: usize,
    ) -> Option<Arc<Local>> {
        let mut runs = self.runs();
        if runs.draining || runs.replies.len() >= most || runs.replies.contains_key(&id) {
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
        if runs.replies.is_empty() {
            let waiting = runs.waiting.take();
            drop(runs);
            waiting.for_each(Waker::wake);
        }
    }

    pub(super) fn is_draining(&self) -> bool {
        self.runs().draining
    }

    pub(super) fn len(&self) -> usize {
        self.runs().replies.len()
    }

    /// Accepts no more runs, and waits for those that there are; lets them fail after `patience`.
    pub(super) async fn drain(&self, patience: impl Future<Output = ()>) {
        // Set before the first look: from here on the number of runs can only fall.
        self.runs().draining = true;
        let mut patience = pin!(patience);
        let mut patient = true;
        let mut waiter = Waiter(self, None);
        poll_fn(|cx| {
            if patient && patience.as_mut().poll(cx).is_ready() {
                patient = false;
                let local = |run: &Run| Arc::clone(&run.local);
                let runs: Vec<_> = self.runs().replies.values().map(local).collect();
                runs.iter().for_each(|it| it.order(Order::Fail));
            }
            waiter.poll_empty(cx)
        })
        .await;
    }
}

/// A task that waits for the last run to end.
struct Waiter<'a>(&'a Shared, Key);

impl Waiter<'_> {
    fn poll_empty(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut runs = self.0.runs();
        if runs.replies.is_empty() {
            return Poll::Ready(());
        }
        runs.waiting.wait(&mut self.1, cx);
        Poll::Pending
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.runs().waiting.remove(self.1);
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
