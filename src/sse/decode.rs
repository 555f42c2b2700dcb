//! The incremental decoder.
//!
//! # Carry-over between calls
//!
//! Every byte of the stream is in one of three places: interpreted, buffered in `partial`, or still in
//! the caller's input. [`Decoder::next`] returns `None` only when the input is empty.
//!
//! | state before a call | handled by |
//! |---|---|
//! | the byte order mark is not decided (`mark_seen`) | `skip_mark` |
//! | the last byte was a CR (`after_cr`) | `resume` drops an LF |
//! | `partial` has an open line | `resume` finishes it |
//! | the last frame borrows from `partial` (`spent`) | `resume` clears that part |
//! | the decoder has failed (`failed`) | `resume` returns the error |
//!
//! Each of these states sets `must_resume`. Without it, the next byte of the input starts a line, and `partial`
//! contains at most complete fields of an unfinished block.

use std::borrow::Cow;
use std::mem;
use std::time::Duration;

use super::head::Head;
use super::line::{Line, LineEnd, find_line_end, is_inside_line, split_line};
use super::partial::Partial;
use super::{Event, Frame, TooLarge};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An incremental decoder of an event stream, which reads chunks of bytes and returns frames.
///
/// It follows the HTML standard, server-sent events, "Parsing" and "Interpreting an event stream", exactly; the frames
/// do not depend on the chunk boundaries. An event with one line of data that is complete in one chunk is borrowed from
/// the chunk. Only an unfinished event is copied, and its bytes are not searched again when more arrive, so the work is
/// linear in the length of the stream.
///
/// The end of the stream needs no call: the standard discards an event without its blank line.
///
/// ```
/// use copilot_wire::sse::{Decoder, Frame};
///
/// let mut decoder = Decoder::new();
/// let mut texts = Vec::new();
/// for mut chunk in [&b"data: one\n\nda"[..], b"ta: two\n\ndata: cut off"] {
///     while let Some(frame) = decoder.next(&mut chunk)? {
///         if let Frame::Event(event) = frame {
///             texts.push(event.into_data().into_owned());
///         }
///     }
/// }
/// assert_eq!(texts, ["one", "two"]);
/// # Ok::<(), copilot_wire::sse::TooLarge>(())
/// ```
#[must_use]
pub struct Decoder {
    partial: Partial,
    /// The head of the last event with a short name.
    head: Head,
    last_id: String,
    retry: Option<Duration>,
    limit: usize,
    report_comments: bool,
    report_retry: bool,
    /// Set if bytes at the start of the input, or the block of the last frame, must be handled
    /// before the next line.
    must_resume: bool,
    /// Set if the open line in `partial` is the only reason why `must_resume` is set.
    in_line: bool,
    /// The part of `partial` that the last frame used.
    spent: Spent,
    /// The number of bytes of the byte order mark that were read; its full length if the stream has no mark.
    mark_seen: usize,
    /// Set if the last byte was a CR: an LF that follows belongs to the same line end.
    after_cr: bool,
    failed: Option<TooLarge>,
}

/// The fields of a block that were read from the current chunk.
#[derive(Clone, Copy, Default)]
struct Block<'b> {
    name: Option<&'b [u8]>,
    id: Option<&'b [u8]>,
    data: Option<&'b [u8]>,
}

/// A frame, as slices of the chunk; `None` for a part that the decoder has buffered.
enum Found<'b> {
    Event {
        name: Option<&'b [u8]>,
        data: Option<&'b [u8]>,
    },
    Comment(Option<&'b [u8]>),
    Retry(Duration),
}

/// The result of comparing the input with the start of the last event.
enum SameAgain<'b> {
    /// The event is complete and was consumed; its data.
    Event(&'b [u8]),
    /// The event is unfinished; the start of its data was buffered.
    Unfinished,
    /// The input starts differently; nothing was consumed.
    Other,
}

/// The part of the buffer that the last frame borrows. The next call clears this part, because the frame may be in use
/// until then.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Spent {
    #[default]
    Nothing,
    Line,
    Block,
}

impl Decoder {
    /// The default limit of one event in bytes: 1 MiB.
    pub const DEFAULT_LIMIT: usize = 1024 * 1024;

    /// Creates a decoder for one stream, with the default limit.
    pub fn new() -> Self {
        Self {
            partial: Partial::default(),
            head: Head::default(),
            last_id: String::new(),
            retry: None,
            limit: Self::DEFAULT_LIMIT,
            report_comments: false,
            report_retry: false,
            must_resume: true,
            in_line: false,
            spent: Spent::Nothing,
            mark_seen: 0,
            after_cr: false,
            failed: None,
        }
    }

