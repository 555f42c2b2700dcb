//! One stream as it is read.

use copilot_wire::json::{Json, Kind};
use copilot_wire::protocol::{Decode, EventError, Events, TextMember};
use copilot_wire::sse;

use super::{Event, Failed, Piece};

/// Reads the lines of one stream.
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
        let line = Json::parse(frame.data().to_owned())?;
        if line.kind() != Kind::Object {
            return Err(EventError::Invalid("a line is an object"));
        }
        let event = match line.get("error") {
            Some(_) => Event::Failed(Failed::from_json(line.as_bytes())?),
            None => Event::Piece(Piece::from_json(line.as_bytes())?),
        };
        self.done |= match &event {
            Event::Piece(piece) => piece.done,
            Event::Failed(_) => true,
        };
        events.push(event);
        Ok(())
    }

    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated("the stream ended without `done`")),
        }
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::Piece(piece) if !piece.done => {
                let text = &mut piece.message.content;
                Some(TextMember::new(text, &["message", "content"]))
            }
            _ => None,
        }
    }
}
