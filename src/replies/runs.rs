//! The replies that this process runs.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use http::request::Parts;

use super::local::{Local, Order};
use super::store::{ReplyId, ReplyStore};

/// A task that the library asks the caller to spawn.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Returns who sent a request.
pub(super) type WhoAsks = dyn Fn(&Parts) -> Option<String> + Send + Sync;

/// The state that all clones of a [`Replies`](super::Replies) share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn ReplyStore>,
    pub(super) spawn: Box<dyn Fn(Task) + Send + Sync>,
    pub(super) user: Box<WhoAsks>,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    replies: HashMap<ReplyId, Arc<Local>>,
    draining: bool,
    /// The tasks that wait for the last run to end.
    waiting: Vec<Waker>,
}

impl Shared {
    pub(super) fn new(
        store: Arc<dyn ReplyStore>,
        spawn: Box<dyn Fn(Task) + Send + Sync>,
        user: Box<WhoAsks>,
    ) -> Self {
        Self {
            store,
            spawn,
            user,
            runs: Mutex::default(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Nothing that is done under the lock panics in the middle of a change.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run, unless there are `most` already or no more are accepted.
    pub(super) fn enter(&self, id: ReplyId, most: usize) -> Option<Arc<Local>> {
        let mut runs = self.runs();
        if runs.draining || runs.replies.len() >= most || runs.replies.contains_key(&id) {
            return None;
        }
        let local = Arc::new(Local::new());
        runs.replies.insert(id, Arc::clone(&local));
        Some(local)
    }

    pub(super) fn find(&self, id: &ReplyId) -> Option<Arc<Local>> {
        self.runs().replies.get(id).cloned()
    }

    /// Removes a run.
    pub(super) fn leave(&self, id: &ReplyId) {
        let mut runs = self.runs();
        runs.replies.remove(id);
        if runs.replies.is_empty() {
            let waiting = mem::take(&mut runs.waiting);
            drop(runs);
            waiting.into_iter().for_each(Waker::wake);
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
        poll_fn(|cx| {
            if patient && patience.as_mut().poll(cx).is_ready() {
                patient = false;
                let replies: Vec<_> = self.runs().replies.values().cloned().collect();
                replies.iter().for_each(|it| it.order(Order::Fail));
            }
            self.poll_empty(cx)
        })
        .await;
    }

    fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        let mut runs = self.runs();
        if runs.replies.is_empty() {
            return Poll::Ready(());
        }
        if !runs.waiting.iter().any(|it| it.will_wake(cx.waker())) {
            runs.waiting.push(cx.waker().clone());
        }
        Poll::Pending
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
