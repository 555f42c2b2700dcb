//! Decoding of frames to events, for clients.
//!
//! The decoder is not a [`FrameDecoder`](crate::protocol::FrameDecoder): a chunk has no type, and a stream is complete
//! with a finish reason and `[DONE]`.

use super::Event;
use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

/// A decoder of events.
#[derive(Debug, Default)]
pub struct Decoder {
    finished: bool,
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
        match &event {
            Event::Chunk(chunk) => {
                let mut choices = chunk.choices.iter();
                // One finished choice is sufficient here, because only a completion knows all choices.
                self.finished |= choices.any(|choice| choice.finish_reason.is_some());
            }
            // An error also ends the stream, and is returned as an event.
            _ => (self.finished, self.done) = (true, true),
        }
        events.push(event);
        Ok(())
    }

    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match (self.finished, self.done) {
            (false, _) => Err(EventError::Truncated(
                "the stream ended without a finish_reason",
            )),
            (true, false) => Err(EventError::Truncated("the stream ended without [DONE]")),
            (true, true) => Ok(()),
        }
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        let Event::Chunk(chunk) = event else {
            return None;
        };
        // Several choices have several texts: such chunks are parsed each time.
        let [choice] = &mut *chunk.choices else {
            return None;
        };
        let text = choice.delta.content.as_mut()?;
        Some(TextMember::new(text, &["choices", "delta", "content"]))
    }
}
