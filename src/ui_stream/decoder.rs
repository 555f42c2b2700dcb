//! The client's side: reads events from frames.

use super::Event;
use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

/// A reader of the events of one stream.
///
/// It takes what newer servers send: members and chunks that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::read(frame.data())?;
        self.done |= matches!(
            event,
            Event::Finish(_) | Event::Error(_) | Event::Abort(_) | Event::Done
        );
        events.push(event);
        Ok(())
    }

    /// Pages accept a truncated stream as complete. This decoder does not.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated("the stream ended without finish")),
        }
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::TextDelta(text) => Some(TextMember::new(&mut text.delta, &["delta"])),
            _ => None,
        }
    }
}
