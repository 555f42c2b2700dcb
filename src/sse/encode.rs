//! Writing events.

use std::io::Write as _;

use super::line::{find_line_end, split_line};
use super::{Event, EventId, EventName};
use crate::json::rollback::Rollback;

/// Appends one event to a buffer, all or nothing.
///
/// Fields are written as they are called for; [`finish`](Self::finish) ends the event. A writer
/// that is dropped before that, on an early return or while unwinding, takes everything back that it
/// has written.
///
/// ```
/// use copilot_wire::sse::{EventId, EventWriter};
///
/// let mut out = Vec::new();
/// EventWriter::new(&mut out)
///     .id(&EventId::try_from("7")?)
///     .data("one\ntwo")
///     .finish();
/// assert_eq!(out, b"id: 7\ndata: one\ndata: two\n\n");
///
/// drop(EventWriter::new(&mut out).data("never sent"));
/// assert_eq!(out, b"id: 7\ndata: one\ndata: two\n\n");
/// # Ok::<(), copilot_wire::sse::InvalidId>(())
/// ```
#[derive(Debug)]
#[must_use = "an event that is not finished is taken back"]
pub struct EventWriter<'a> {
    event: Rollback<'a>,
}

impl<'a> EventWriter<'a> {
    /// Starts an event at the end of `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let event = Rollback::new(out);
        Self { event }
    }

    /// Writes the `event` field.
    #[inline]
    pub fn name(self, name: &EventName) -> Self {
        self.field(b"event: ", name.as_str())
    }

    /// Writes the `id` field. An empty id resets the reader's last event id.
    #[inline]
    pub fn id(self, id: &EventId) -> Self {
        self.field(b"id: ", id.as_str())
    }

    /// Writes the `retry` field: how long a reader that reconnects shall wait.
    pub fn retry(self, millis: u64) -> Self {
        // Writing to a `Vec` does not fail.
        let _ = writeln!(self.event.out, "retry: {millis}");
        self
    }

    /// Writes text as data, one `data` field for each of its lines, so that a reader gets it back
    /// with CR LF and CR turned into LF. The format can carry no other line end.
    ///
    /// Called again, it adds further lines. Empty text is one empty line, which is still an event;
    /// an event without any data is not handed out by readers.
    pub fn data(self, text: &str) -> Self {
        data_lines(text.as_bytes(), self.event.out);
        self
    }

    /// Writes data in place: `write` appends it to the buffer. For JSON that is serialized straight
    /// into the stream.
    ///
    /// What was appended is searched for line ends. Serialized JSON has none (it escapes them), and
    /// stays where it is as one `data` field; anything else is split as [`data`](Self::data) does, so
    /// that no event can be forged. `write` must only append, and should append UTF-8.
    ///
    /// ```
    /// use copilot_wire::sse::EventWriter;
    ///
    /// let mut out = Vec::new();
    /// EventWriter::new(&mut out)
    ///     .data_with(|out| serde_json::to_writer(out, &["a\nb"]))?
    ///     .finish();
    /// assert_eq!(out, b"data: [\"a\\nb\"]\n\n");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What `write` returns. The event is then taken back.
    #[inline]
    pub fn data_with<E>(
        self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Self, E> {
        self.event.out.extend_from_slice(b"data: ");
        let start = self.event.out.len();
        write(self.event.out)?;
        let written = self.event.out.get(start..).unwrap_or_default();
        if find_line_end(written).is_some() {
            split_again(start, self.event.out);
        } else {
            self.event.out.push(b'\n');
        }
        Ok(self)
    }

    /// Ends the event with the blank line.
    #[inline]
    pub fn finish(self) {
        self.event.out.push(b'\n');
        self.event.keep();
    }

    /// HTML standard, server-sent events: one space after the colon is not part of the value. It is
    /// always written, because a value may start with a space of its own.
    #[inline]
    fn field(self, name: &[u8], value: &str) -> Self {
        self.event.out.extend_from_slice(name);
        self.event.out.extend_from_slice(value.as_bytes());
        self.event.out.push(b'\n');
        self
    }
}

/// Appends an event that exists already, for example one that is passed on from another stream.
///
/// The `event` field is left out for `message` and the `id` field for an empty id. A reader takes an
/// event without an id to have that of the one before it.
///
/// ```
/// use copilot_wire::sse::{Event, encode};
///
/// let mut out = Vec::new();
/// encode(&Event::new("hello"), &mut out);
/// assert_eq!(out, b"data: hello\n\n");
/// ```
pub fn encode(event: &Event<'_>, out: &mut Vec<u8>) {
    let mut writer = EventWriter::new(out);
    if event.name() != Event::DEFAULT_NAME {
        writer = writer.field(b"event: ", event.name());
    }
    if !event.id().is_empty() {
        writer = writer.field(b"id: ", event.id());
    }
    writer.data(event.data()).finish();
}

/// Appends a comment, one line for each line of `text`, and a blank line. Readers ignore it; it
/// keeps a silent connection alive.
///
/// ```
/// use copilot_wire::sse::comment;
///
/// let mut out = Vec::new();
/// comment("ping", &mut out);
/// comment("", &mut out);
/// assert_eq!(out, b": ping\n\n:\n\n");
/// ```
pub fn comment(text: &str, out: &mut Vec<u8>) {
    each_line(text.as_bytes(), |line| {
        out.extend_from_slice(if line.is_empty() { b":" } else { b": " });
        out.extend_from_slice(line);
        out.push(b'\n');
    });
    out.push(b'\n');
}

fn data_lines(text: &[u8], out: &mut Vec<u8>) {
    each_line(text, |line| {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
    });
}

/// Turns what follows `start`, the value of an unfinished `data` field, into one field a line.
#[cold]
fn split_again(start: usize, out: &mut Vec<u8>) {
    let text = out.split_off(start);
    out.truncate(start - b"data: ".len());
    data_lines(&text, out);
}

/// Every line of a text, also an empty one at its end: a text of n line ends has n + 1 lines.
fn each_line(text: &[u8], mut line: impl FnMut(&[u8])) {
    let mut rest = text;
    while let Some((first, _, tail)) = split_line(rest) {
        line(first);
        rest = tail;
    }
    line(rest);
}
