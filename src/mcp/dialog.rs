//! Questions that clients answer while the stream of the call is open, in versions with sessions.
//!
//! The server sends the question on that stream as a request. The client sends the answer in a separate message, which
//! repeats the id of the question. The id comes from the system's randomness, and the caller must be the same. An
//! answer that reaches another process, or arrives after the end of the call, is lost.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

use super::random::random;

/// The maximum number of open questions, and of open questions of one user.
const MOST: usize = 4096;
const MOST_PER_USER: usize = 256;

/// The open questions of a router. Clones share the map.
#[derive(Clone, Default)]
pub(super) struct Dialogs(Arc<Mutex<HashMap<String, Asked>>>);

/// An open question: the user, and the dialog.
type Asked = (Option<Arc<str>>, Weak<Dialog>);

/// The dialog of one call.
pub(super) struct Dialog {
    all: Dialogs,
    user: Option<Arc<str>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The id of the open question, and its text with the proof.
    open: Option<(String, String)>,
    /// The text of the question that was answered, and `true` if the user accepted.
    answer: Option<(String, bool)>,
    waiting: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that runs under the locks can panic in the middle of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Dialogs {
    /// Creates the dialog of a call.
    pub(super) fn dialog(&self, user: Option<Arc<str>>) -> Arc<Dialog> {
        Arc::new(Dialog {
            all: self.clone(),
            user,
            state: Mutex::default(),
        })
    }

    /// Answers the question with this id, if it was asked to the same user.
    pub(super) fn answer(&self, id: &str, user: Option<&str>, accepted: bool) {
        let dialog = lock(&self.0)
            .get(id)
            .and_then(|(_, dialog)| dialog.upgrade());
        if let Some(dialog) = dialog.filter(|dialog| dialog.user.as_deref() == user) {
            dialog.settle(id, accepted);
        }
    }
}

impl Dialog {
    /// Opens a question and returns its id; `None` if too many are open, or without random bytes of the system.
    pub(super) fn ask(self: &Arc<Self>, text: String) -> Option<String> {
        let id = format!("cw-{}", random()?);
        let mut all = lock(&self.all.0);
        let own = all.values().filter(|(user, _)| *user == self.user).count();
        if all.len() >= MOST || own >= MOST_PER_USER {
            return None;
        }
        all.insert(id.clone(), (self.user.clone(), Arc::downgrade(self)));
        drop(all);
        lock(&self.state).open = Some((id.clone(), text));
        Some(id)
    }

    /// Returns `true` if a question is open.
    pub(super) fn is_open(&self) -> bool {
        lock(&self.state).open.is_some()
    }

    fn settle(&self, id: &str, accepted: bool) {
        let mut state = lock(&self.state);
        let Some((_, text)) = state.open.take_if(|(open, _)| open == id) else {
            return;
        };
        state.answer = Some((text, accepted));
        let waiting = state.waiting.take();
        drop(state);
        lock(&self.all.0).remove(id);
        // Foreign code, so it is called without the locks.
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// Waits for the answer to the open question. `None` at once if no question is open.
    pub(super) async fn answered(&self) -> Option<(String, bool)> {
        poll_fn(|cx| {
            let mut state = lock(&self.state);
            if let Some(answer) = state.answer.take() {
                return Poll::Ready(Some(answer));
            }
            if state.open.is_none() {
                return Poll::Ready(None);
            }
            state.waiting = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some((id, _)) = &state.open {
            lock(&self.all.0).remove(id);
        }
    }
}

opaque_debug!(Dialog);
