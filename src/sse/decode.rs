//! The incremental decoder.

use std::borrow::Cow;
use std::{fmt, mem};

use super::head::Head;
use super::held::Held;
use super::line::{Line, LineEnd, find_line_end, split_line};
use super::{DecodeError, Event, Frame};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An incremental decoder of an event stream: chunks of bytes in, frames out.
///
/// It follows the HTML standard, server-sent events, "Parsing" and "Interpreting an event stream", to
/// the letter; the same frames come out however the stream is cut into chunks. An event that lies
/// inside one chunk with one line of data is borrowed from the chunk. Only an unfinished event is
/// copied, and what has come of it is not searched again when more comes, so the work is linear in
/// the length of the stream.
///
/// At the end of the stream there is nothing to call: a block without its blank line does not count.
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
/// # Ok::<(), copilot_wire::sse::DecodeError>(())
/// ```
pub struct Decoder {
    held: Held,
    /// The head of the last event that had a short name.
    head: Head,
    last_id: String,
    retry: Option<u64>,
    limit: usize,
    report_comments: bool,
    report_retry: bool,
    /// Something of what follows must be looked at before the next line can be read.
    unsettled: bool,
    /// How much of `held` the last frame was made of.
    spent: Spent,
    /// How many bytes of the byte order mark have been seen; all of them also if there is none.
    mark_seen: usize,
    /// The last byte was a CR, so an LF that comes next ends no line.
    after_cr: bool,
    failed: Option<DecodeError>,
}

/// The fields of a block that were read from the current chunk.
#[derive(Clone, Copy, Default)]
struct Block<'b> {
    name: Option<&'b [u8]>,
    id: Option<&'b [u8]>,
    data: Option<&'b [u8]>,
}

/// A frame, as parts of the chunk; `None` is what the decoder holds itself.
enum Found<'b> {
    Event {
        name: Option<&'b [u8]>,
        data: Option<&'b [u8]>,
    },
    Comment(Option<&'b [u8]>),
    Retry(u64),
}

/// A frame may borrow what is held, so what it used up is cleared away by the call after.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Spent {
    #[default]
    Nothing,
    Line,
    Block,
}

impl Decoder {
    /// The limit of [`new`](Self::new): 1 MiB.
    pub const DEFAULT_LIMIT: usize = 1024 * 1024;

