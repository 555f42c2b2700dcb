//! Splitting and parsing of lines.

use std::time::Duration;

use memchr::memchr2;

use crate::json::lanes::{ONES, any};

/// Splits off the first line of `bytes`: returns the line, its line end, and the bytes after it.
///
/// HTML standard, server-sent events, "Parsing an event stream": a line ends with CR LF, with LF or
/// with CR, and with nothing else (not with U+0085, U+2028, VT or FF). A CR at the end of `bytes`
/// ends the line at once; the caller drops an LF that follows it.
#[inline(always)]
pub(super) fn split_line(bytes: &[u8]) -> Option<(&[u8], LineEnd, &[u8])> {
    // A fast path for the blank line after every event.
    if let [b'\n', rest @ ..] = bytes {
        return Some((&[], LineEnd::Whole, rest));
    }
    let (line, rest) = bytes.split_at_checked(find_line_end(bytes)?)?;
    match rest {
        [b'\r', b'\n', rest @ ..] => Some((line, LineEnd::Whole, rest)),
        [b'\r'] => Some((line, LineEnd::MayNeedLf, &[])),
        [_, rest @ ..] => Some((line, LineEnd::Whole, rest)),
        [] => None,
    }
}

/// The state of a line end at the end of the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// The line end is complete.
    Whole,
    /// The line end is a CR at the end of the input: an LF at the start of the next chunk belongs to it.
    MayNeedLf,
}

/// Returns the offset of the first CR or LF.
#[inline]
pub(super) fn find_line_end(bytes: &[u8]) -> Option<usize> {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // A vectorized search takes longer to start than this one.
        (Some(first), Some(last)) if bytes.len() <= SHORT => match line_end_in(first) {
            None => Some(bytes.len() - first.len() + line_end_in(last)?),
            at => at,
        },
        _ => memchr2(b'\r', b'\n', bytes),
    }
}

/// Returns the offset of the first CR or LF in a word.
#[inline(always)]
fn line_end_in(bytes: &[u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes);
    // The lowest high bit that is set belongs to the first equal byte; higher bits may belong to unequal bytes.
    let equal = |byte: u8| {
        let differs = word ^ (ONES * u64::from(byte));
        differs.wrapping_sub(ONES) & !differs & (ONES << 7)
    };
    match equal(b'\r') | equal(b'\n') {
        0 => None,
        hits => Some(hits.trailing_zeros() as usize / 8),
    }
}

/// The maximum length in bytes of a piece that [`is_inside_line`] accepts.
const SHORT: usize = 16;

/// Returns `true` if a piece is short and has no line end.
#[inline(always)]
pub(super) fn is_inside_line(piece: &[u8]) -> bool {
    let is_end = |byte: u8| (byte == b'\r') | (byte == b'\n');
    match (piece.first_chunk::<8>(), piece.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            piece.len() <= SHORT && !(any(first, is_end) | any(last, is_end))
        }
        _ => !piece.iter().any(|byte| is_end(*byte)),
    }
}

/// A parsed line.
///
/// Values are undecoded bytes, so that UTF-8 is validated once, when the event is complete.
/// Decoding after splitting gives the same result, because an ill-formed UTF-8 sequence never includes an ASCII byte.
#[derive(Clone, Copy)]
pub(super) enum Line<'l> {
    Blank,
    Comment(&'l [u8]),
    Data(&'l [u8]),
    Name(&'l [u8]),
    Id(&'l [u8]),
    Retry(Duration),
    Ignored,
}

impl<'l> Line<'l> {
    /// Parses a line. HTML standard, server-sent events, "Interpreting an event stream": an empty
    /// line ends the block; a line that starts with a colon is a comment; any other line is a field.
    /// Fields with an unknown name, an `id` with U+0000 and a `retry` that is not a number are
    /// ignored.
    #[inline]
    pub(super) fn parse(line: &'l [u8]) -> Self {
        let field = match line {
            [] => return Self::Blank,
            [b':', text @ ..] => return Self::Comment(text),
            [b'd', ..] => value(line, b"data").map(Self::Data),
            [b'e', ..] => value(line, b"event").map(Self::Name),
            [b'i', ..] => value(line, b"id")
                .filter(|id| !id.contains(&b'\0'))
                .map(Self::Id),
            [b'r', ..] => value(line, b"retry").and_then(millis).map(Self::Retry),
            _ => None,
        };
        field.unwrap_or(Self::Ignored)
    }
}

/// Returns the value of the field if its name is `name`.
///
/// The name is the text before the first colon and must match exactly. The value is the text after the colon, without
/// one leading space. A line without a colon is a field with an empty value.
#[inline]
fn value<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// Parses a `retry` value: ASCII digits only, base ten, in milliseconds. The standard sets no upper
/// bound; numbers beyond `u64` become `u64::MAX`.
fn millis(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let millis = value.iter().fold(0_u64, |millis, digit| {
        millis
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    });
    Some(Duration::from_millis(millis))
}
