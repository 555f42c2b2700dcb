//! Lines of JSON (NDJSON): an incremental decoder.
//!
//! The second framing of streaming chat protocols, beside [server-sent events](crate::sse): every event is one JSON
//! text without line breaks, followed by LF. The decoder works on bytes, without a clock, sockets or a runtime.
//!
//! Writing needs no encoder: the writers of [`json`](crate::json) write every value on one line.

use std::borrow::Cow;
use std::mem;

use memchr::memchr;

use crate::sse::{TooLarge, text};

/// The capacity in bytes that the buffer keeps after its line, even if the line needed less.
const KEEP: usize = 16 * 1024;

/// An incremental decoder of lines, which reads chunks of bytes and returns lines.
///
/// A line ends with LF or with CR LF. Lines that are empty or only white space are skipped. Invalid UTF-8 becomes
/// U+FFFD. The lines do not depend on the chunk boundaries. A line that is complete in one chunk is borrowed from the
/// chunk; only an unfinished line is copied, and its bytes are not searched again when more arrive, so the work is
/// linear in the length of the stream.
///
/// A last line without a line end is not lost: [`end`](Self::end) returns it.
///
/// ```
/// use copilot_wire::lines::Decoder;
///
/// let mut decoder = Decoder::new();
/// let mut lines = Vec::new();
/// for mut chunk in [&b"{\"n\":1}\r\n\n{\"n"[..], b"\":2}\n{\"n\":3}"] {
///     while let Some(line) = decoder.next(&mut chunk)? {
///         lines.push(line.into_owned());
///     }
/// }
/// lines.extend(decoder.end());
/// assert_eq!(lines, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
/// # Ok::<(), copilot_wire::sse::TooLarge>(())
/// ```
#[must_use]
pub struct Decoder {
    /// The bytes of an unfinished line.
    open: Vec<u8>,
    limit: usize,
    /// `true` if the caller may still borrow the last line from `open`.
    spent: bool,
    failed: bool,
}

impl Decoder {
    /// Creates a decoder for one stream, with the limit `DEFAULT_LIMIT` of [`sse::Decoder`](crate::sse::Decoder).
    pub const fn new() -> Self {
        Self {
            open: Vec::new(),
            limit: crate::sse::Decoder::DEFAULT_LIMIT,
            spent: false,
            failed: false,
        }
    }

    /// Sets the limit of one line in bytes, without its line end. A line that exceeds it is an error, whatever the
    /// chunk boundaries are.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns the next line in `input`, without its line end, and advances `input` past it.
    ///
    /// `None` means that `input` is empty and the next chunk is needed: call `next` in a loop until then.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if a line exceeds the limit. Errors are final: buffered bytes are dropped, and each
    /// later call returns the same error.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Cow<'a, str>>, TooLarge> {
        Ok(match self.find(input)? {
            Found::Nothing => None,
            Found::Input(line) => Some(text(line)),
            Found::Open => Some(text(trim_end(&self.open))),
        })
    }

    /// Ends the stream. Returns the last line if it has no line end and is not blank.
    pub fn end(&mut self) -> Option<String> {
        let open = mem::take(&mut self.open);
        let line = trim_end(&open);
        let is_whole = mem::take(&mut self.spent) || is_blank(line);
        (!is_whole).then(|| text(line).into_owned())
    }

    fn find<'b>(&mut self, input: &mut &'b [u8]) -> Result<Found<'b>, TooLarge> {
        if self.failed {
            return Err(self.fail());
        }
        if mem::take(&mut self.spent) {
            self.clear();
        }
        while let Some((piece, rest)) = split(input) {
            *input = rest;
            if self.open.is_empty() {
                let line = trim_end(piece);
                self.check(line.len())?;
                if !is_blank(line) {
                    return Ok(Found::Input(line));
                }
                continue;
            }
            self.extend(piece)?;
            if !is_blank(&self.open) {
                self.spent = true;
                return Ok(Found::Open);
            }
            self.clear();
        }
        self.extend(mem::take(input))?;
        Ok(Found::Nothing)
    }

    /// Appends to the open line.
    fn extend(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        // A CR at the end may be part of the line end.
        let last = piece.last().or_else(|| self.open.last());
        let end = usize::from(last == Some(&b'\r'));
        self.check(self.open.len() + piece.len() - end)?;
        self.open.extend_from_slice(piece);
        Ok(())
    }

    fn check(&mut self, length: usize) -> Result<(), TooLarge> {
        match length > self.limit {
            true => Err(self.fail()),
            false => Ok(()),
        }
    }

    #[cold]
    fn fail(&mut self) -> TooLarge {
        self.failed = true;
        self.open = Vec::new();
        TooLarge::new(self.limit)
    }

    fn clear(&mut self) {
        // In a stream of long lines, the next line needs about as much.
        let used = self.open.len();
        self.open.clear();
        self.open.shrink_to(KEEP.max(2 * used));
    }
}

/// The result of a search for a line.
enum Found<'b> {
    Nothing,
    /// A line of the input.
    Input(&'b [u8]),
    /// The open line is complete.
    Open,
}

/// Splits bytes at the first LF, which is in neither of the parts.
#[inline]
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, end) = bytes.split_at_checked(memchr(b'\n', bytes)?)?;
    Some((line, end.get(1..)?))
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().is_empty()
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

opaque_debug!(Decoder);
