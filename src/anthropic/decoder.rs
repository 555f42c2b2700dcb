//! Decoding of frames to events, for clients.

use super::{Delta, Event};
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

    /// Creates a decoder. The limit is unused: only a template of one frame is retained.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        // Some compatible servers end with the `[DONE]` of OpenAI's protocol.
        if frame.data().trim() == "[DONE]" {
            return Ok(());
        }
        let data = frame.data();
        let event = self.template.read(data, || Event::read(data))?;
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
}

impl Decoder {
    /// Returns `true` if the stream has ended, with `message_stop` or an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}

impl TextEvent for Event {
    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => Some(text),
            _ => None,
        }
    }

    fn text_place(data: &Json) -> Option<Json> {
        data.get("delta")?.get("text")
    }
}
