//! JSON strings: finding the end of one, and turning one into text.

use std::borrow::Cow;

use super::error::JsonError;
use super::lanes::{BLOCK, any, mask, put};

/// How far a string is looked at byte by byte, in steps of eight. Keys and most values end before.
const SHORT: usize = 32;

/// Skips a string whose opening quote is behind us; gives the offset behind the closing one.
///
/// `char = unescaped / %x5C ( %x22 / %x5C / %x2F / b / f / n / r / t / u 4HEXDIG )`,
/// `unescaped = %x20-21 / %x23-5B / %x5D-10FFFF`
#[inline]
pub(super) fn skip_string(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let mut at = start;
    while at < start + SHORT {
        let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        for (index, &byte) in chunk.iter().enumerate() {
            if byte == b'"' {
                return Ok(at + index + 1);
            }
            if byte == b'\\' || byte < b' ' {
                return skip_long_string(text, at + index);
            }
        }
        at += chunk.len();
    }
    skip_long_string(text, at)
}

/// Skips the rest of a string in blocks, with no branch for each quote or backslash: a string that
/// holds JSON has one every few bytes, and a processor guesses half of them wrong.
fn skip_long_string(text: &[u8], mut at: usize) -> Result<usize, JsonError> {
    // 1 when the last character of the block before is a backslash that escapes what follows.
    let mut carry = 0;
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if carry == 0 && !any(block, |byte| byte == b'"' || byte == b'\\' || byte < b' ') {
            at += BLOCK;
            continue;
        }
        let backslash = mask(block, |byte| byte == b'\\');
        let quote = mask(block, |byte| byte == b'"');
        let control = mask(block, |byte| byte < b' ');
        let (escaped, next) = escaped(backslash, carry);
        let end = quote & !escaped;
        // What lies behind the closing quote is not ours.
        let inside = (end & end.wrapping_neg()).wrapping_sub(1);
        if control & inside != 0 {
            let bad = at + (control & inside).trailing_zeros() as usize;
            return Err(JsonError::at(text, bad, "a character or `\"`"));
        }
        // Escaped quotes and backslashes are right; look at the other escapes one by one.
        let mut other = escaped & inside & !(quote | backslash);
        while other != 0 {
            skip_escape(text, at + other.trailing_zeros() as usize - 1)?;
            other &= other - 1;
        }
        if end != 0 {
            return Ok(at + end.trailing_zeros() as usize + 1);
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
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = skip_escape(text, at)?,
            Some(b' '..) => at += 1,
            _ => return Err(JsonError::at(text, at, "a character or `\"`")),
        }
    }
}

/// Which characters a backslash escapes, and whether the last one of the block escapes the first
/// one of the next.
///
/// In a run of backslashes every second one is escaped, counted from the start of the run. Runs
/// that start at an odd offset are found by an addition that carries through the run.
fn escaped(backslash: u64, carry: u64) -> (u64, u64) {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let backslash = backslash & !carry;
    let follows = backslash << 1 | carry;
    let odd_starts = backslash & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslash);
    ((EVEN ^ (even_runs << 1)) & follows, u64::from(overflow))
}

/// Skips the escape whose backslash is at `at`.
fn skip_escape(text: &[u8], at: usize) -> Result<usize, JsonError> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for digit in at + 2..at + 6 {
                if !text.get(digit).is_some_and(u8::is_ascii_hexdigit) {
                    return Err(JsonError::at(text, digit, "a hex digit"));
                }
            }
            Ok(at + 6)
        }
        _ => Err(JsonError::at(text, at + 1, "an escape")),
    }
}

/// The text of a valid string, given what is between its quotes; a lone surrogate is U+FFFD.
pub(super) fn unescape(inside: &str) -> Cow<'_, str> {
    let bytes = inside.as_bytes();
    if find_backslash(bytes, 0).is_none() {
        return Cow::Borrowed(inside);
    }
    let (mut out, mut at) = unescape_blocks(bytes);
    while let Some(escape) = find_backslash(bytes, at) {
        out.extend_from_slice(bytes.get(at..escape).unwrap_or_default());
        let (character, length) = unescape_one(bytes, escape);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at = escape + length;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    // Never the default: whole characters were taken from text and put between whole characters.
    Cow::Owned(String::from_utf8(out).unwrap_or_default())
}

/// Unescapes as many whole blocks as have another one behind them; gives how far that went.
///
/// Text never grows by unescaping, so it is written into zeros of the same length. A run between
/// two escapes is copied a whole block at a time; the excess is overwritten by what follows.
fn unescape_blocks(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = vec![0; text.len() + BLOCK];
    let (mut at, mut from, mut to) = (0, 0, 0);
    while let Some(source) = text
        .get(at..)
        .and_then(|rest| rest.first_chunk::<{ 2 * BLOCK }>())
    {
        let Some(block) = source.first_chunk::<BLOCK>() else {
            break;
        };
        let mut hits = mask(block, |byte| byte == b'\\');
        while hits != 0 {
            let escape = at + hits.trailing_zeros() as usize;
            hits &= hits - 1;
            // The second backslash of two is no escape of its own.
            if escape >= from {
                put::<BLOCK>(&mut out, to, text.get(from..).unwrap_or_default());
                to += escape - from;
                let (character, length) = unescape_one(text, escape);
                let mut utf8 = [0; 4];
                character.encode_utf8(&mut utf8);
                put::<4>(&mut out, to, &utf8);
                to += character.len_utf8();
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

/// The character of the escape at `at`, and how long the escape is.
#[inline]
fn unescape_one(text: &[u8], at: usize) -> (char, usize) {
    let character = match text.get(at + 1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unicode(text, at),
        Some(&other) => char::from(other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (character, 2)
}

/// The same for a `\u` escape: two of them when they are a surrogate pair.
fn unescape_unicode(text: &[u8], at: usize) -> (char, usize) {
    let first = code_unit(text, at).unwrap_or(0xFFFD);
    let second = code_unit(text, at + 6);
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, second) {
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

/// The number in a `\u` escape at `at`, if there is one.
fn code_unit(text: &[u8], at: usize) -> Option<u32> {
    let (prefix, digits) = text.get(at..at + 6)?.split_at_checked(2)?;
    if prefix != b"\\u" {
        return None;
    }
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

/// A copy of a valid JSON text in which every lone surrogate escape is `\ufffd`; `None` when there
/// is none to replace.
pub(super) fn replace_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    // A backslash is always inside a string and always starts an escape.
    while let Some(escape) = find_backslash(bytes, at) {
        let (character, length) = unescape_one(bytes, escape);
        at = escape + length;
        if character == char::REPLACEMENT_CHARACTER {
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

/// The offset of the next backslash.
fn find_backslash(text: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        if any(chunk, |byte| byte == b'\\') {
            break;
        }
        at += chunk.len();
    }
    let rest = text.get(at..)?;
    Some(at + rest.iter().position(|&byte| byte == b'\\')?)
}
