//! The client's side: reads events from frames.

use super::Event;
use crate::json::Json;
use crate::protocol::text_template::{TextEvent, TextTemplate};
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// A reader of the events of one stream.
///
/// It takes what newer servers send: members and chunks that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    template: TextTemplate<Event>,
    done: bool,
}

impl Decoder {
    /// Returns `true` if the stream has come to its end: `finish`, `error`, `abort` or `[DONE]`.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
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
}

impl TextEvent for Event {
    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::TextDelta(text) => Some(&mut text.delta),
            _ => None,
        }
    }

    fn text_place(data: &Json) -> Option<Json> {
        // Pieces of reasoning have this member too; `text_mut` excludes them.
        data.get("delta")
    }
}