    /// Sets the limit of one event in bytes; an event that exceeds it is an error.
    ///
    /// The limit covers the joined data lines, the name, the id, the last event id and the current
    /// line. It does not depend on the chunk boundaries: an event that is too large is an error
    /// even if it could be borrowed.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Sets whether comments are returned. By default they are skipped.
    pub fn report_comments(self, report: bool) -> Self {
        Self {
            report_comments: report,
            ..self
        }
    }

    /// Sets whether changes of the reconnection time are returned as frames. [`retry`](Self::retry) returns the time in
    /// either case.
    pub fn report_retry(self, report: bool) -> Self {
        Self {
            report_retry: report,
            ..self
        }
    }

    /// Returns the last event id, which a client sends as `last-event-id` when it reconnects; empty if the stream has
    /// set no id.
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// Returns the reconnection time, if the stream has set one. Numbers of milliseconds beyond
    /// `u64` become `u64::MAX`.
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Returns the next frame in `input` and advances `input` past it.
    ///
    /// `None` means that `input` is empty and the next chunk is needed: call `next` in a loop until then. The buffer of
    /// a large event is kept for the next event that spans several chunks, and is released after that event if it was
    /// smaller.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if an event exceeds the limit. Errors are final: buffered bytes
    /// are dropped, and each later call returns the same error.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, TooLarge> {
        if self.in_line && self.hold_short(input) {
            return Ok(None);
        }
        match self.same_again(input) {
            SameAgain::Event(data) => {
                let name = Cow::Borrowed(self.head.name());
                let id = Cow::Borrowed(&*self.last_id);
                return Ok(Some(Frame::Event(Event::from_parts(name, text(data), id))));
            }
            SameAgain::Unfinished => return Ok(None),
            SameAgain::Other => {}
        }
        let Some(found) = self.find(input)? else {
            return Ok(None);
        };
        Ok(Some(match found {
            Found::Event { name, data } => {
                let name = name.unwrap_or_else(|| self.partial.name());
                let name = if self.head.is(name) {
                    Cow::Borrowed(self.head.name())
                } else {
                    let name = text(name);
                    if self.head.store(&name) {
                        Cow::Borrowed(self.head.name())
                    } else {
                        name
                    }
                };
                let data = text(data.unwrap_or_else(|| self.partial.data()));
                Frame::Event(Event::from_parts(name, data, Cow::Borrowed(&self.last_id)))
            }
            Found::Comment(comment) => {
                let line = self
                    .partial
                    .open_line()
                    .strip_prefix(b":")
                    .unwrap_or_default();
                Frame::Comment(text(comment.unwrap_or(line)))
            }
            Found::Retry(time) => Frame::Retry(time),
        }))
    }

    /// Reads an event that starts like the last one and has one line of data. This is the fast path for nearly all
    /// events, with the same results as [`find`](Self::find).
    #[inline]
    fn same_again<'b>(&mut self, input: &mut &'b [u8]) -> SameAgain<'b> {
        if !self.is_at_start(input) {
            return SameAgain::Other;
        }
        let Some(rest) = self.head.strip(input) else {
            return SameAgain::Other;
        };
        let Some((data, rest)) = find_line_end(rest).and_then(|end| rest.split_at_checked(end))
        else {
            // The line has no line end, so it is not searched again.
            self.partial.start_like(&self.head);
            self.partial.push_line(rest);
            *input = &[];
            (self.must_resume, self.in_line) = (true, true);
            return SameAgain::Unfinished;
        };
        // One data line and a blank line. Another field or a CR needs the general path.
        let [b'\n', b'\n', rest @ ..] = rest else {
            return SameAgain::Other;
        };
        *input = rest;
        SameAgain::Event(data)
    }

    /// Returns the name of the last event whose lines before the data are usual.
    pub(crate) fn last_name(&self) -> &str {
        self.head.name()
    }

    /// Returns `input` after the lines before the data of its first event, if they are those of the last event. The data
    /// may continue on further lines, and `input` may end within it.
    #[inline]
    pub(crate) fn peek_data<'b>(&mut self, input: &'b [u8]) -> Option<&'b [u8]> {
        if self.spent == Spent::Block && !self.after_cr {
            // Only clears the block, as nothing else is buffered.
            let _ = self.resume(&mut { input });
        }
        self.is_at_start(input).then(|| self.head.strip(input))?
    }

    /// Returns `true` if the next byte starts an event, and every event in `input` is within the limit.
    fn is_at_start(&self, input: &[u8]) -> bool {
        // An upper bound that needs no search: if the whole input fits, so does every event in it.
        let scarce = self.last_id.len() + input.len() > self.limit;
        // No state of an earlier call, and no field in `partial`.
        !self.must_resume && !scarce && self.partial.is_empty()
    }

    /// Appends a short input to the open line. Returns `false` and consumes nothing if the input is longer, has a line
    /// end, or may exceed the limit.
    #[inline]
    fn hold_short(&mut self, input: &mut &[u8]) -> bool {
        if is_inside_line(input) && !self.is_scarce(input) {
            self.partial.push_line(mem::take(input));
            return true;
        }
        false
    }

    /// Reads lines until they form a frame. Inlined, because passing the parts of a frame through memory would take a
    /// fifth of the time of a short event.
    #[inline]
    fn find<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Found<'b>>, TooLarge> {
        if self.must_resume {
            let found = self.resume(input)?;
            // Still unfinished: the input ended inside the open line or the byte order mark, or the finished line ended
            // with a CR as the last byte of the input.
            if found.is_some() || self.must_resume {
                return Ok(found);
            }
        }
        // All bytes that this call buffers or returns are in this input.
        let mut scarce = self.is_scarce(input);
        let mut block = Block::default();
        while let Some((line, end, rest)) = split_line(input) {
            if scarce {
                self.check(block, line.len())?;
            }
            *input = rest;
            if end == LineEnd::MayNeedLf {
                // The next chunk may start with the LF of this line end.
                self.after_cr = true;
                self.must_resume = true;
            }
            match Line::parse(line) {
                Line::Blank => {
                    if let Some(found) = self.dispatch(block) {
                        return Ok(Some(found));
                    }
                    block = Block::default();
                    skip_blank(input);
                    // The id may be longer than its bytes: invalid UTF-8 is replaced.
                    scarce = self.is_scarce(input);
                }
                Line::Data(value) => {
                    // The first data line is borrowed. With further lines, all are joined in the buffer.
                    if block.data.is_none() && !self.partial.has_data() {
                        block.data = Some(value);
                    } else {
                        if let Some(first) = block.data.take() {
                            self.partial.push_data(first);
                        }
                        self.partial.push_data(value);
                    }
                }
                Line::Name(value) => {
                    // The last `event` field of a block counts, so it replaces one from an earlier chunk.
                    self.partial.forget_name();
                    block.name = Some(value);
                }
                Line::Id(value) => {
                    self.partial.forget_id();
                    block.id = Some(value);
                }
                Line::Retry(time) => {
                    self.retry = Some(time);
                    if self.report_retry {
                        self.buffer(block);
                        return Ok(Some(Found::Retry(time)));
                    }
                }
                Line::Comment(text) => {
                    if self.report_comments {
                        self.buffer(block);
                        return Ok(Some(Found::Comment(Some(text))));
                    }
                }
                Line::Ignored => {}
            }
        }
        self.buffer(block);
        self.buffer_line(input)?;
        Ok(None)
    }

    /// Completes the work of an earlier call, and finishes the line that started in an earlier chunk. `must_resume`
    /// stays set if the input ends before that.
    #[inline(never)]
    fn resume<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Found<'b>>, TooLarge> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.in_line = false;
        match mem::take(&mut self.spent) {
            Spent::Nothing => {}
            Spent::Line => self.partial.forget_line(),
            Spent::Block => self.partial.clear(),
        }
        self.skip_mark(input);
        if input.is_empty() {
            return Ok(None);
        }
        if mem::take(&mut self.after_cr) {
            *input = input.strip_prefix(b"\n").unwrap_or(input);
        }
        self.must_resume = false;
        if self.partial.open_line().is_empty() {
            return Ok(None);
        }
        let Some((piece, end, rest)) = split_line(input) else {
            self.buffer_line(input)?;
            return Ok(None);
        };
        self.check(Block::default(), piece.len())?;
        self.partial.push_line(piece);
        *input = rest;
        if end == LineEnd::MayNeedLf {
            self.after_cr = true;
            self.must_resume = true;
        }
        Ok(self.finish_line())
    }

    /// Skips the byte order mark. HTML standard, server-sent events, "Parsing an event stream": a mark at the start of
    /// the stream is not part of the first line. Any later mark is text.
    fn skip_mark(&mut self, input: &mut &[u8]) {
        while let Some(expected) = BYTE_ORDER_MARK.get(self.mark_seen) {
            match input.split_first() {
                None => return,
                Some((byte, rest)) if byte == expected => {
                    self.mark_seen += 1;
                    *input = rest;
                }
                Some(_) => {
                    // Not a byte order mark: the bytes read so far are the start of a line.
                    let seen = BYTE_ORDER_MARK.get(..self.mark_seen).unwrap_or_default();
                    self.partial.push_line(seen);
                    self.mark_seen = BYTE_ORDER_MARK.len();
                }
            }
        }
    }

    /// Interprets the open line, which is complete and not blank.
    fn finish_line<'b>(&mut self) -> Option<Found<'b>> {
        match Line::parse(self.partial.open_line()) {
            Line::Data(value) => {
                let len = value.len();
                self.partial.line_is_data(len);
            }
            Line::Name(value) => {
                let len = value.len();
                self.partial.line_is_name(len);
            }
            Line::Id(value) => {
                let len = value.len();
                self.partial.line_is_id(len);
            }
            Line::Retry(time) => {
                self.retry = Some(time);
                self.partial.forget_line();
                return self.report_retry.then_some(Found::Retry(time));
            }
            Line::Comment(_) if self.report_comments => {
                self.spent = Spent::Line;
                self.must_resume = true;
                return Some(Found::Comment(None));
            }
            Line::Comment(_) | Line::Ignored | Line::Blank => self.partial.forget_line(),
        }
        None
    }

    /// Ends a block. HTML standard, server-sent events, "Interpreting an event stream", dispatch: the last event id is
    /// set even if there is no data; without data there is no event; the name applies to this block only.
    fn dispatch<'b>(&mut self, block: Block<'b>) -> Option<Found<'b>> {
        if let Some(id) = block.id.or_else(|| self.partial.id()) {
            self.last_id.clear();
            self.last_id.push_str(&text(id));
        }
        if block.data.is_none() && !self.partial.has_data() {
            self.partial.clear();
            return None;
        }
        if !self.partial.is_empty() {
            // The event may borrow its name or data from `partial`: the next call clears it.
            self.spent = Spent::Block;
            self.must_resume = true;
        }
        Some(Found::Event {
            name: block.name,
            data: block.data,
        })
    }

    /// Buffers the fields of an unfinished block until the next call.
    fn buffer(&mut self, block: Block<'_>) {
        if let Some(name) = block.name {
            self.partial.set_name(name);
        }
        if let Some(id) = block.id {
            self.partial.set_id(id);
        }
        if let Some(data) = block.data {
            self.partial.push_data(data);
        }
    }

    /// Buffers the rest of the input, which is the start of a line.
    fn buffer_line(&mut self, input: &mut &[u8]) -> Result<(), TooLarge> {
        let piece = mem::take(input);
        if !piece.is_empty() {
            self.check(Block::default(), piece.len())?;
            self.partial.push_line(piece);
            self.must_resume = true;
            self.in_line = true;
        }
        Ok(())
    }

    /// Returns `true` if the buffered bytes and all of `input` may exceed the limit.
    #[inline]
    fn is_scarce(&self, input: &[u8]) -> bool {
        self.partial.len() + self.last_id.len() + input.len() > self.limit
    }

    /// Checks the limit for `more` bytes of a line, before they are buffered.
    #[inline]
    fn check(&mut self, block: Block<'_>, more: usize) -> Result<(), TooLarge> {
        let len = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
        let block = len(block.name) + len(block.id) + len(block.data);
        if block + more + self.partial.len() + self.last_id.len() > self.limit {
            return Err(self.fail());
        }
        Ok(())
    }

    #[cold]
    fn fail(&mut self) -> TooLarge {
        let error = TooLarge::new(self.limit);
        self.failed = Some(error);
        // The buffer is dropped and not only cleared: a stream that failed at its limit must not keep that much memory.
        self.partial = Partial::default();
        self.must_resume = true;
        self.in_line = false;
        error
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

opaque_debug!(Decoder);

/// Skips blank lines where no block is open, without its last byte: a CR there may need an LF.
#[inline]
fn skip_blank(input: &mut &[u8]) {
    let is_text = |byte: &u8| !matches!(byte, b'\n' | b'\r');
    let blank = input.iter().position(is_text).unwrap_or(input.len());
    *input = input.get(blank.saturating_sub(1)..).unwrap_or_default();
}

/// Decodes UTF-8 with replacement, as the HTML standard requires. Each maximal ill-formed sequence
/// becomes one U+FFFD; well-formed text is not copied.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
