//! Calls that a notification may cancel.
//!
//! Every client numbers its calls from 0 or 1, so a number alone proves nothing: the session, whose id nobody else knows,
//! and the user must be the same. Only this process knows its calls, and of those the last ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::Canceller;
use crate::json::Json;

/// The number of calls that are known.
const MOST: usize = 1024;

/// The last calls of a router. Clones share them.
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
        // Nothing that is done under the lock panics in the middle of a change.
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
