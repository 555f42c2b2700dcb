//! Escaping text for the inside of a JSON string.

use super::lanes::{BLOCK, Block, any, mask};
use super::value::Json;

/// How JSON strings are escaped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Escape {
    /// What JSON demands and no more: `"`, `\` and the control characters, in the short forms
    /// `\b \t \n \f \r` or as `\u00xx` in lower-case hex. The bytes are those of serde_json and of
    /// JavaScript.
    #[default]
    Json,
    /// The same, and U+2028 and U+2029 as `\u2028` and `\u2029`, for readers that take them for
    /// line breaks.
    JsonAndSeparators,
}

/// Appends a text as the inside of a JSON string, without the quotes.
///
/// ```
/// use copilot_wire::json::{Escape, escape};
///
/// let mut out = Vec::new();
/// escape("say \"hi\"\n", Escape::Json, &mut out);
/// assert_eq!(out, br#"say \"hi\"\n"#);
/// ```
#[inline]
pub fn escape(text: &str, policy: Escape, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if !copy_short(bytes, policy, out) {
        escape_long(bytes, policy, out);
    }
}

/// Copies a text of at most sixteen bytes if nothing in it must be escaped.
///
/// That is a model's token, so this is the hot path: words of fixed size that may overlap, because
/// a copy of variable length costs a call.
#[inline(always)]
fn copy_short(bytes: &[u8], policy: Escape, out: &mut Vec<u8>) -> bool {
    let end = out.len() + bytes.len();
    if let (Some(first), Some(last), 8..=16) = (
        bytes.first_chunk::<8>(),
        bytes.last_chunk::<8>(),
        bytes.len(),
    ) {
        let (low, high) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        if special(low, policy) | special(high, policy) != 0 {
            return false;
        }
        out.extend_from_slice(first);
        out.truncate(end - last.len());
        out.extend_from_slice(last);
        return true;
    }
    let Some(word) = word(bytes) else {
        return false;
    };
    // The bytes behind the text are zero, which is a control character: make them spaces.
    let spaces = (ONES * u64::from(b' ')) << (bytes.len() * 8);
    if special(word | spaces, policy) != 0 {
        return false;
    }
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
    true
}

/// Fewer than eight bytes as a word, the first one lowest.
#[inline(always)]
fn word(bytes: &[u8]) -> Option<u64> {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        let shift = (bytes.len() - 4) * 8;
        return (shift < 32).then(|| u64::from(u32::from_le_bytes(*first)) | last << shift);
    }
    Some(match *bytes {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, ..] => u64::from(u32::from_le_bytes([a, b, c, 0])),
    })
}

/// Writes block by block. A block without a special byte is copied whole; in another one the
/// special bytes are found all at once, and what lies between them is copied.
fn escape_long(bytes: &[u8], policy: Escape, out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if any(block, |byte| is_special(byte, policy)) {
            rest = escape_block(block, rest, policy, out);
        } else {
            out.extend_from_slice(block);
            rest = after;
        }
    }
    escape_words(rest, policy, out);
}

/// Writes the first block of `rest`; gives what comes behind it.
fn escape_block<'a>(block: &Block, rest: &'a [u8], policy: Escape, out: &mut Vec<u8>) -> &'a [u8] {
    let mut hits = mask(block, |byte| is_special(byte, policy));
    let mut written = 0;
    while hits != 0 {
        let at = hits.trailing_zeros() as usize;
        hits &= hits - 1;
        let special = rest.get(at..).unwrap_or_default();
        if policy == Escape::JsonAndSeparators && is_other_e2(special) {
            continue;
        }
        copy_wide(rest.get(written..).unwrap_or_default(), at - written, out);
        written = at + escape_one(special, out);
    }
    if let Some(left) = BLOCK.checked_sub(written) {
        copy_wide(rest.get(written..).unwrap_or_default(), left, out);
        written = BLOCK;
    }
    // A separator may reach into the next block.
    rest.get(written..).unwrap_or_default()
}

/// Appends the first `length` bytes, at most a block: a whole block where there is one, of which
/// the rest is cut off again.
#[inline(always)]
fn copy_wide(from: &[u8], length: usize, out: &mut Vec<u8>) {
    if let Some(block) = from.first_chunk::<BLOCK>() {
        let end = out.len() + length;
        out.extend_from_slice(block);
        out.truncate(end);
    } else {
        out.extend_from_slice(from.get(..length).unwrap_or_default());
    }
}

