use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::store::Conversation;

/// Lets one turn of a conversation at a time through.
#[derive(Debug, Default)]
pub(super) struct Turns {
    gates: Mutex<HashMap<Conversation, Weak<AsyncMutex<()>>>>,
}

impl Turns {
    /// Waits until no other turn of the conversation is at work. The guard ends the wait of the next.
    pub(super) async fn enter(&self, conversation: &Conversation) -> OwnedMutexGuard<()> {
        let gate = self.gate(conversation);
        gate.lock_owned().await
    }

    fn gate(&self, conversation: &Conversation) -> Arc<AsyncMutex<()>> {
        // Every change is one step, so a panic elsewhere leaves the map whole.
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|_, gate| gate.strong_count() > 0);
        if let Some(gate) = gates.get(conversation).and_then(Weak::upgrade) {
            return gate;
        }
        let gate = Arc::new(AsyncMutex::new(()));
        gates.insert(conversation.clone(), Arc::downgrade(&gate));
        gate
    }
}
