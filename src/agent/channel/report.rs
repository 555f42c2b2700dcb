//! The report of a turn, and what is told beside its events.

use std::sync::PoisonError;

use http::{HeaderName, HeaderValue};

use super::{Channel, Outcome};
use crate::protocol::{self, MAX_HEADERS, Protocol, Usage};

impl<P: Protocol> Channel<P> {
    /// Sets a header of the response, at most [`MAX_HEADERS`].
    pub(in crate::agent) fn set_header(&self, name: HeaderName, value: HeaderValue) {
        let mut state = self.lock();
        let headers = state.headers.get_or_insert_default();
        if headers.len() < MAX_HEADERS {
            headers.append(name, value);
        }
    }

    /// Adds `usage` to the usage of the turn, and returns the sum.
    pub(crate) fn spend(&self, usage: Usage) -> Usage {
        let mut state = self.lock();
        let sum = state.progress.usage.get_or_insert_default();
        *sum += usage;
        *sum
    }
}

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
