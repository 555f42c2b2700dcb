//! Decoding of frames to events, for clients.

use super::Event;
use crate::json::Json;
use crate::protocol::text_template::{TextEvent, TextTemplate};
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// A decoder of events.
///
/// A chunk that differs from the previous one only in its text is not parsed again.
#[derive(Debug, Default)]
pub struct Decoder {
    template: TextTemplate<Event>,
    finished: bool,
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// Creates a decoder. The limit is unused: only a template of one frame is retained.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let data = frame.data();
        let event = self.template.read(data, || Event::read(data))?;
        match &event {
            Event::Chunk(chunk) => {
                let mut choices = chunk.choices.iter();
                // One choice is enough here: which choices there are is known to an accumulator
                // only.
                self.finished |= choices.any(|choice| choice.finish_reason.is_some());
            }
            // An error is also an end, and is an event of its own.
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
}

impl Decoder {
    /// Returns `true` if the stream has ended, with `[DONE]` or an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}

impl TextEvent for Event {
    fn text_mut(&mut self) -> Option<&mut String> {
        let Self::Chunk(chunk) = self else {
            return None;
        };
        // With several choices the template would need several texts: such chunks are parsed each
        // time.
        let [choice] = &mut *chunk.choices else {
            return None;
        };
        choice.delta.content.as_mut()
    }

    fn text_place(data: &Json) -> Option<Json> {
        let choices = data.get("choices")?;
        let mut elements = choices.elements();
        let choice = elements.next().filter(|_| elements.next().is_none())?;
        choice.get("delta")?.get("content")
    }
}
