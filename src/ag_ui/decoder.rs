//! The client's side: reads events from frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

/// A reader of the events of one stream.
///
/// It takes what newer servers send: members and events that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// Clients take frames of up to 10 million characters.
    const LIMIT: usize = 10_000_000;

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::read(frame.data())?;
        match event {
            Event::RunFinished(_) | Event::RunError(_) => self.done = true,
            // A stream may hold several runs.
            Event::RunStarted(_) => self.done = false,
            _ => {}
        }
        events.push(event);
        Ok(())
    }

    /// Apps accept a truncated stream as complete. This decoder does not.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated(
                "the stream ended without RUN_FINISHED",
            )),
        }
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::TextMessageContent(text) => Some(TextMember::new(&mut text.delta, &["delta"])),
            _ => None,
        }
    }
}
