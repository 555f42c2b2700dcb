//! The configuration of conversations by id.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;

use super::ConversationStore;
use super::running::RunningLists;
use super::user::{Limits, UserConversations};
use crate::protocol::{Env, User};

/// The configuration of conversations by id: the store of their turns, their users, and limits.
///
/// Clones share the store.
#[derive(Clone, Debug)]
#[must_use]
pub struct Conversations {
    store: Arc<dyn ConversationStore>,
    limits: Limits,
    running: RunningLists,
}

impl Conversations {
    /// Creates the conversations of a server with several users.
    ///
    /// A conversation belongs to the [`User`] that a guard adds to its requests; for all other users its ids are
    /// unknown. A request without a user is answered as if there were no store.
    pub fn per_user(store: impl ConversationStore + 'static) -> Self {
        Self {
            store: Arc::new(store),
            limits: Limits::default(),
            running: RunningLists::default(),
        }
    }

    /// Creates the conversations of a server with one user: everyone who can send requests can continue and read all
    /// conversations by their ids.
    pub fn single_user(store: impl ConversationStore + 'static) -> Self {
        let mut conversations = Self::per_user(store);
        conversations.limits.single = true;
        conversations
    }

    /// Sets the time for which a turn is kept after it was last written, read or continued. The default is 24 hours.
    pub fn keep(mut self, time: Duration) -> Self {
        self.limits.keep = time;
        self
    }

    /// Sets the limits of one conversation, in turns and in bytes. A conversation that has reached a limit cannot be
    /// continued. The defaults are 1,000 turns and 16 MiB.
    pub fn limit(mut self, turns: usize, bytes: usize) -> Self {
        (self.limits.turns, self.limits.bytes) = (turns, bytes);
        self
    }

    /// Returns the conversations of the user of a request, below a path.
    pub(crate) fn of(&self, parts: &Parts, path: &str, env: &Env) -> Option<UserConversations> {
        let user = match parts.extensions.get::<User>() {
            _ if self.limits.single => "".into(),
            user => Arc::clone(&user?.id),
        };
        let store = Arc::clone(&self.store);
        let running = self.running.clone();
        Some(UserConversations::new(
            store,
            self.limits,
            running,
            user,
            path,
            env,
        ))
    }
}
