//! The report of a turn.

use std::sync::PoisonError;

use super::{Channel, Outcome};
use crate::protocol::{self, Protocol};

/// Reports the turn: body, run and reply are dropped.
impl<P: Protocol> Drop for Channel<P> {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let outcome = match &state.closed {
            Some((Outcome::Failed(error), sent)) => {
                protocol::Outcome::Failed { error, sent: *sent }
            }
            Some((Outcome::Panicked, sent)) => protocol::Outcome::Panicked { sent: *sent },
            Some((Outcome::Cancelled, _)) => protocol::Outcome::Cancelled,
            Some((Outcome::ShutDown, _)) => protocol::Outcome::ShutDown,
            // If the client did not receive the whole answer, it counts as disconnected, whatever the agent returned.
            Some((Outcome::Answered, _)) if !state.unread => protocol::Outcome::Answered,
            Some((Outcome::Answered | Outcome::Dropped, _)) | None => protocol::Outcome::ClientLeft,
        };
        self.record.finish(outcome, state.progress);
    }
}
