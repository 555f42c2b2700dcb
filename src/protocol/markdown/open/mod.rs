//! Markdown and HTML that a text leaves open, and what closes it.

mod doubtful;
mod exact;
mod line;
mod tag;

use std::fmt::Write as _;
use std::mem;

use doubtful::Doubtful;
use exact::Exact;

use crate::json::lanes::{BLOCK, any, first};

/// The length of the longest line that is buffered. A longer one is not read exactly.
const MAX_LINE: usize = 16 * 1024;

/// The size of the end tags of all elements that are remembered.
const MAX_NAMES: usize = 64 * 1024;

/// An error: a construct is open that no text written after it can close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unclosable;

/// An incremental scanner for the Markdown and HTML constructs that a text leaves open.
///
/// [`closers`](Self::closers) returns what to write after the text, so that Markdown after it is
/// rendered as if it stood alone: outside any code block, comment, attribute and element. This holds
/// for renderers that follow CommonMark, whether they drop HTML, escape it or pass it through.
///
/// The scanner is in one of two states:
///
/// * **Exact**: so far every tag was complete on one line, end tags matched start tags, code was
///   fenced by whole lines or quoted within one line. The closers are exact too, and empty if
///   nothing is open.
/// * **Doubtful**: from the first construct on that renderers may read in different ways. Nothing
///   is taken back any more; the closers end every kind of construct, and every element that was
///   named since. HTML parsers ignore an end tag without a start tag.
///
/// # Invariants
///
/// * In doubt a start tag counts and an end tag does not. Closing too much shows a stray tag at
///   worst; closing too little hides what follows.
/// * The result depends on the text alone, not on the pieces in which it arrives.
/// * Each byte is examined a bounded number of times. At most 16 KiB of a line and 64 KiB of names
///   are buffered.
#[derive(Clone, Debug)]
pub(crate) struct OpenConstructs(State);

#[derive(Clone, Debug)]
enum State {
    Exact(Exact),
    Doubtful(Doubtful),
}

impl OpenConstructs {
    /// Creates a scanner for a text that has not begun.
    pub(crate) fn new() -> Self {
        Self(State::Exact(Exact::default()))
    }

    /// Returns `true` in the middle of a line where only a piece that is not
    /// [`is_plain`](Self::is_plain) can change anything. Plain pieces need not be fed then.
    pub(crate) fn is_quiet(&self) -> bool {
        match &self.0 {
            State::Exact(exact) => exact.is_quiet(),
            State::Doubtful(_) => false,
        }
    }

    /// Returns `true` if `text` has no line end and nothing that can open, close or escape a
    /// construct within a line.
    pub(crate) fn is_plain(text: &str) -> bool {
        next_active(text.as_bytes()).is_none()
    }

    /// Scans the next piece of the text.
    pub(crate) fn feed(&mut self, text: &str) {
        let mut rest = text;
        while let State::Exact(exact) = &mut self.0 {
            let Some((step, after)) = exact.feed(rest) else {
                return;
            };
            rest = after;
            if step.is_err() {
                // For good: once renderers may differ, there is no place at which they agree again
                // for certain.
                self.0 = State::Doubtful(mem::take(exact).into_doubtful());
            }
        }
        if let State::Doubtful(doubtful) = &mut self.0 {
            doubtful.feed(rest);
        }
    }

    /// Returns the text that closes what is open: empty if nothing is, otherwise with blank lines
    /// around it.
    ///
    /// # Errors
    ///
    /// [`Unclosable`] if nothing can close it: an element without an end (`plaintext`), HTML that can
    /// cover or restyle what follows it (`style`, `class`), or more elements than are remembered.
    pub(crate) fn closers(&self) -> Result<String, Unclosable> {
        match &self.0 {
            State::Doubtful(doubtful) => doubtful.closers(),
            State::Exact(exact) => exact.clone().finish(),
        }
    }

    /// Returns `true` if the text is read in the same way by all renderers, so far.
    pub(crate) fn is_exact(&self) -> bool {
        match &self.0 {
            State::Doubtful(_) => false,
            State::Exact(exact) => exact.clone().completes(),
        }
    }
}

/// Returns `true` for bytes that are active in the middle of a line: those of code spans, escapes,
/// links, tables, mathematics and HTML, and line ends.
fn is_active(byte: u8) -> bool {
    matches!(
        byte,
        b'\n' | b'\r' | b'<' | b'`' | b'\\' | b'[' | b']' | b'$' | b'|' | b'{'
    )
}

/// Returns the offset of the first active byte.
fn next_active(bytes: &[u8]) -> Option<usize> {
    // Nearly all text has none. A block is searched without a branch, which is several times as fast, by a
    // test of few instructions that has false positives.
    let may_be_active = |byte: u8| {
        let last_columns = (byte & 0x9F).wrapping_sub(0x1B) < 5;
        last_columns | (byte < b' ') | (byte == b'`') | (byte == b'$')
    };
    let mut rest = bytes;
    let mut inactive = 0;
    while let Some((step, after)) = rest.split_first_chunk::<16>() {
        rest = match first(step, may_be_active) {
            None => {
                inactive += 1;
                // Larger blocks only after some inactive ones: short pieces must not pay for the
                // larger test.
                if inactive % 4 == 0 {
                    skip_blocks(after, may_be_active)
                } else {
                    after
                }
            }
            Some(at) => {
                let (_, found) = rest.split_at_checked(at)?;
                match found {
                    [byte, after @ ..] if !is_active(*byte) => after,
                    _ => return Some(bytes.len() - found.len()),
                }
            }
        };
    }
    let at = rest.iter().position(|byte| is_active(*byte))?;
    Some(bytes.len() - rest.len() + at)
}

/// Skips whole blocks in which `test` is false for every byte.
fn skip_blocks(bytes: &[u8], test: impl Fn(u8) -> bool) -> &[u8] {
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if any(block, &test) {
            break;
        }
        rest = after;
    }
    rest
}

/// Writes the end tags of `names`, the last one first.
fn end_tags(names: &[String], out: &mut String) {
    for name in names.iter().rev() {
        // Writing to a string does not fail.
        let _ = write!(out, "</{name}>");
    }
}

#[cfg(test)]
mod tests;
