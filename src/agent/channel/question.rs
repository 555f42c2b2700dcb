//! Questions that end a turn, and turns that go on with their answers.

use super::{Channel, Handle, Reader, Turn};
use crate::protocol::{Confirmation, Part, Protocol, Question, SendError};

impl<P: Protocol> Channel<P> {
    /// Writes a question, which ends the turn.
    pub(in crate::agent) fn confirm(&self, confirmation: &Confirmation) -> Result<(), SendError> {
        let ask =
            |confirmation: &Confirmation| self.asking.ask(confirmation, self.record.env().minute());
        self.end(false, |session, out| {
            session.part(Part::Confirm(&Question::new(confirmation, &ask)), out)
        })
    }

    /// Returns `true` if an ending or a question was written, and the turn is not closed.
    pub(in crate::agent) fn is_ended(&self) -> bool {
        self.lock().turn == Turn::Ended
    }

    /// Reopens the turn of an agent that waits for the answer to its question. The caller then creates a new
    /// [`Reply`](super::Reply). Returns `false` if the turn is not [ended](Self::is_ended) or has no reader.
    pub(in crate::agent) fn reopen(&self) -> bool {
        let mut state = self.lock();
        // The write that ended the turn has consumed the reply, so no other reply exists.
        let is_open = state.turn == Turn::Ended && !matches!(state.reader, Reader::Gone);
        if is_open {
            state.turn = Turn::Open;
            state.reply = Handle::Alive;
        }
        is_open
    }
}
