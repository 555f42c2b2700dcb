//! Decoding of frames to events, for clients.

use super::{Delta, Event};
use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

/// A decoder of events.
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
        // Some compatible servers end with the `[DONE]` of OpenAI's protocol.
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

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => Some(TextMember::new(text, &["delta", "text"])),
            _ => None,
        }
    }
}
