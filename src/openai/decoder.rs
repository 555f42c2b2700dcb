//! The client's side: events out of frames.

use bytes::Bytes;

use super::shape::Shape;
use super::{ChatCompletionChunk, Event};
use crate::json::{Json, Kind};
use crate::protocol::{Decode, EventError, Events};
use crate::sse;

/// Reads the events of one stream.
///
/// Most chunks differ from the one before in their text only: such a chunk is not parsed again.
#[derive(Debug, Default)]
pub struct Decoder {
    shape: Shape<ChatCompletionChunk>,
    finished: bool,
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    /// Nothing is retained between frames but the shape of one.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = self.read(frame.data())?;
        match &event {
            Event::Chunk(chunk) => {
                let mut choices = chunk.choices.iter();
                self.finished |= choices.any(|choice| choice.finish_reason.is_some());
            }
            // An error is an end too, and says so itself.
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
    /// Returns `true` if the stream has come to its end: `[DONE]`, or an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }

    fn read(&mut self, data: &str) -> Result<Event, EventError> {
        if let Some((chunk, text)) = self.shape.find(data) {
            let mut chunk = chunk.clone();
            if let [choice] = &mut *chunk.choices {
                choice.delta.content = Some(text.into_owned());
                return Ok(Event::Chunk(chunk));
            }
        }
        let event = Event::read(data)?;
        if let Event::Chunk(chunk) = &event {
            if self.shape.wants(data) {
                self.learn(chunk, data);
            }
        }
        Ok(event)
    }

    /// Learns the shape of a chunk that adds plain text to one choice.
    fn learn(&mut self, chunk: &ChatCompletionChunk, data: &str) {
        let [choice] = &*chunk.choices else {
            return;
        };
        let Some(text) = &choice.delta.content else {
            return;
        };
        let Some((start, len)) = content(data).filter(|&(_, len)| len == text.len()) else {
            return;
        };
        let mut blank = chunk.clone();
        if let Some(choice) = blank.choices.first_mut() {
            // Every use has a text of its own.
            choice.delta.content = None;
        }
        self.shape.learn(data, start, len, blank);
    }
}

/// Where the JSON string `choices[0].delta.content` begins, and its length without the quotes.
fn content(data: &str) -> Option<(usize, usize)> {
    let json = Json::parse(Bytes::copy_from_slice(data.as_bytes())).ok()?;
    let choices = json.get("choices")?;
    let mut elements = choices.elements();
    let choice = elements.next()?;
    if elements.next().is_some() {
        return None;
    }
    let content = choice.get("delta")?.get("content")?;
    if content.kind() != Kind::String {
        return None;
    }
    // Both are slices of one buffer; the white space before the whole is not part of it.
    let place = |json: &Json| json.as_bytes().as_ptr().addr();
    let before = data.len() - data.trim_ascii_start().len();
    let start = place(&content).checked_sub(place(&json))? + before;
    Some((start, content.as_bytes().len().checked_sub(2)?))
}