/// Writes word by word, for what is shorter than a block.
fn escape_words(mut rest: &[u8], policy: Escape, out: &mut Vec<u8>) {
    loop {
        let (word, length) = match rest.first_chunk::<8>() {
            Some(word) => (u64::from_le_bytes(*word), 8),
            None => (word(rest).unwrap_or_default(), rest.len()),
        };
        if length == 0 {
            return;
        }
        let hits = special(word, policy);
        let clean = ((hits.trailing_zeros() / 8) as usize).min(length);
        let end = out.len() + clean;
        out.extend_from_slice(&word.to_le_bytes());
        out.truncate(end);
        rest = rest.get(clean..).unwrap_or_default();
        if clean < length {
            let taken = if policy == Escape::JsonAndSeparators && is_other_e2(rest) {
                out.push(SEPARATOR_LEAD);
                1
            } else {
                escape_one(rest, out)
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }
}

/// The first byte of U+2028 and U+2029, and of other characters.
const SEPARATOR_LEAD: u8 = 0xE2;

/// True for a byte that is written differently or may begin a separator.
#[inline(always)]
fn is_special(byte: u8, policy: Escape) -> bool {
    let lead = policy == Escape::JsonAndSeparators && byte == SEPARATOR_LEAD;
    (byte < b' ') | (byte == b'"') | (byte == b'\\') | lead
}

/// One in every byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The same for eight bytes: the high bit of each that is special.
#[inline(always)]
fn special(word: u64, policy: Escape) -> u64 {
    const LOW: u64 = 0x7F * ONES;
    let low = word & LOW;
    // The high bit of each sum says that the low seven bits are not those of the byte.
    let not = |byte: u8| (low ^ (ONES * u64::from(byte & 0x7F))) + LOW;
    let not_control = low + ONES * 0x60;
    let mut plain = (not(b'"') & not(b'\\') & not_control) | word;
    if policy == Escape::JsonAndSeparators {
        plain &= not(SEPARATOR_LEAD) | !word;
    }
    !plain & !LOW
}

/// True when a text begins with the byte that begins a separator but not with one.
#[inline(always)]
fn is_other_e2(text: &[u8]) -> bool {
    !matches!(
        text,
        [0..SEPARATOR_LEAD, ..] | [SEPARATOR_LEAD, 0x80, 0xA8 | 0xA9, ..]
    )
}

/// Writes the special character that a text begins with; gives its length in the text.
#[inline]
fn escape_one(text: &[u8], out: &mut Vec<u8>) -> usize {
    /// What follows the backslash, by control character.
    const LETTERS: [u8; 32] = *b"uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let byte = text.first().copied().unwrap_or_default();
    match LETTERS.get(usize::from(byte)) {
        Some(b'u') => {
            let low = HEX.get(usize::from(byte & 15)).copied().unwrap_or_default();
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), low]);
        }
        Some(&letter) => out.extend_from_slice(&[b'\\', letter]),
        None if byte == SEPARATOR_LEAD => {
            let paragraph = text.get(2) == Some(&0xA9);
            out.extend_from_slice(if paragraph { br"\u2029" } else { br"\u2028" });
            return 3;
        }
        None => out.extend_from_slice(&[b'\\', byte]),
    }
    1
}

/// Appends a raw JSON value.
///
/// Line breaks between tokens become spaces, so that the result stays on one line. Under
/// [`Escape::JsonAndSeparators`] U+2028 and U+2029, which only strings can hold, are escaped. All
/// other bytes are copied unchanged.
pub fn write_raw(json: &Json, policy: Escape, out: &mut Vec<u8>) {
    escape_raw(json.as_bytes(), policy, out);
}

/// The same for bytes that are known to be JSON.
pub(super) fn escape_raw(json: &[u8], policy: Escape, out: &mut Vec<u8>) {
    // A valid text has no bare control character inside a string.
    let changes = |byte: u8| {
        let lead = policy == Escape::JsonAndSeparators && byte == SEPARATOR_LEAD;
        (byte == b'\n') | (byte == b'\r') | lead
    };
    out.reserve(json.len());
    let mut rest = json;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if any(block, changes) {
            break;
        }
        out.extend_from_slice(block);
        rest = after;
    }
    while let Some(at) = rest.iter().position(|&byte| changes(byte)) {
        let Some((run, special)) = rest.split_at_checked(at) else {
            break;
        };
        out.extend_from_slice(run);
        let taken = match special {
            [b'\n' | b'\r', ..] => {
                out.push(b' ');
                1
            }
            _ if is_other_e2(special) => {
                out.push(SEPARATOR_LEAD);
                1
            }
            _ => escape_one(special, out),
        };
        rest = special.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}
