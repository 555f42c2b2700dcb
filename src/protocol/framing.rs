//! The framing of a stream: how its events are separated.

use std::time::Duration;

use memchr::memchr;

use crate::lines;
use crate::sse::{self, TooLarge};

/// The framing of a stream: how its events are separated. A protocol [declares](super::Protocol::FRAMING) its framing.
///
/// | | server-sent events | lines |
/// |---|---|---|
/// | an event | its fields, and a blank line | its JSON on one line, and LF |
/// | content type | `text/event-stream` | `application/x-ndjson` |
/// | keep-alive | a comment | none, unless the session writes one |
///
/// ```
/// use copilot_wire::protocol::Framing;
///
/// let events = b"{\"n\":1}\n{\"n\":2}\n";
/// assert_eq!(Framing::Lines.count(events), 2);
/// assert_eq!(Framing::Lines.skip(events, 1), 8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// [Server-sent events](crate::sse).
    #[default]
    Sse,
    /// [Lines](crate::lines): NDJSON.
    Lines,
}

impl Framing {
    /// Returns the content type of a stream.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }

    /// Returns the bytes that end every event as this crate writes it, and that occur nowhere else in an event.
    #[must_use]
    pub const fn boundary(self) -> &'static [u8] {
        match self {
            Self::Sse => b"\n\n",
            Self::Lines => b"\n",
        }
    }

    /// Appends an event of another stream, whose data is JSON: its name and its data, on one line.
    #[allow(dead_code, reason = "only dialects of models pass answers on")]
    pub(super) fn copy(self, event: &sse::Event<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Sse => sse::encode_json(event, out),
            // A line has no line end.
            Self::Lines => {
                out.extend_from_slice(event.data().as_bytes());
                out.push(b'\n');
            }
        }
    }

    /// Returns bytes that keep a connection alive and are not an event. Empty if the framing has no such bytes.
    #[must_use]
    pub const fn keep_alive(self) -> &'static [u8] {
        match self {
            Self::Sse => b": ping\n\n",
            Self::Lines => b"",
        }
    }

    /// Returns the number of events in `bytes`, which must be whole events as this crate writes them: the number of
    /// [boundaries](Self::boundary).
    #[must_use]
    pub fn count(self, bytes: &[u8]) -> u64 {
        // The count of a block fits into a byte, so that the compiler can compare many bytes at a time.
        const BLOCK: usize = u8::MAX as usize;
        let add = |count: u8, is_end: bool| count + u8::from(is_end);
        let blocks = bytes.chunks(BLOCK);
        match self {
            Self::Sse => {
                let next = bytes.get(1..).unwrap_or_default().chunks(BLOCK);
                let counts = blocks.zip(next).map(|(bytes, next)| {
                    let pairs = bytes.iter().zip(next);
                    pairs.fold(0, |count, (&byte, &next)| {
                        add(count, (byte == b'\n') & (next == b'\n'))
                    })
                });
                counts.map(u64::from).sum()
            }
            Self::Lines => {
                let counts = blocks.map(|bytes| {
                    bytes
                        .iter()
                        .fold(0, |count, &byte| add(count, byte == b'\n'))
                });
                counts.map(u64::from).sum()
            }
        }
    }

    /// Returns the position after the first `count` events of `bytes`, which must be whole events as this crate writes
    /// them. The length of `bytes` if there are fewer events.
    #[must_use]
    pub fn skip(self, bytes: &[u8], count: u64) -> usize {
        let mut at = 0;
        for _ in 0..count {
            match self.first(bytes.get(at..).unwrap_or_default()) {
                Some(length) => at += length,
                None => return bytes.len(),
            }
        }
        at
    }

    /// Returns the length of the first event of `bytes`, with its boundary. `None` if the event is not whole.
    fn first(self, bytes: &[u8]) -> Option<usize> {
        let boundary = self.boundary();
        let mut at = 0;
        loop {
            at += memchr(b'\n', bytes.get(at..)?)?;
            if bytes.get(at..)?.starts_with(boundary) {
                return Some(at + boundary.len());
            }
            at += 1;
        }
    }
}

/// An incremental decoder of the frames of either framing, for tools that read streams of any protocol. Programs that
/// read one protocol use its [`EventDecoder`](super::EventDecoder).
///
/// A [line](crate::lines) is decoded as a frame whose event has no name, with the line as its data.
///
/// ```
/// use copilot_wire::protocol::{Frames, Framing};
/// use copilot_wire::sse::{Event, Frame};
///
/// let mut frames = Frames::new(Framing::Lines);
/// let mut chunk = &b"{\"n\":1}\n{\"n\":2}"[..];
/// assert_eq!(frames.next(&mut chunk)?, Some(Frame::Event(Event::new(r#"{"n":1}"#))));
/// assert_eq!(frames.next(&mut chunk)?, None);
/// assert_eq!(frames.end(), Some(Event::new(r#"{"n":2}"#)));
/// # Ok::<(), copilot_wire::sse::TooLarge>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Frames {
    framing: Framing,
    pub(super) events: sse::Decoder,
    lines: lines::Decoder,
}

impl Frames {
    /// Creates a decoder for one stream, with the limit [`sse::Decoder::DEFAULT_LIMIT`].
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            events: sse::Decoder::new(),
            lines: lines::Decoder::new(),
        }
    }

    /// Sets the limit of one frame in bytes; decoding fails if a frame needs more.
    pub fn limit(self, limit: usize) -> Self {
        Self {
            events: self.events.limit(limit),
            lines: self.lines.limit(limit),
            ..self
        }
    }

    /// Returns the next frame in `input` and advances `input` past it. `None` if `input` is empty and the next chunk is
    /// needed.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if a frame exceeds the limit. Errors are final.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<sse::Frame<'a>>, TooLarge> {
        self.next_of(self.framing, input)
    }

    /// Does the same as [`next`](Self::next), for callers whose framing is a constant: the compiler removes the other
    /// branch.
    #[inline]
    pub(super) fn next_of<'a, 'b: 'a>(
        &'a mut self,
        framing: Framing,
        input: &mut &'b [u8],
    ) -> Result<Option<sse::Frame<'a>>, TooLarge> {
        match framing {
            Framing::Sse => self.events.next(input),
            Framing::Lines => {
                let line = self.lines.next(input)?;
                Ok(line.map(|line| sse::Frame::Event(sse::Event::new(line))))
            }
        }
    }

    /// Ends the stream. Returns the event of a last line without a line end, if there is one. A server-sent event
    /// without its blank line is discarded.
    pub fn end(&mut self) -> Option<sse::Event<'static>> {
        match self.framing {
            Framing::Sse => None,
            Framing::Lines => self.lines.end().map(sse::Event::new),
        }
    }

    /// Returns the reconnection time that the server sent. `None` if it sent none.
    pub const fn retry(&self) -> Option<Duration> {
        self.events.retry()
    }
}
