//! Writing of events.

use std::io::Write as _;
use std::time::Duration;

use memchr::memchr2;

use super::line::{find_line_end, split_line};
use super::{Event, EventId, EventName};
use crate::json::rollback::Rollback;

/// A writer that appends one complete event to a buffer, or nothing.
///
/// Each method writes its field immediately; [`finish`](Self::finish) ends the event. If a writer
/// is dropped before that, on an early return or while unwinding, the buffer is truncated to its
/// former length.
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
/// # Ok::<(), copilot_wire::sse::InvalidText>(())
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

    /// Writes the `retry` field: the time that a reader waits before it reconnects, in whole
    /// milliseconds.
    pub fn retry(self, time: Duration) -> Self {
        // Writing to a `Vec` cannot fail.
        let _ = writeln!(self.event.out, "retry: {}", time.as_millis());
        self
    }

    /// Writes text as data, with one `data` field for each line. CR LF and CR are read as LF: the format has no other
    /// line end.
    ///
    /// Further calls add lines. Empty text is one empty line, which is still an event; readers
    /// discard an event without any data.
    pub fn data(self, text: &str) -> Self {
        data_lines(text.as_bytes(), self.event.out);
        self
    }

    /// Writes data in place: `write` appends it to the buffer. It is meant for JSON that is
    /// serialized directly into the stream.
    ///
    /// The appended bytes are searched for line ends. Serialized JSON has no line ends (they are escaped), and is not
    /// moved; other bytes are split into lines as in [`data`](Self::data), so that no event can be forged. `write` must
    /// only append, and should append UTF-8.
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
    /// The error of `write`. The event is then removed from the buffer.
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

    /// Writes a field. HTML standard, server-sent events: one space after the colon is not part of the value. The space
    /// is always written, because a value may itself start with a space.
    #[inline]
    fn field(self, name: &[u8], value: &str) -> Self {
        self.event.out.extend_from_slice(name);
        self.event.out.extend_from_slice(value.as_bytes());
        self.event.out.push(b'\n');
        self
    }
}

/// Appends an existing event, for example one that is relayed from another stream.
///
/// The `event` field is omitted for `message`, and the `id` field for an empty id. A reader gives an event without an
/// id the id of the previous event.
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

/// Returns `true` if [`encode_json`] writes a name. Names of other characters are not those of any protocol, and some
/// clients split lines at them.
pub(super) fn is_written(name: &str) -> bool {
    let is_graphic = |all, byte: u8| all & byte.is_ascii_graphic();
    name.bytes().fold(true, is_graphic) && name != Event::DEFAULT_NAME
}

/// Appends an existing event whose data is JSON, without its id and with its data on one line. Separators are escaped.
#[allow(dead_code, reason = "only dialects of models pass answers on")]
pub(crate) fn encode_json(event: &Event<'_>, out: &mut Vec<u8>) {
    if is_written(event.name()) {
        for bytes in [b"event: ", event.name().as_bytes(), b"\n"] {
            out.extend_from_slice(bytes);
        }
    }
    out.extend_from_slice(b"data: ");
    let start = out.len();
    escape_separators(event.data().as_bytes(), out);
    // A line end in JSON is white space.
    for byte in out.get_mut(start..).unwrap_or_default() {
        *byte = if *byte == b'\n' { b' ' } else { *byte };
    }
    out.extend_from_slice(b"\n\n");
}

/// Appends events whose data is JSON, with the separators escaped at which some clients split lines.
#[allow(dead_code, reason = "only dialects of models pass answers on")]
pub(crate) fn escape_separators(mut rest: &[u8], out: &mut Vec<u8>) {
    let mut from = 0;
    while let Some(at) = memchr2(0xc2, 0xe2, rest.get(from..).unwrap_or_default()) {
        let (before, special) = rest.split_at(from + at);
        // The first bytes of the separators begin other characters, too.
        let (instead, length): (&[u8], _) = match special {
            [0xc2, 0x85, ..] => (b"\\u0085", 2),
            [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
            [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
            _ => {
                from += at + 1;
                continue;
            }
        };
        out.extend_from_slice(before);
        out.extend_from_slice(instead);
        (rest, from) = (special.get(length..).unwrap_or_default(), 0);
    }
    out.extend_from_slice(rest);
}

/// Appends a comment, one line for each line of `text`, and a blank line. Readers ignore comments, but sending them
/// keeps a silent connection open.
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

/// Splits the value of an unfinished `data` field, which begins at `start`, into one field for each line.
#[cold]
fn split_again(start: usize, out: &mut Vec<u8>) {
    let text = out.split_off(start);
    out.truncate(start - b"data: ".len());
    data_lines(&text, out);
}

/// Calls `line` with every line of a text, also with an empty last line: a text with n line ends has n + 1 lines.
fn each_line(text: &[u8], mut line: impl FnMut(&[u8])) {
    let mut rest = text;
    while let Some((first, _, tail)) = split_line(rest) {
        line(first);
        rest = tail;
    }
    line(rest);
}
