//! The client's side: events out of frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// Reads the events of one stream.
///
/// It takes what newer servers send: members and chunks that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    over: bool,
}

impl Decoder {
    /// Returns `true` if the stream has come to its end: `finish`, `error`, `abort` or `[DONE]`.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }
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
        let event = Event::read(frame.data())?;
        self.over |= matches!(
            event,
            Event::Finish(_) | Event::Error(_) | Event::Abort(_) | Event::Done
        );
        events.push(event);
        Ok(())
    }

    /// A page takes a stream that is cut for a complete one. This decoder does not.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.over {
            true => Ok(()),
            false => Err(EventError::Truncated("the stream ended without finish")),
        }
    }
}
