//! Decoding of frames to events, for clients.
//!
//! This decoder is not a [`FrameDecoder`](crate::protocol::FrameDecoder): data without a `type` takes its type from the
//! name of the frame, and one struct represents events of all types.

use super::{Event, StreamEvent};
use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

/// A decoder of events.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// The default limit: the last event repeats the complete answer.
    const LIMIT: usize = 32 * 1024 * 1024;

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::read(frame.name(), frame.data())?;
        self.done |= event.stream().is_some_and(StreamEvent::is_last);
        events.push(event);
        Ok(())
    }

    /// Checks that the last event was read. `[DONE]` is not required, because OpenAI's own streams
    /// end without it.
    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        if self.done {
            return Ok(());
        }
        Err(EventError::Truncated(
            "the stream ended without response.completed",
        ))
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        let Event::Stream(event) = event else {
            return None;
        };
        let text = TextMember::new(event.delta.as_mut()?, &["delta"]);
        Some(text.counter("sequence_number", &mut event.sequence_number))
    }
}
