//! Skipping of values, with a check of the complete grammar in one pass.
//!
//! The grammar is that of RFC 8259, as serde_json checks raw values: a `\u` escape needs
//! four hex digits but may be an unpaired surrogate, and a number may have any size.

use super::error::JsonError;
use super::kind::Container;
use super::lanes::ONES;
use super::nesting::Nesting;
use super::string::{skip_string, word_at};

/// Skips the value that starts at `at` or after white space there; returns the offset after it.
///
/// Not recursive: each level of nesting needs one bit.
pub(super) fn skip_value(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let mut outer = Nesting::default();
    // The innermost open container.
    let mut inner = None;
    let mut at = skip_space(text, at);
    let mut key = "a key or `}`";
    'item: loop {
        // An item starts here: a value, with its key before it in an object.
        if inner == Some(Container::Object) {
            if text.get(at) != Some(&b'"') {
                return Err(JsonError::at(text, at, key));
            }
            at = skip_colon(text, skip_string(text, at + 1)?.0)?;
        }
        at = match text.get(at) {
            Some(b'"') => skip_string(text, at + 1)?.0,
            Some(b'-' | b'0'..=b'9') => skip_number(text, at)?,
            Some(&open @ (b'{' | b'[')) => {
                let (container, close) = match open {
                    b'{' => (Container::Object, b'}'),
                    _ => (Container::Array, b']'),
                };
                at = skip_space(text, at + 1);
                if text.get(at) != Some(&close) {
                    outer.push(container);
                    inner = Some(container);
                    key = "a key or `}`";
                    continue 'item;
                }
                at + 1
            }
            Some(b't') => skip_word(text, at, b"true")?,
            Some(b'f') => skip_word(text, at, b"false")?,
            Some(b'n') => skip_word(text, at, b"null")?,
            _ => return Err(JsonError::at(text, at, "a value")),
        };
        // A value has ended: moves to the next item, or closes the containers that end with it.
        while let Some(container) = inner {
            at = skip_space(text, at);
            match (container, text.get(at)) {
                (_, Some(b',')) => {
                    at = skip_space(text, at + 1);
                    key = "a key";
                    continue 'item;
                }
                (Container::Array, Some(b']')) | (Container::Object, Some(b'}')) => {
                    outer.pop();
                    inner = outer.top();
                    at += 1;
                }
                (Container::Array, _) => return Err(JsonError::at(text, at, "`,` or `]`")),
                (Container::Object, _) => return Err(JsonError::at(text, at, "`,` or `}`")),
            }
        }
        return Ok(at);
    }
}

/// Skips the colon between a key and its value, and the white space around it.
#[inline(always)]
pub(super) fn skip_colon(text: &[u8], mut at: usize) -> Result<usize, JsonError> {
    if text.get(at) != Some(&b':') {
        at = skip_space(text, at);
        if text.get(at) != Some(&b':') {
            return Err(JsonError::at(text, at, "`:`"));
        }
    }
    Ok(skip_space(text, at + 1))
}

/// Skips white space: `ws = *( space / tab / line feed / carriage return )`.
#[inline(always)]
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// Skips a number: `number = [ "-" ] int [ frac ] [ exp ]`, `int = "0" / digit1-9 *digit`.
#[inline(always)]
pub(super) fn skip_number(text: &[u8], mut at: usize) -> Result<usize, JsonError> {
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match (text.get(at), text.get(at + 1)) {
        // RFC 8259, section 6: a number ends after a leading `0`, so a digit must not follow.
        (Some(b'0'), Some(b'0'..=b'9')) => {
            let expected = "no digit after a leading zero";
            return Err(JsonError::at(text, at + 1, expected));
        }
        _ => skip_digits(text, at)?,
    };
    if text.get(at) == Some(&b'.') {
        at = skip_digits(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = matches!(text.get(at + 1), Some(b'+' | b'-'));
        at = skip_digits(text, at + 1 + usize::from(sign))?;
    }
    Ok(at)
}

/// Skips digits: `1*digit`.
#[inline(always)]
fn skip_digits(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let mut at = start;
    let mut others = not_digits(word_at(text, at));
    while others == 0 {
        at += 8;
        others = not_digits(word_at(text, at));
    }
    at += others.trailing_zeros() as usize / 8;
    if at == start {
        return Err(JsonError::at(text, at, "a digit"));
    }
    Ok(at)
}

/// Returns the high bit of each byte that is not a digit.
#[inline(always)]
fn not_digits(word: u64) -> u64 {
    const HIGH: u64 = 0x80 * ONES;
    // A digit becomes 0 to 9. Without high bits, no byte carries into the next one.
    let value = word ^ (ONES * u64::from(b'0'));
    (((value & !HIGH) + ONES * (0x80 - 10)) | value) & HIGH
}

fn skip_word(text: &[u8], at: usize, word: &'static [u8]) -> Result<usize, JsonError> {
    for (after, letter) in word.iter().enumerate() {
        if text.get(at + after) != Some(letter) {
            return Err(JsonError::at(text, at + after, "`true`, `false` or `null`"));
        }
    }
    Ok(at + word.len())
}
