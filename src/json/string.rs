//! Scanning and unescaping of JSON strings.

use std::borrow::Cow;

use super::error::JsonError;
use super::lanes::{BLOCK, ZEROS, any, mask, put};
use super::short::{special, word};

/// The length up to which a string is scanned in steps of eight bytes. Keys and most values are
/// shorter.
const SHORT: usize = 32;

/// Skips a string, from after its opening quote. Returns the offset after the closing quote, and `true` if the string
/// has an escape.
///
/// `char = unescaped / %x5C ( %x22 / %x5C / %x2F / b / f / n / r / t / u 4HEXDIG )`,
/// `unescaped = %x20-21 / %x23-5B / %x5D-10FFFF`
#[inline(always)]
pub(super) fn skip_string(text: &[u8], start: usize) -> Result<(usize, bool), JsonError> {
    let mut at = start;
    while at < start + SHORT {
        // Bytes beyond the end of the text count as control characters.
        let hits = special::<false>(word_at(text, at));
        if hits != 0 {
            at += hits.trailing_zeros() as usize / 8;
            return match text.get(at) {
                Some(b'"') => Ok((at + 1, false)),
                _ => skip_long_string(text, at),
            };
        }
        at += 8;
    }
    skip_long_string(text, at)
}

/// Returns the eight bytes from `at`, the first one lowest. Bytes beyond the end of the text are zero.
#[inline(always)]
pub(super) fn word_at(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => last_word(rest),
    }
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    word(rest).unwrap_or_default()
}

/// Skips the rest of a string in blocks, without a branch for each quote or backslash: strings that contain JSON have
/// many of them, and half of the branches would be mispredicted.
fn skip_long_string(text: &[u8], mut at: usize) -> Result<(usize, bool), JsonError> {
    let mut has_escape = false;
    // The carry between blocks: 1 if the last character of the previous block is a backslash that
    // escapes the first character of this one.
    let mut carry = 0;
    // Invariant: the bytes before `at` are inside the string and valid, apart from an escape whose
    // backslash is the last of them (`carry`).
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if carry == 0 && !any(block, |byte| byte == b'"' || byte == b'\\' || byte < b' ') {
            at += BLOCK;
            continue;
        }
        // The control character is after the string, or invalid: the loop below decides.
        if any(block, |byte| byte < b' ') {
            break;
        }
        let backslash = mask(block, |byte| byte == b'\\');
        let quote = mask(block, |byte| byte == b'"');
        let (escaped, next) = escaped(backslash, carry);
        let end = quote & !escaped;
        // The bits below the lowest closing quote, or all bits if there is none: bytes after the quote are not part of
        // the string.
        let inside = (end & end.wrapping_neg()).wrapping_sub(1);
        has_escape |= backslash & inside != 0;
        // Escaped quotes and backslashes are valid; other escapes are checked one by one. If `carry` is set, the
        // backslash of the first escape is the last byte of the previous block.
        let mut other = escaped & inside & !(quote | backslash);
        while other != 0 {
            skip_escape(text, at + other.trailing_zeros() as usize - 1)?;
            other &= other - 1;
        }
        if end != 0 {
            return Ok((at + end.trailing_zeros() as usize + 1, has_escape));
        }
        carry = next;
        at += BLOCK;
    }
    if carry == 1 {
        // The block ended between a backslash and its character.
        at = skip_escape(text, at - 1)?;
    }
    loop {
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, has_escape)),
            Some(b'\\') => (at, has_escape) = (skip_escape(text, at)?, true),
            Some(b' '..) => at += 1,
            _ => return Err(JsonError::at(text, at, "a character or `\"`")),
        }
    }
}

/// Returns the bits of the escaped characters, and the carry: 1 if the last character of the block escapes the first
/// character of the next block.
///
/// In a run of backslashes, every second backslash is escaped. An addition that carries through the runs finds the runs
/// that start at an odd offset.
fn escaped(backslash: u64, carry: u64) -> (u64, u64) {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let backslash = backslash & !carry;
    let follows = backslash << 1 | carry;
    let odd_starts = backslash & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslash);
    ((EVEN ^ (even_runs << 1)) & follows, u64::from(overflow))
}

/// Skips an escape whose backslash is at `at`.
#[inline(always)]
fn skip_escape(text: &[u8], at: usize) -> Result<usize, JsonError> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => skip_hex(text, at + 2),
        _ => Err(JsonError::at(text, at + 1, "an escape")),
    }
}

/// Skips the digits of a `\u` escape.
#[inline(never)]
fn skip_hex(text: &[u8], start: usize) -> Result<usize, JsonError> {
    for digit in start..start + 4 {
        if !text.get(digit).is_some_and(u8::is_ascii_hexdigit) {
            return Err(JsonError::at(text, digit, "a hex digit"));
        }
    }
    Ok(start + 4)
}

/// Returns the unescaped content of the JSON string at `data[start..end]`. `None` if that is not the complete content
/// of a string. `data[end]` must be a quote.
pub(crate) fn string_between(data: &str, start: usize, end: usize) -> Option<Cow<'_, str>> {
    let (after, has_escape) = skip_string(data.as_bytes(), start).ok()?;
    let inside = data.get(start..end).filter(|_| after == end + 1)?;
    Some(unescape_if(has_escape, inside))
}

