//! The buffered part of an event whose start was in earlier chunks.

use super::head::Head;

/// The capacity in bytes that a buffer keeps after its event, even if the event needed less.
const KEEP: usize = 16 * 1024;

/// The buffered part of an unfinished block: its complete fields, and the open line.
///
/// Data and the open line share one buffer, because most open lines become data: a long line that
/// arrives in many pieces is appended and never moved.
#[derive(Default)]
pub(super) struct Partial {
    /// The data lines so far, from `data_start` to `data_end`, joined by LF; from `data_end` on, the
    /// open line. Bytes before `data_start` are the field name of the first data line.
    ///
    /// Invariant: `data_start <= data_end <= buffer.len()`, and without data `data_end` is 0.
    buffer: Vec<u8>,
    /// The start of the data in `buffer`; `None` until there is a `data` line.
    data_start: Option<usize>,
    data_end: usize,
    /// The name; empty if there is none.
    name: Vec<u8>,
    /// The id. An empty id is not the same as no id: it resets the last event id.
    id: Vec<u8>,
    has_id: bool,
}

impl Partial {
    pub(super) fn is_empty(&self) -> bool {
        !self.has_data() && self.buffer.is_empty() && self.name.is_empty() && !self.has_id
    }

    /// Returns the number of bytes that the limit covers: data, open line, name and id.
    pub(super) fn len(&self) -> usize {
        // The field name before the first data line is not counted: it is in the buffer only if the line came in
        // several chunks, and the limit must not depend on the chunks.
        self.buffer.len() - self.data_start.unwrap_or(0) + self.name.len() + self.id.len()
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(super) fn id(&self) -> Option<&[u8]> {
        self.has_id.then_some(self.id.as_slice())
    }

    pub(super) fn has_data(&self) -> bool {
        self.data_start.is_some()
    }

    pub(super) fn data(&self) -> &[u8] {
        self.buffer
            .get(self.data_start.unwrap_or(0)..self.data_end)
            .unwrap_or_default()
    }

    pub(super) fn open_line(&self) -> &[u8] {
        self.buffer.get(self.data_end..).unwrap_or_default()
    }

    pub(super) fn set_name(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
    }

    pub(super) fn forget_name(&mut self) {
        self.name.clear();
    }

    pub(super) fn set_id(&mut self, id: &[u8]) {
        self.id.clear();
        self.id.extend_from_slice(id);
        self.has_id = true;
    }

    pub(super) fn forget_id(&mut self) {
        self.id.clear();
        self.has_id = false;
    }

    /// Adds the start of an event up to its data. Nothing must be buffered before.
    pub(super) fn start_like(&mut self, head: &Head) {
        if head.has_name() {
            self.set_name(head.name().as_bytes());
        }
        self.buffer.extend_from_slice(Head::DATA.as_bytes());
    }

    /// Adds a line of data. There must be no open line.
    pub(super) fn push_data(&mut self, line: &[u8]) {
        if self.has_data() {
            self.buffer.push(b'\n');
        } else {
            self.data_start = Some(0);
        }
        self.buffer.extend_from_slice(line);
        self.data_end = self.buffer.len();
    }

    /// Appends to the open line.
    #[inline]
    pub(super) fn push_line(&mut self, piece: &[u8]) {
        // Only copies of constant length are inlined.
        match (piece, <&[u8; 16]>::try_from(piece)) {
            ([byte], _) => self.buffer.push(*byte),
            (_, Ok(piece)) => self.buffer.extend_from_slice(piece),
            (_, Err(_)) => self.buffer.extend_from_slice(piece),
        }
    }

    /// Turns the last `len` bytes of the open line, which is complete, into a line of data.
    pub(super) fn line_is_data(&mut self, len: usize) {
        let start = self.buffer.len().saturating_sub(len);
        if self.has_data() {
            // The field name is replaced by the LF that joins the lines.
            drop(self.buffer.splice(self.data_end..start, [b'\n']));
        } else {
            self.data_start = Some(start);
        }
        self.data_end = self.buffer.len();
    }

    /// Turns the last `len` bytes of the open line, which is complete, into the name.
    pub(super) fn line_is_name(&mut self, len: usize) {
        let start = self.buffer.len().saturating_sub(len);
        self.name.clear();
        self.name
            .extend_from_slice(self.buffer.get(start..).unwrap_or_default());
        self.forget_line();
    }

    /// Turns the last `len` bytes of the open line, which is complete, into the id.
    pub(super) fn line_is_id(&mut self, len: usize) {
        let start = self.buffer.len().saturating_sub(len);
        self.id.clear();
        self.id
            .extend_from_slice(self.buffer.get(start..).unwrap_or_default());
        self.has_id = true;
        self.forget_line();
    }

    pub(super) fn forget_line(&mut self) {
        self.buffer.truncate(self.data_end);
    }

    /// Clears the block, and releases capacity that it did not need.
    pub(super) fn clear(&mut self) {
        for buffer in [&mut self.buffer, &mut self.name, &mut self.id] {
            // In a stream of large events, the next event needs about as much.
            let used = buffer.len();
            buffer.clear();
            buffer.shrink_to(KEEP.max(2 * used));
        }
        self.has_id = false;
        self.data_start = None;
        self.data_end = 0;
    }
}
