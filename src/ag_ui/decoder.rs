//! The client's side: events out of frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// Reads the events of one stream.
///
/// It takes what newer servers send: members and events that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    over: bool,
}

impl Decoder {
    /// Returns `true` if the run has ended: `RUN_FINISHED` or `RUN_ERROR`.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }
}

impl Decode for Decoder {
    type Event = Event;

    /// Clients take frames of up to 10 million characters.
    const LIMIT: usize = 10_000_000;

    /// Nothing is retained between frames.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::read(frame.data())?;
        match event {
            Event::RunFinished(_) | Event::RunError(_) => self.over = true,
            // A stream may hold several runs.
            Event::RunStarted(_) => self.over = false,
            _ => {}
        }
        events.push(event);
        Ok(())
    }

    /// An app takes a stream that is cut for a complete one. This decoder does not.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.over {
            true => Ok(()),
            false => Err(EventError::Truncated(
                "the stream ended without RUN_FINISHED",
            )),
        }
    }
}