/// Returns the unescaped content of the JSON string that `data` begins with, without its opening quote, and the data from
/// the closing quote on. `None` if the string is not complete.
pub(crate) fn first_string(data: &[u8]) -> Option<(Cow<'_, str>, &[u8])> {
    let (after, has_escape) = skip_string(data, 0).ok()?;
    let (inside, rest) = data.split_at_checked(after - 1)?;
    let inside = std::str::from_utf8(inside).ok()?;
    Some((unescape_if(has_escape, inside), rest))
}

/// Returns the text of a valid string from the bytes between its quotes, which may have escapes if `has_escape`.
pub(super) fn unescape_if(has_escape: bool, inside: &str) -> Cow<'_, str> {
    match has_escape {
        true => unescape(inside),
        false => Cow::Borrowed(inside),
    }
}

/// Returns the text of a valid string from the bytes between its quotes; an unpaired surrogate
/// becomes U+FFFD.
pub(super) fn unescape(inside: &str) -> Cow<'_, str> {
    let bytes = inside.as_bytes();
    if find_backslash(bytes, 0).is_none() {
        return Cow::Borrowed(inside);
    }
    let (mut out, mut at) = unescape_blocks(bytes);
    while let Some(escape) = find_backslash(bytes, at) {
        out.extend_from_slice(bytes.get(at..escape).unwrap_or_default());
        let (utf8, count, length) = unescape_one(bytes, escape);
        out.extend_from_slice(utf8.get(..count).unwrap_or_default());
        at = escape + length;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    // The default is never used: complete characters were copied or written.
    Cow::Owned(String::from_utf8(out).unwrap_or_default())
}

/// Unescapes all blocks that have another block after them; returns the output and the offset of the bytes that remain.
///
/// Unescaping never makes a text longer. The output is extended with zeros for several blocks at a time. A run between
/// two escapes is copied as complete blocks; the excess is overwritten by the next copy.
fn unescape_blocks(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(text.len() + BLOCK);
    // Invariant: `out[..to]` is the unescaped form of `text[..from]`. `from` can be ahead of the block at `at`, because
    // an escape can extend beyond its block.
    let (mut at, mut from, mut to) = (0, 0, 0);
    while let Some(source) = text
        .get(at..)
        .and_then(|rest| rest.first_chunk::<{ 2 * BLOCK }>())
    {
        let Some(block) = source.first_chunk::<BLOCK>() else {
            break;
        };
        if out.len() < to + 3 * BLOCK {
            out.resize((to + ZEROS).min(text.len() + BLOCK), 0);
        }
        let mut hits = mask(block, |byte| byte == b'\\');
        while hits != 0 {
            let escape = at + hits.trailing_zeros() as usize;
            hits &= hits - 1;
            // The second backslash of a pair does not start an escape.
            if escape >= from {
                put::<BLOCK>(&mut out, to, text.get(from..).unwrap_or_default());
                to += escape - from;
                let (utf8, count, length) = unescape_one(text, escape);
                put::<4>(&mut out, to, &utf8);
                to += count;
                from = escape + length;
            }
        }
        at += BLOCK;
        if from < at {
            put::<BLOCK>(&mut out, to, text.get(from..).unwrap_or_default());
            to += at - from;
            from = at;
        }
    }
    out.truncate(to);
    (out, from)
}

/// Returns the character of the escape at `at` in UTF-8, the number of its bytes, and the length of the escape.
#[inline(always)]
fn unescape_one(text: &[u8], at: usize) -> ([u8; 4], usize, usize) {
    let byte = match text.get(at + 1) {
        Some(b'b') => 8,
        Some(b'f') => 0xC,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => {
            let (character, length) = unescape_unicode(text, at);
            let mut utf8 = [0; 4];
            let count = character.encode_utf8(&mut utf8).len();
            return (utf8, count, length);
        }
        other => other.copied().unwrap_or_default(),
    };
    ([byte, 0, 0, 0], 1, 2)
}

/// Returns the character of a `\u` escape and the length of the escape: 12 bytes for a surrogate pair, else 6.
#[inline(never)]
fn unescape_unicode(text: &[u8], at: usize) -> (char, usize) {
    let first = code_unit(text, at).unwrap_or(0xFFFD);
    let second = code_unit(text, at + 6);
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, second) {
        // RFC 8259, section 7: a character outside the Basic Multilingual Plane is written as two escapes.
        let pair = 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00));
        return (
            char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER),
            12,
        );
    }
    (
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
        6,
    )
}

/// Returns the number in a `\u` escape at `at`, if there is one.
fn code_unit(text: &[u8], at: usize) -> Option<u32> {
    let (prefix, digits) = text.get(at..at + 6)?.split_at_checked(2)?;
    if prefix != b"\\u" {
        return None;
    }
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

/// Returns a copy of a valid JSON text with `\ufffd` for every escape of an unpaired surrogate; `None` if it has no
/// such escape.
pub(super) fn replace_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    // In valid JSON a backslash is always inside a string and starts an escape.
    while let Some(escape) = find_backslash(bytes, at) {
        let (utf8, _, length) = unescape_one(bytes, escape);
        at = escape + length;
        if utf8.starts_with("\u{FFFD}".as_bytes()) {
            out.push_str(text.get(copied..escape).unwrap_or_default());
            out.push_str("\\ufffd");
            copied = at;
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some(out)
}

/// Returns the offset of the next backslash.
fn find_backslash(text: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        if any(chunk, |byte| byte == b'\\') {
            break;
        }
        at += chunk.len();
    }
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        if any(chunk, |byte| byte == b'\\') {
            break;
        }
        at += chunk.len();
    }
    let rest = text.get(at..)?;
    Some(at + rest.iter().position(|&byte| byte == b'\\')?)
}