    /// A decoder for one stream, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self {
            held: Held::default(),
            head: Head::default(),
            last_id: String::new(),
            retry: None,
            limit: Self::DEFAULT_LIMIT,
            report_comments: false,
            report_retry: false,
            unsettled: true,
            spent: Spent::Nothing,
            mark_seen: 0,
            after_cr: false,
            failed: None,
        }
    }

    /// Sets the limit: the stream fails when one event needs more bytes.
    ///
    /// One limit for all there is: the data lines joined, the name, the id, the last event id and
    /// the line that is being read. It does not depend on the chunks: an event that is too large
    /// is refused even where it could have been borrowed.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Whether comments are handed out. Without this they are skipped.
    #[must_use]
    pub fn report_comments(self, report: bool) -> Self {
        Self {
            report_comments: report,
            ..self
        }
    }

    /// Whether changes of the reconnection time are handed out. [`retry`](Self::retry) has the time
    /// in either case.
    #[must_use]
    pub fn report_retry(self, report: bool) -> Self {
        Self {
            report_retry: report,
            ..self
        }
    }

    /// The last event id: what a client sends as `last-event-id` when it reconnects. Empty if the
    /// stream has set none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// The reconnection time in milliseconds, if the stream has set one. Numbers beyond `u64` count
    /// as `u64::MAX`.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Takes the next frame out of `input` and moves `input` past it.
    ///
    /// `None`: `input` is used up, and the next chunk is wanted. Call it until then; a large buffer
    /// is given back in the call after the one that handed out its event.
    ///
    /// # Errors
    ///
    /// [`DecodeError::TooLarge`] if an event exceeds the limit. Errors are final: what was held is
    /// dropped, and each later call returns the same error.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, DecodeError> {
        if let Some(data) = self.same_again(input) {
            let name = Cow::Borrowed(self.head.name());
            let id = Cow::Borrowed(&*self.last_id);
            return Ok(Some(Frame::Event(Event::from_parts(name, text(data), id))));
        }
        let Some(found) = self.find(input)? else {
            return Ok(None);
        };
        Ok(Some(match found {
            Found::Event { name, data } => {
                let name = name.unwrap_or_else(|| self.held.name());
                let name = if self.head.is(name) {
                    Cow::Borrowed(self.head.name())
                } else {
                    let name = text(name);
                    if self.head.learn(&name) {
                        Cow::Borrowed(self.head.name())
                    } else {
                        name
                    }
                };
                let data = text(data.unwrap_or_else(|| self.held.data()));
                Frame::Event(Event::from_parts(name, data, Cow::Borrowed(&self.last_id)))
            }
            Found::Comment(comment) => {
                let held = self.held.open_line().strip_prefix(b":").unwrap_or_default();
                Frame::Comment(text(comment.unwrap_or(held)))
            }
            Found::Retry(millis) => Frame::Retry(millis),
        }))
    }

    /// Takes an event that begins like the last one and is whole, with one line of data, off the
    /// input: nearly all of them are. The same comes out of [`find`](Self::find), later.
    #[inline]
    fn same_again<'b>(&self, input: &mut &'b [u8]) -> Option<&'b [u8]> {
        let scarce = self.last_id.len() + input.len() > self.limit;
        if self.unsettled || scarce || !self.held.is_empty() {
            return None;
        }
        let rest = self.head.strip(input)?;
        let (data, rest) = rest.split_at_checked(find_line_end(rest)?)?;
        let [b'\n', b'\n', rest @ ..] = rest else {
            return None;
        };
        *input = rest;
        Some(data)
    }

    /// Reads lines until they make a frame. Inlined, because handing the parts of a frame back and
    /// forth through memory would cost a fifth of the time of a short event.
    #[inline]
    fn find<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Found<'b>>, DecodeError> {
        if self.unsettled {
            let found = self.settle(input)?;
            if found.is_some() || self.unsettled {
                return Ok(found);
            }
        }
        // Whatever this call keeps or hands out comes from here.
        let mut scarce = self.is_scarce(input);
        let mut block = Block::default();
        while let Some((line, end, rest)) = split_line(input) {
            if scarce {
                self.check(block, line.len())?;
            }
            *input = rest;
            if end == LineEnd::MayNeedLf {
                self.after_cr = true;
                self.unsettled = true;
            }
            match Line::parse(line) {
                Line::Blank => {
                    if let Some(found) = self.dispatch(block) {
                        return Ok(Some(found));
                    }
                    block = Block::default();
                    // The id that was set may be longer than its bytes: it is written as UTF-8.
                    scarce = self.is_scarce(input);
                }
                Line::Data(value) => {
                    if block.data.is_none() && !self.held.has_data() {
                        block.data = Some(value);
                    } else {
                        if let Some(first) = block.data.take() {
                            self.held.push_data(first);
                        }
                        self.held.push_data(value);
                    }
                }
                Line::Name(value) => {
                    self.held.forget_name();
                    block.name = Some(value);
                }
                Line::Id(value) => {
                    self.held.forget_id();
                    block.id = Some(value);
                }
                Line::Retry(millis) => {
                    self.retry = Some(millis);
                    if self.report_retry {
                        self.hold(block);
                        return Ok(Some(Found::Retry(millis)));
                    }
                }
                Line::Comment(text) => {
                    if self.report_comments {
                        self.hold(block);
                        return Ok(Some(Found::Comment(Some(text))));
                    }
                }
                Line::Ignored => {}
            }
        }
        self.hold(block);
        self.hold_line(input)?;
        Ok(None)
    }

    /// Does what an earlier call left to do, and finishes the line that an earlier chunk began.
    /// Stays unsettled if the input ends before that.
    #[inline(never)]
    fn settle<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Found<'b>>, DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match mem::take(&mut self.spent) {
            Spent::Nothing => {}
            Spent::Line => self.held.forget_line(),
            Spent::Block => self.held.clear(),
        }
        self.skip_mark(input);
        if input.is_empty() {
            return Ok(None);
        }
        if mem::take(&mut self.after_cr) {
            *input = input.strip_prefix(b"\n").unwrap_or(input);
        }
        self.unsettled = false;
        if self.held.open_line().is_empty() {
            return Ok(None);
        }
        let Some((piece, end, rest)) = split_line(input) else {
            self.hold_line(input)?;
            return Ok(None);
        };
        self.check(Block::default(), piece.len())?;
        self.held.push_line(piece);
        *input = rest;
        if end == LineEnd::MayNeedLf {
            self.after_cr = true;
            self.unsettled = true;
        }
        Ok(self.finish_line())
    }

    /// HTML standard, server-sent events, "Parsing an event stream": one byte order mark at the start
    /// of the stream is not part of the first line. Any later one is.
    fn skip_mark(&mut self, input: &mut &[u8]) {
        while let Some(expected) = BYTE_ORDER_MARK.get(self.mark_seen) {
            match input.split_first() {
                None => return,
                Some((byte, rest)) if byte == expected => {
                    self.mark_seen += 1;
                    *input = rest;
                }
                Some(_) => {
                    let seen = BYTE_ORDER_MARK.get(..self.mark_seen).unwrap_or_default();
                    self.held.push_line(seen);
                    self.mark_seen = BYTE_ORDER_MARK.len();
                }
            }
        }
    }

    /// Interprets the open line, which is complete now and not blank.
    fn finish_line<'b>(&mut self) -> Option<Found<'b>> {
        match Line::parse(self.held.open_line()) {
            Line::Data(value) => {
                let len = value.len();
                self.held.line_is_data(len);
            }
            Line::Name(value) => {
                let len = value.len();
                self.held.line_is_name(len);
            }
            Line::Id(value) => {
                let len = value.len();
                self.held.line_is_id(len);
            }
            Line::Retry(millis) => {
                self.retry = Some(millis);
                self.held.forget_line();
                return self.report_retry.then_some(Found::Retry(millis));
            }
            Line::Comment(_) if self.report_comments => {
                self.spent = Spent::Line;
                self.unsettled = true;
                return Some(Found::Comment(None));
            }
            Line::Comment(_) | Line::Ignored | Line::Blank => self.held.forget_line(),
        }
        None
    }

    /// HTML standard, server-sent events, "Interpreting an event stream", dispatch: the last event
    /// id is set even if there is no data; without data there is no event; the name does not outlive
    /// the block.
    fn dispatch<'b>(&mut self, block: Block<'b>) -> Option<Found<'b>> {
        if let Some(id) = block.id.or_else(|| self.held.id()) {
            self.last_id.clear();
            self.last_id.push_str(&text(id));
        }
        if block.data.is_none() && !self.held.has_data() {
            self.held.clear();
            return None;
        }
        if !self.held.is_empty() {
            self.spent = Spent::Block;
            self.unsettled = true;
        }
        Some(Found::Event {
            name: block.name,
            data: block.data,
        })
    }

    /// Keeps the fields of an unfinished block beyond this call.
    fn hold(&mut self, block: Block<'_>) {
        if let Some(name) = block.name {
            self.held.set_name(name);
        }
        if let Some(id) = block.id {
            self.held.set_id(id);
        }
        if let Some(data) = block.data {
            self.held.push_data(data);
        }
    }

    /// Keeps the rest of the input, the beginning of a line.
    fn hold_line(&mut self, input: &mut &[u8]) -> Result<(), DecodeError> {
        let piece = mem::take(input);
        if !piece.is_empty() {
            self.check(Block::default(), piece.len())?;
            self.held.push_line(piece);
            self.unsettled = true;
        }
        Ok(())
    }

    /// Whether what is held and all of `input` may exceed the limit.
    #[inline]
    fn is_scarce(&self, input: &[u8]) -> bool {
        self.held.len() + self.last_id.len() + input.len() > self.limit
    }

    /// Checks the limit for `more` bytes of a line, before any of it is kept.
    #[inline]
    fn check(&mut self, block: Block<'_>, more: usize) -> Result<(), DecodeError> {
        let len = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
        let block = len(block.name) + len(block.id) + len(block.data);
        if block + more + self.held.len() + self.last_id.len() > self.limit {
            return Err(self.fail());
        }
        Ok(())
    }

    #[cold]
    fn fail(&mut self) -> DecodeError {
        let error = DecodeError::TooLarge { limit: self.limit };
        self.failed = Some(error);
        self.held = Held::default();
        self.unsettled = true;
        error
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Says how much is held, not what.
impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("held", &self.held.len())
            .field("limit", &self.limit)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

/// HTML standard, server-sent events: the stream is UTF-8, decoded with replacement. Each maximal
/// ill-formed sequence becomes one U+FFFD; well-formed text is not copied.
#[inline]
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
