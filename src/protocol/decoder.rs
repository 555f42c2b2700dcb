//! Typed events out of a stream of bytes: the client's side of every protocol.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::text_template::{LastEvent, TextMember};
use super::{EventError, Frames, Protocol};
use crate::sse;

/// Reads the events of one stream out of its frames.
///
/// A decoder may keep state: what an unfinished call has so far, which blocks are open, what the
/// last event looked like.
pub trait Decode: Default + Send {
    /// The event of the protocol.
    type Event;

    /// The limit that [`EventDecoder::new`] uses: 1 MiB by default.
    const LIMIT: usize = 1024 * 1024;

    /// Sets the number of bytes that may be retained between frames, before the first one. The default
    /// ignores it, for decoders that retain nothing.
    #[must_use]
    fn limit(self, limit: usize) -> Self {
        let _ = limit;
        self
    }

    /// Reads one frame: appends the events that it completes, which may be none or several. A
    /// [line](crate::lines) is a frame without a name, whose data is the line.
    ///
    /// # Errors
    ///
    /// [`EventError`] when the data of a known event is not what the protocol says. The frame is
    /// lost, and the next one can be read.
    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Self::Event>,
    ) -> Result<(), EventError>;

    /// Ends the stream.
    ///
    /// # Errors
    ///
    /// [`EventError::Truncated`] when the protocol requires more.
    fn end(&mut self, events: &mut Events<Self::Event>) -> Result<(), EventError> {
        let _ = events;
        Ok(())
    }

    /// Returns the text of an event whose frame holds nothing else that varies. The default returns
    /// `None`.
    ///
    /// A frame that differs from the one before only in this text then gives the same event with
    /// another text, and [`frame`](Self::frame) is not called for it. So return it only for events
    /// whose frame does not change the decoder when it is repeated.
    fn text(event: &mut Self::Event) -> Option<TextMember<'_>> {
        let _ = event;
        None
    }
}

/// The events that a decoder has read and that were not taken yet, in order.
#[derive(Debug)]
pub struct Events<E>(VecDeque<E>);

impl<E> Events<E> {
    /// Creates an empty queue.
    #[must_use]
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
    #[must_use]
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

/// A reader of a protocol's events from a response body, however it is cut into chunks.
///
/// ```
/// use copilot_wire::protocol::{EventDecoder, EventError, Protocol};
///
/// fn read<P: Protocol<Event: Clone>>(chunks: &[&[u8]]) -> Result<Vec<P::Event>, EventError> {
///     let mut decoder = EventDecoder::<P>::new();
///     let mut events = Vec::new();
///     for chunk in chunks {
///         let mut input = *chunk;
///         while let Some(event) = decoder.next(&mut input)? {
///             events.push(event.clone());
///         }
///     }
///     // An error if the answer is not complete.
///     decoder.end()?;
///     Ok(events)
/// }
/// ```
pub struct EventDecoder<P: Protocol> {
    frames: Frames,
    decoder: P::Decoder,
    events: Events<P::Event>,
    last: LastEvent<P::Decoder>,
}

impl<P: Protocol> EventDecoder<P> {
    /// Creates a decoder with the limit of the protocol, [`Decode::LIMIT`].
    #[must_use]
    pub fn new() -> Self {
        let limit = P::Decoder::LIMIT;
        Self {
            frames: Frames::new(P::FRAMING).limit(limit),
            decoder: P::Decoder::default().limit(limit),
            events: Events::new(),
            last: LastEvent::new(),
        }
    }

    /// Sets the limit, before the first byte: frames of up to `limit` bytes are taken, and no more
    /// than that is retained between them, besides the last event.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self {
            frames: self.frames.limit(limit),
            // A new decoder, which is why this must precede the first byte.
            decoder: P::Decoder::default().limit(limit),
            ..self
        }
    }

    /// Decodes the next event of `input`, and advances `input` past what it has read. `None`: `input` is used up.
    ///
    /// The event is borrowed until the next call, because its memory is used for the next event.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream itself cannot be read on; any other error is about
    /// one frame, and the next call goes on behind it.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<&P::Event>, EventError> {
        loop {
            // Before the next frame: a frame can hold several events, and an error must not
            // overtake them.
            if let Some(event) = self.events.pop() {
                return Ok(Some(self.last.set(event, None)));
            }
            let frame = match self.frames.next_of(P::FRAMING, input)? {
                Some(sse::Frame::Event(frame)) => frame,
                Some(_) => continue,
                None => {
                    self.last.release();
                    return Ok(None);
                }
            };
            if self.last.change(&frame) {
                return Ok(self.last.get());
            }
            self.decoder.frame(&frame, &mut self.events)?;
            if let Some(event) = self.events.pop() {
                let is_only = self.events.is_empty();
                return Ok(Some(self.last.set(event, is_only.then_some(&frame))));
            }
        }
    }

    /// Ends the stream, and checks that the answer is complete. Events that were waiting for its end, such as that
    /// of a last [line](crate::lines) without a line end, are what [`next`](Self::next) returns from here on.
    ///
    /// # Errors
    ///
    /// [`EventError::Truncated`] when the answer is not complete; otherwise the error of a last line that cannot be
    /// read.
    pub fn end(&mut self) -> Result<(), EventError> {
        let last = match self.frames.end() {
            Some(frame) => self.decoder.frame(&frame, &mut self.events),
            None => Ok(()),
        };
        // A line that was cut in two is no fault of its own.
        self.decoder.end(&mut self.events).and(last)
    }

    /// Returns the decoder of the protocol, for what it knows about the stream so far.
    #[must_use]
    pub fn decoder(&self) -> &P::Decoder {
        &self.decoder
    }

    /// Returns the reconnection time that the server sent.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.frames.retry()
    }
}

impl<P: Protocol> Default for EventDecoder<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Protocol> fmt::Debug for EventDecoder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventDecoder")
            .field("protocol", &P::NAME)
            .finish_non_exhaustive()
    }
}
