//! The client's side: reads events from frames.

use super::Event;
use crate::json::Json;
use crate::protocol::text_template::{TextEvent, TextTemplate};
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// A reader of the events of one stream.
///
/// It takes what newer servers send: members and events that this crate does not know are kept.
#[derive(Debug, Default)]
pub struct Decoder {
    template: TextTemplate<Event>,
    done: bool,
}

impl Decoder {
    /// Returns `true` if the run has ended: `RUN_FINISHED` or `RUN_ERROR`.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}

impl Decode for Decoder {
    type Event = Event;

    /// Clients take frames of up to 10 million characters.
    const LIMIT: usize = 10_000_000;

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
}

impl TextEvent for Event {
    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::TextMessageContent(text) => Some(&mut text.delta),
            _ => None,
        }
    }

    fn text_place(data: &Json) -> Option<Json> {
        // Arguments, reasoning and changes of the state have this member too; `text_mut` excludes
        // them.
        data.get("delta")
    }
}
