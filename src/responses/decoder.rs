//! The client's side: events out of frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    ended: bool,
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// The last event repeats the whole answer.
    const LIMIT: usize = 32 * 1024 * 1024;

    /// Nothing is retained between frames.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::read(frame.name(), frame.data())?;
        match &event {
            Event::Stream(event) => self.ended |= event.is_last(),
            _ => self.done = true,
        }
        events.push(event);
        Ok(())
    }

    /// OpenAI's own streams end without `[DONE]`, so only the last event counts.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        if self.ended {
            return Ok(());
        }
        Err(EventError::Truncated(
            "the stream ended without response.completed",
        ))
    }
}

impl Decoder {
    /// Returns `true` if the response has ended: complete, incomplete or failed.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Returns `true` if `[DONE]` was read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}
