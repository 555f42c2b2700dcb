//! The client's side: events out of frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// Nothing is retained between frames.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        // Some servers of this dialect end with the `[DONE]` of another.
        if frame.data().trim() == "[DONE]" {
            return Ok(());
        }
        let event = Event::read(frame.data())?;
        self.done |= matches!(event, Event::MessageStop | Event::Error(_));
        events.push(event);
        Ok(())
    }

    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated(super::NO_STOP)),
        }
    }
}

impl Decoder {
    /// Returns `true` if the stream has come to its end: `message_stop`, or an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}
