//! Processing of texts of a few bytes, such as tokens, in words of eight bytes.

use super::lanes::{ONES, SEPARATOR_LEAD, any, put};
use super::special::{escape_byte, is_special, length_of};

/// The maximum length of a token.
pub(super) const SHORT: usize = 16;

/// Copies a text of at most 32 bytes if no byte may have to be escaped.
///
/// Words and vectors of constant size are copied, because a copy of variable length is a call.
#[inline(always)]
pub(super) fn copy_short(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    if bytes.len() >= 8 {
        return copy_ends::<8>(bytes, out) || copy_ends::<16>(bytes, out);
    }
    let end = out.len() + bytes.len();
    let Some(word) = word(bytes) else {
        return false;
    };
    // The bytes after the text are zeros, a control character; they become spaces.
    if special::<true>(word | spaces_from(bytes.len())) != 0 {
        return false;
    }
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
    true
}

/// Copies a text of `N` to `2 * N` bytes if no byte may have to be escaped.
#[inline(always)]
fn copy_ends<const N: usize>(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let end = out.len() + bytes.len();
    match (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
        (Some(first), Some(last))
            if bytes.len() <= 2 * N
                && !(any(first, is_special::<true>) | any(last, is_special::<true>)) =>
        {
            out.extend_from_slice(first);
            // The two copies overlap: the second overwrites the end of the first with the same bytes.
            out.truncate(end - N);
            out.extend_from_slice(last);
            true
        }
        _ => false,
    }
}

/// Appends a string of at most seven bytes in quotes, and then `after`, in one write. Returns `false` without writing
/// if a byte of the string may have to be escaped.
#[inline(always)]
pub(super) fn quote_short<const N: usize>(text: &str, after: &[u8; N], out: &mut Vec<u8>) -> bool {
    let bytes = text.as_bytes();
    let Some(word) = word(bytes) else {
        return false;
    };
    if special::<true>(word | spaces_from(bytes.len())) != 0 {
        return false;
    }
    let end = after
        .iter()
        .rev()
        .fold(0, |end, byte| end << 8 | u128::from(*byte));
    let length = 1 + bytes.len();
    let quoted = u128::from(b'"') | u128::from(word) << 8 | end << (8 * length);
    let end = out.len() + length + N;
    out.extend_from_slice(&quoted.to_le_bytes());
    out.truncate(end);
    true
}

/// Returns up to seven bytes as a word, with the first byte lowest.
#[inline(always)]
pub(super) fn word(bytes: &[u8]) -> Option<u64> {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        let shift = (bytes.len() - 4) * 8;
        return (shift < 32).then(|| u64::from(u32::from_le_bytes(*first)) | last << shift);
    }
    // One, two or three bytes, without a branch, which would be mispredicted half of the time.
    let middle = bytes.len() / 2;
    match (bytes, bytes.get(middle), bytes.last()) {
        ([first, ..], Some(second), Some(last)) => {
            let at = |byte: u8, index: usize| u64::from(byte) << (8 * index);
            Some(at(*first, 0) | at(*second, middle) | at(*last, bytes.len() - 1))
        }
        _ => Some(0),
    }
}

/// A text of at most sixteen bytes without escapes, as most tokens of a model are.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    /// The first eight bytes, padded with spaces.
    first: u64,
    /// The last eight bytes, if the text has at least eight.
    last: u64,
    pub(crate) len: usize,
}

impl Token {
    pub(crate) const MAX: usize = SHORT;

    /// Returns the token, or `None` if the text is longer or may have to be escaped.
    #[inline(always)]
    pub(crate) fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let len = bytes.len();
        let (first, last) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(first), Some(last)) if len <= SHORT => {
                let last = u64::from_le_bytes(*last);
                (special::<true>(last) == 0).then_some((u64::from_le_bytes(*first), last))?
            }
            (None, None) => (word(bytes)? | spaces_from(len), 0),
            _ => return None,
        };
        (special::<true>(first) == 0).then_some(Self { first, last, len })
    }

    /// Returns the escaped form of a short text. `None` if the form may exceed a token, or if the text has U+2028 or
    /// U+2029.
    pub(crate) fn escaped(text: &str) -> Option<Self> {
        let mut bytes = [b' '; SHORT + 8];
        let mut len = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let is_lead = byte == SEPARATOR_LEAD;
            if len >= SHORT || is_lead && text.get(at..).is_some_and(starts_with_separator) {
                return None;
            }
            let sequence = escape_byte(byte);
            put::<8>(&mut bytes, len, &sequence);
            len += length_of(sequence);
        }
        let at = |from: usize| bytes.get(from..)?.first_chunk().copied();
        let (first, last) = (at(0)?, at(len.saturating_sub(8))?);
        (len <= SHORT).then_some(Self {
            first: u64::from_le_bytes(first),
            last: u64::from_le_bytes(last),
            len,
        })
    }

    /// Passes the bytes of the token and their positions to `put`; the bytes may extend beyond the end of the token.
    #[inline(always)]
    pub(crate) fn put(self, mut put: impl FnMut(usize, &[u8; 8])) {
        put(0, &self.first.to_le_bytes());
        if let Some(at) = self.len.checked_sub(8) {
            put(at, &self.last.to_le_bytes());
        }
    }

    /// Appends the token.
    #[inline(always)]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let start = out.len();
        self.put(|at, bytes| {
            out.truncate(start + at);
            out.extend_from_slice(bytes);
        });
        out.truncate(start + self.len);
    }
}

fn starts_with_separator(text: &str) -> bool {
    text.starts_with(['\u{2028}', '\u{2029}'])
}

/// Returns a word with spaces from byte `length` on, which is less than eight.
#[inline(always)]
pub(super) fn spaces_from(length: usize) -> u64 {
    (ONES * u64::from(b' ')) << (length * 8)
}

/// Returns the high bit of each byte that is escaped or may be the start of U+2028 or U+2029.
#[inline(always)]
pub(super) fn special<const SEPARATORS: bool>(word: u64) -> u64 {
    const LOW: u64 = 0x7F * ONES;
    let low = word & LOW;
    // The high bit of each sum is set if the low seven bits of its byte differ from those of `byte`.
    let not = |byte: u8| (low ^ (ONES * u64::from(byte & 0x7F))) + LOW;
    let not_control = low + ONES * 0x60;
    let mut plain = (not(b'"') & not(b'\\') & not_control) | word;
    if SEPARATORS {
        plain &= not(SEPARATOR_LEAD) | !word;
    }
    !plain & !LOW
}
