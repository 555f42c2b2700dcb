//! Decoding of frames to events, for clients.

use super::Event;
use crate::json::Json;
use crate::protocol::text_template::{TextEvent, TextTemplate};
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// A decoder of events.
#[derive(Debug, Default)]
pub struct Decoder {
    template: TextTemplate<Event>,
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// The default limit: the last event repeats the complete answer.
    const LIMIT: usize = 32 * 1024 * 1024;

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
        let read = || Event::read(frame.name(), data);
        let event = self.template.read(data, read)?;
        if let Event::Stream(event) = &event {
            self.done |= event.is_last();
        }
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
}

impl Decoder {
    /// Returns `true` if the last event of the response was read: it is complete, incomplete or
    /// failed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}

impl TextEvent for Event {
    const COUNTER: Option<&'static str> = Some("sequence_number");

    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Stream(event) => event.delta.as_mut(),
            _ => None,
        }
    }

    fn text_place(data: &Json) -> Option<Json> {
        // Without a type the name of the event counts.
        let kind = data.get("type")?;
        let has_kind = kind.string().is_some_and(|kind| !kind.is_empty());
        data.get("delta").filter(|_| has_kind)
    }

    fn set_counter(&mut self, number: u64) {
        if let Self::Stream(event) = self {
            event.sequence_number = Some(number);
        }
    }
}
