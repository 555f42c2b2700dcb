//! Decoding of frames into the events of a protocol.

use std::collections::VecDeque;

use super::EventError;
use crate::sse;

/// Decodes the frames of one stream into events.
///
/// A decoder may keep state between frames, such as the fragments of an unfinished call, the open blocks, or the last
/// event.
pub trait Decode: Default + Send {
    /// The event of the protocol.
    type Event;

    /// The limit that [`EventDecoder::new`](super::EventDecoder::new) uses: 1 MiB by default.
    const LIMIT: usize = 1024 * 1024;

    /// Sets the maximum number of bytes that the decoder may retain between frames. It is called before the first
    /// frame. By default the limit is ignored, for decoders that retain nothing.
    #[must_use]
    fn limit(self, limit: usize) -> Self {
        let _ = limit;
        self
    }

    /// Decodes one frame: appends the events that it completes, which may be none or several. A [line](crate::lines) is
    /// a frame without a name, whose data is the line.
    ///
    /// # Errors
    ///
    /// [`EventError`] when the data of a known event does not follow the protocol. The frame is skipped, and the next
    /// one can be decoded.
    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Self::Event>,
    ) -> Result<(), EventError>;

    /// Ends the stream.
    ///
    /// # Errors
    ///
    /// [`EventError::Truncated`] when the answer is not complete.
    fn end(&mut self, events: &mut Events<Self::Event>) -> Result<(), EventError> {
        let _ = events;
        Ok(())
    }

    /// Returns the text of an event if nothing else in its frame varies from event to event. `None` by default.
    ///
    /// If the next frame differs from this frame only in the text, the next event is this event with the other text,
    /// and [`frame`](Self::frame) is not called for it. So return the text only for events that leave the state of the
    /// decoder unchanged when they are repeated.
    fn text(event: &mut Self::Event) -> Option<TextMember<'_>> {
        let _ = event;
        None
    }
}

/// A queue of decoded events that the caller has not received yet.
#[derive(Debug)]
pub struct Events<E>(VecDeque<E>);

impl<E> Events<E> {
    /// Creates an empty queue.
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Appends an event.
    pub fn push(&mut self, event: E) {
        self.0.push_back(event);
    }

    /// Removes and returns the first event.
    pub fn pop(&mut self) -> Option<E> {
        self.0.pop_front()
    }

    /// Returns `true` if no event is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<E> Extend<E> for Events<E> {
    fn extend<I: IntoIterator<Item = E>>(&mut self, events: I) {
        self.0.extend(events);
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// The text of an event, and its position in the data; see [`Decode::text`].
#[derive(Debug)]
#[must_use]
pub struct TextMember<'e> {
    pub(super) text: &'e mut String,
    pub(super) path: &'static [&'static str],
    pub(super) counter: Option<(&'static str, &'e mut Option<u64>)>,
}

impl<'e> TextMember<'e> {
    /// Creates a `TextMember` from the text and the keys that lead to it. An array with one element needs no key.
    pub fn new(text: &'e mut String, path: &'static [&'static str]) -> Self {
        Self {
            text,
            path,
            counter: None,
        }
    }

    /// Adds the member that numbers the events of a stream. It must precede the text in the data.
    pub fn counter(self, key: &'static str, value: &'e mut Option<u64>) -> Self {
        Self {
            counter: Some((key, value)),
            ..self
        }
    }

    /// Continues the text, and replaces the number if there is one.
    pub(super) fn push(&mut self, number: Option<u64>, text: &str) {
        self.text.push_str(text);
        if let (Some(_), Some((_, value))) = (number, &mut self.counter) {
            **value = number;
        }
    }
}
