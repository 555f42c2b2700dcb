//! The data of a stream's events, without their frames.

use std::mem;
use std::ops::Range;

use bytes::{Buf, Bytes};
use memchr::memchr;

use super::Framing;

/// A decoder that returns the data of each event of a stream, for transports with their own framing.
///
/// Its input is the frames of a [`Body`](crate::Body), whose events this crate has written. If the data of an event is
/// one line within one frame, it is returned as a slice of that frame. Names of events, comments and empty data are
/// left out.
///
/// ```
/// use bytes::Bytes;
/// use copilot_wire::protocol::{Framing, Payloads};
///
/// let mut payloads = Payloads::new(Framing::Sse);
/// payloads.push(Bytes::from_static(b"event: a\ndata: {\"n\":1}\n\n: ping\n\ndata: {\"n\""));
/// assert_eq!(payloads.next().as_deref(), Some(&br#"{"n":1}"#[..]));
/// assert_eq!(payloads.next(), None);
/// payloads.push(Bytes::from_static(b":2}\n\n"));
/// assert_eq!(payloads.next().as_deref(), Some(&br#"{"n":2}"#[..]));
/// ```
#[derive(Debug)]
pub struct Payloads {
    framing: Framing,
    /// The unread part of the last frame. It starts at the beginning of an event.
    frame: Bytes,
    /// The beginning of an event whose end has not arrived yet. While it is not empty, `frame` is empty.
    open: Vec<u8>,
}

/// The first event of a buffer.
struct Event {
    /// The length of the event in bytes, with its boundary.
    length: usize,
    data: Data,
}

enum Data {
    None,
    /// The range of a single line of data.
    Line(Range<usize>),
    /// Several lines of data, joined without their field names.
    Lines(Vec<u8>),
}

impl Payloads {
    /// Creates a reader for one stream.
    pub const fn new(framing: Framing) -> Self {
        Self {
            framing,
            frame: Bytes::new(),
            open: Vec::new(),
        }
    }

    /// Adds the next frame of the stream.
    pub fn push(&mut self, frame: Bytes) {
        if self.open.is_empty() && self.frame.is_empty() {
            self.frame = frame;
            return;
        }
        // A boundary of two bytes may begin in `open` and end in `frame`.
        let from = self
            .open
            .len()
            .saturating_sub(self.framing.boundary().len());
        // Events that the caller has not read yet.
        self.open.extend_from_slice(&mem::take(&mut self.frame));
        self.open.extend_from_slice(&frame);
        let new = self.open.get(from..).unwrap_or_default();
        // Only whole events are moved to `frame`, so an event of many frames is copied once.
        if self.framing.skip(new, 1) < new.len() || new.ends_with(self.framing.boundary()) {
            self.frame = mem::take(&mut self.open).into();
        }
    }

    /// Returns the data of the next event. `None` if the next frame is needed.
    #[expect(
        clippy::should_implement_trait,
        reason = "more data may come after `None`"
    )]
    pub fn next(&mut self) -> Option<Bytes> {
        while !self.frame.is_empty() {
            let event = match self.framing {
                Framing::Sse => sse_event(&self.frame),
                Framing::Lines => line_event(&self.frame),
            };
            let Some(Event { length, data }) = event else {
                self.open.extend_from_slice(&mem::take(&mut self.frame));
                return None;
            };
            let data = match data {
                Data::None => Bytes::new(),
                Data::Line(range) => self.frame.slice(range),
                Data::Lines(lines) => lines.into(),
            };
            match length == self.frame.len() {
                // Releases the memory of a frame that is used up.
                true => self.frame = Bytes::new(),
                false => self.frame.advance(length),
            }
            if !data.is_empty() {
                return Some(data);
            }
        }
        None
    }

    /// Returns `true` if [`next`](Self::next) returns `None` until a frame is added.
    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }
}

/// Returns the first server-sent event. `None` if it is not whole.
fn sse_event(bytes: &[u8]) -> Option<Event> {
    let mut data = Data::None;
    let mut start = 0;
    loop {
        let rest = bytes.get(start..)?;
        let line = rest.get(..memchr(b'\n', rest)?)?;
        let end = start + line.len();
        if line.is_empty() {
            return Some(Event {
                length: end + 1,
                data,
            });
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            data = match data {
                Data::None => Data::Line(end - value.len()..end),
                Data::Line(first) => {
                    let first = bytes.get(first).unwrap_or_default();
                    Data::Lines([first, value].join(&b'\n'))
                }
                Data::Lines(mut lines) => {
                    lines.push(b'\n');
                    lines.extend_from_slice(value);
                    Data::Lines(lines)
                }
            };
        }
        start = end + 1;
    }
}

/// Returns the first line. `None` if it is not whole.
fn line_event(bytes: &[u8]) -> Option<Event> {
    let end = memchr(b'\n', bytes)?;
    Some(Event {
        length: end + 1,
        data: Data::Line(0..end),
    })
}
