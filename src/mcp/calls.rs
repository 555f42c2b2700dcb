//! Calls that a notification may cancel.
//!
//! Every client numbers its calls from 0 or 1, so a number does not identify a call: the session, whose id is secret,
//! and the user must be the same too. Each process stores only its own calls, and only the newest of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::Canceller;
use crate::json::Json;

/// The maximum number of stored calls.
const MOST: usize = 1024;

/// The newest calls of a router. Clones share the list.
#[derive(Clone, Default)]
pub(super) struct Calls(Arc<Mutex<VecDeque<Running>>>);

/// A call that may run.
pub(super) struct Running {
    pub(super) session: String,
    pub(super) user: Option<Arc<str>>,
    /// The id of the call.
    pub(super) id: Json,
    /// The id of the reply.
    #[cfg(feature = "resumable")]
    pub(super) reply: String,
    /// `None` if the reply is stored.
    pub(super) canceller: Option<Canceller>,
}

impl Calls {
    pub(super) fn add(&self, running: Running) {
        // No code that runs under the lock can panic in the middle of a change.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(running);
    }

    /// Removes a call of this caller.
    pub(super) fn take(&self, session: &str, user: Option<&str>, id: &Json) -> Option<Running> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |it: &Running| it.session == session && it.user.as_deref() == user && it.id == *id;
        let at = all.iter().rposition(is_it)?;
        all.remove(at)
    }
}
