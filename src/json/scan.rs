//! Skipping of values, with a check of the complete grammar in one pass.
//!
//! The grammar is that of RFC 8259, as serde_json checks it for a raw value: a `\u` escape needs
//! four hex digits but may be an unpaired surrogate, and a number may have any size.

use super::error::JsonError;
use super::kind::Container;
use super::lanes::skip_while;
use super::nesting::Nesting;
use super::string::skip_string;

/// Skips the value that starts at `at` or after white space there; returns the offset after it.
///
/// It is not recursive, so each level of depth needs one bit.
pub(super) fn skip_value(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let mut open = Nesting::default();
    let mut at = skip_space(text, at);
    'value: loop {
        // A value starts here. If it opens a container, its first item follows.
        at = match text.get(at) {
            Some(b'"') => skip_string(text, at + 1)?.0,
            Some(b'-' | b'0'..=b'9') => skip_number(text, at)?,
            Some(b'{') => {
                let inside = skip_space(text, at + 1);
                if text.get(inside) == Some(&b'}') {
                    inside + 1
                } else {
                    open.push(Container::Object);
                    at = skip_key(text, inside, "a key or `}`")?;
                    continue 'value;
                }
            }
            Some(b'[') => {
                let inside = skip_space(text, at + 1);
                if text.get(inside) == Some(&b']') {
                    inside + 1
                } else {
                    open.push(Container::Array);
                    at = inside;
                    continue 'value;
                }
            }
            Some(b't') => skip_word(text, at, b"true")?,
            Some(b'f') => skip_word(text, at, b"false")?,
            Some(b'n') => skip_word(text, at, b"null")?,
            _ => return Err(JsonError::at(text, at, "a value")),
        };
        // A value has ended: moves to the next one, or closes the containers that end with it.
        loop {
            let Some(container) = open.top() else {
                return Ok(at);
            };
            at = skip_space(text, at);
            match (container, text.get(at)) {
                (Container::Array, Some(b',')) => {
                    at = skip_space(text, at + 1);
                    continue 'value;
                }
                (Container::Object, Some(b',')) => {
                    at = skip_key(text, skip_space(text, at + 1), "a key")?;
                    continue 'value;
                }
                (Container::Array, Some(b']')) | (Container::Object, Some(b'}')) => {
                    open.pop();
                    at += 1;
                }
                (Container::Array, _) => return Err(JsonError::at(text, at, "`,` or `]`")),
                (Container::Object, _) => return Err(JsonError::at(text, at, "`,` or `}`")),
            }
        }
    }
}

/// Skips a key and its colon; returns the offset of the value.
fn skip_key(text: &[u8], at: usize, expected: &'static str) -> Result<usize, JsonError> {
    if text.get(at) != Some(&b'"') {
        return Err(JsonError::at(text, at, expected));
    }
    skip_colon(text, skip_string(text, at + 1)?.0)
}

/// Skips the colon between a key and its value, and the white space around it.
pub(super) fn skip_colon(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = skip_space(text, at);
    if text.get(at) != Some(&b':') {
        return Err(JsonError::at(text, at, "`:`"));
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
#[inline]
fn skip_number(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = if text.get(at) == Some(&b'-') {
        at + 1
    } else {
        at
    };
    let mut at = if text.get(at) == Some(&b'0') {
        at + 1
    } else {
        skip_digits(text, at)?
    };
    if text.get(at) == Some(&b'.') {
        at = skip_digits(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = matches!(text.get(at + 1), Some(b'+' | b'-'));
        at = skip_digits(text, at + 1 + usize::from(sign))?;
    }
    if let Some(b'0'..=b'9') = text.get(at) {
        // RFC 8259, section 6: after a `0` the number ends, so another digit belongs to nothing.
        return Err(JsonError::at(text, at, "no digit after a leading zero"));
    }
    Ok(at)
}

/// Skips digits: `1*digit`.
#[inline]
fn skip_digits(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let at = skip_while(text, start, |byte| byte.is_ascii_digit());
    if at == start {
        return Err(JsonError::at(text, at, "a digit"));
    }
    Ok(at)
}

fn skip_word(text: &[u8], at: usize, word: &'static [u8]) -> Result<usize, JsonError> {
    for (after, letter) in word.iter().enumerate() {
        if text.get(at + after) != Some(letter) {
            return Err(JsonError::at(text, at + after, "`true`, `false` or `null`"));
        }
    }
    Ok(at + word.len())
}
