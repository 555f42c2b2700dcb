//! One stream as it is read.

use copilot_wire::protocol::{Decode, EventError, Events};
use copilot_wire::sse;
use serde_json::Value;

use crate::{Event, Note};

/// Reads the events of one stream.
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
        let shape = || EventError::Invalid("no event of the Pager");
        let data: Value = serde_json::from_str(frame.data()).map_err(|_| shape())?;
        let number = |name: &str| data.get(name).and_then(Value::as_u64);
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let block = number("block");
        match frame.name() {
            "start" => events.push(Event::Start(block.ok_or_else(shape)?)),
            "delta" => events.push(Event::Delta {
                block: block.ok_or_else(shape)?,
                text: text("text").ok_or_else(shape)?,
            }),
            "end" => {
                events.extend(block.map(Event::End));
                if data.get("done") == Some(&Value::Bool(true)) {
                    self.done = true;
                    events.push(Event::Done);
                }
            }
            "note" => events.push(Event::Note(Note(text("text").ok_or_else(shape)?))),
            "beat" => events.push(Event::Beat(number("beats").ok_or_else(shape)?)),
            "failed" => {
                self.done = true;
                events.push(Event::Failed(text("failed").ok_or_else(shape)?));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated("the answer is not complete")),
        }
    }
}
