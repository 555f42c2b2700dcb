//! Decoding of a byte stream into typed events, for clients of every protocol.

use std::time::Duration;

use super::surrogates::Surrogates;
use super::text_template::LastEvent;
use super::{Decode, Delta, EventError, Events, Frames, Framing, Part, Protocol};
use crate::json::Json;
use crate::sse;

/// A decoder of a protocol's events from a response body, which may arrive in chunks of any size.
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
#[must_use]
pub struct EventDecoder<P: Protocol> {
    frames: Frames,
    decoder: P::Decoder,
    /// The events that were decoded and not returned.
    pub(crate) events: Events<P::Event>,
    last: LastEvent<P::Decoder>,
    surrogates: Surrogates,
}

impl<P: Protocol> EventDecoder<P> {
    /// Creates a decoder with the limit of the protocol, [`Decode::LIMIT`].
    pub fn new() -> Self {
        let limit = P::Decoder::LIMIT;
        Self {
            frames: Frames::new(P::FRAMING).limit(limit),
            decoder: P::Decoder::default().limit(limit),
            events: Events::new(),
            last: LastEvent::new(),
            surrogates: Surrogates::default(),
        }
    }

    /// Sets the limit in bytes of one frame, and of the bytes that are retained between frames in addition to the last
    /// event. Call it before the first byte is decoded.
    pub fn limit(self, limit: usize) -> Self {
        Self {
            frames: self.frames.limit(limit),
            // A new decoder replaces the old one, so its state would be lost after the first byte.
            decoder: P::Decoder::default().limit(limit),
            ..self
        }
    }

    /// Decodes the next event of `input`, and advances `input` past the bytes that it has read. `None` if `input` is
    /// empty and the next chunk is needed.
    ///
    /// The event is borrowed until the next call, because its memory is used for the next event.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream cannot be decoded any further. Any other error concerns one frame, and
    /// the next call continues after this frame.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<&P::Event>, EventError> {
        loop {
            // The events of the previous frame come first: a frame can hold several, and the error of a later frame
            // must not overtake them.
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
            if !self.surrogates.is_waiting() && self.last.change(&frame) {
                return Ok(self.last.event.as_ref());
            }
            let joined = self.surrogates.join(frame.data());
            let frame = match joined {
                Some(data) => frame.with_data(data),
                None => frame,
            };
            self.decoder.frame(&frame, &mut self.events)?;
            if let Some(event) = self.events.pop() {
                let is_only = self.events.is_empty();
                return Ok(Some(self.last.set(event, is_only.then_some(&frame))));
            }
        }
    }

    /// Decodes the next event like [`next`](Self::next), and appends its frame to `out`, with the name and the data as
    /// they came. The event is `None` if the data is JSON that this crate does not understand. Other events
    /// of the same frame follow without a frame. Frames that arrive together and differ only in their texts are one event
    /// with all of the text. Also returns the number of frames.
    #[allow(dead_code, reason = "only dialects of models pass answers on")]
    pub(crate) fn next_with_frame(
        &mut self,
        input: &mut &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Passed<'_, P::Event>>, EventError> {
        if let Some(event) = self.events.pop() {
            return Ok(Some((Some(self.last.set(event, None)), 1)));
        }
        loop {
            let frame = match self.frames.next_of(P::FRAMING, input)? {
                Some(sse::Frame::Event(frame)) => frame,
                Some(_) => continue,
                None => {
                    self.last.release();
                    return Ok(None);
                }
            };
            if self.last.change(&frame) {
                P::FRAMING.copy(&frame, out);
                let is_text = || self.last.event.as_ref().is_some_and(is_only_text::<P>);
                let joined = match P::FRAMING {
                    Framing::Sse if !input.is_empty() && is_text() => {
                        self.last.join(&mut self.frames.events, input, out)
                    }
                    _ => 0,
                };
                return Ok(Some((self.last.event.as_ref(), 1 + joined)));
            }
            let decoded = self.decoder.frame(&frame, &mut self.events);
            let event = self.events.pop();
            let is_json = || Json::parse(frame.data().as_bytes().to_vec()).is_ok();
            if event.is_none() && !is_json() {
                decoded?;
                continue;
            }
            P::FRAMING.copy(&frame, out);
            let frame = self.events.is_empty().then_some(&frame);
            return Ok(Some((event.map(|event| self.last.set(event, frame)), 1)));
        }
    }

    /// Ends the stream, and checks that the answer is complete. After this call [`next`](Self::next) returns the events
    /// that only the end completes, such as the event of a last [line](crate::lines) without a line end.
    ///
    /// # Errors
    ///
    /// [`EventError::Truncated`] when the answer is not complete; otherwise the error of a last line that cannot be
    /// decoded.
    pub fn end(&mut self) -> Result<(), EventError> {
        let last = match self.frames.end() {
            Some(frame) => self.decoder.frame(&frame, &mut self.events),
            None => Ok(()),
        };
        // `Truncated` has precedence: a line that was cut cannot be decoded either.
        self.decoder.end(&mut self.events).and(last)
    }

    /// Returns the decoder of the protocol, which holds the state of the stream so far.
    pub fn decoder(&self) -> &P::Decoder {
        &self.decoder
    }

    /// Returns the reconnection time that the server sent. `None` if it sent none.
    pub fn retry(&self) -> Option<Duration> {
        self.frames.retry()
    }
}

impl<P: Protocol> Default for EventDecoder<P> {
    fn default() -> Self {
        Self::new()
    }
}

opaque_debug!(impl[P: Protocol] EventDecoder for EventDecoder<P>);

/// The event that several frames mean together, and their number.
type Passed<'e, E> = (Option<&'e E>, u64);

/// Returns `true` if an event is a piece of one text, and means nothing else that another event could mean again.
#[allow(dead_code, reason = "only dialects of models pass answers on")]
fn is_only_text<P: Protocol>(event: &P::Event) -> bool {
    let (mut texts, mut others) = (0, 0);
    P::deltas(event, &mut |delta| match delta {
        Delta::Text(_) | Delta::Part(Part::Reasoning(_)) => texts += 1,
        Delta::Model(_) | Delta::Item(_) => {}
        _ => others += 1,
    });
    (texts, others) == (1, 0)
}
