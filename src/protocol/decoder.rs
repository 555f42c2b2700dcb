//! Typed events out of a stream of bytes: the client's side of every protocol.

use std::fmt;

use super::{EventError, Protocol, Shape};
use crate::sse::{Decoder, Frame};

/// Reads a protocol's events out of a response body, however it is cut into chunks.
///
#[cfg_attr(feature = "openbb", doc = "```")]
#[cfg_attr(not(feature = "openbb"), doc = "```ignore")]
/// use copilot_wire::openbb::{Event, OpenBb, Say};
/// use copilot_wire::protocol::EventDecoder;
///
/// let mut decoder = EventDecoder::<OpenBb>::new();
/// let mut input: &[u8] = b"event: copilotMessageChunk\ndata: {\"delta\":\"Hi\"}\n\n";
/// let event = decoder.next(&mut input)?;
/// assert_eq!(event, Some(Event::Say(Say::MessageChunk("Hi".into()))));
/// assert_eq!(decoder.next(&mut input)?, None);
/// # Ok::<(), copilot_wire::protocol::EventError>(())
/// ```
pub struct EventDecoder<P: Protocol> {
    frames: Decoder,
    shape: Shape<P::Event>,
}

impl<P: Protocol> EventDecoder<P> {
    /// A decoder that takes events of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::from_frames(Decoder::new())
    }

    /// A decoder on top of one for the bare event stream.
    #[must_use]
    pub fn from_frames(frames: Decoder) -> Self {
        Self {
            frames,
            shape: Shape::new(),
        }
    }

    /// Takes the next event out of `input` and advances it. `None`: `input` is used up.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream itself cannot be read on; any other error is about
    /// one event, and the next call goes on behind it.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<P::Event>, EventError> {
        while let Some(frame) = self.frames.next(input)? {
            if let Frame::Event(event) = frame {
                return P::decode_like(&mut self.shape, &event).map(Some);
            }
        }
        Ok(None)
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
