//! Escaping text for the inside of a JSON string.

use super::lanes::any;
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

/// The longest text that is handled in two words, without a loop.
const SHORT: usize = 16;
/// The chunk of a longer text that is looked at as a whole.
const CHUNK: usize = 32;

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
    if bytes.len() <= SHORT {
        escape_short(bytes, policy, out);
    } else {
        escape_long(bytes, policy, out);
    }
}

/// A model's token: mostly a few clean bytes, which are tested and copied as one array, because a
/// copy of variable length costs a call.
#[inline]
fn escape_short(bytes: &[u8], policy: Escape, out: &mut Vec<u8>) {
    let padded = pad(bytes);
    if any(&padded, |byte| must_escape(byte, policy)) {
        escape_each(bytes, policy, out);
    } else {
        let end = out.len() + bytes.len();
        out.extend_from_slice(&padded);
        out.truncate(end);
    }
}

/// At most sixteen bytes as an array, filled up with clean ones.
#[inline]
fn pad(bytes: &[u8]) -> [u8; SHORT] {
    let mut padded = [b' '; SHORT];
    for (to, &from) in padded.iter_mut().zip(bytes) {
        *to = from;
    }
    padded
}

/// Copies clean runs whole and looks at the bytes of a chunk only when one must be escaped.
fn escape_long(bytes: &[u8], policy: Escape, out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    let (chunks, rest) = bytes.split_at(bytes.len() - bytes.len() % CHUNK);
    for chunk in chunks.chunks_exact(CHUNK) {
        escape_each(chunk, policy, out);
    }
    escape_each(rest, policy, out);
}

/// True for a byte that is written differently, or, for a separator, may be the start of one.
#[inline(always)]
fn must_escape(byte: u8, policy: Escape) -> bool {
    let separator = policy == Escape::JsonAndSeparators && byte == SEPARATOR[0];
    byte < b' ' || byte == b'"' || byte == b'\\' || separator
}

/// The two bytes with which U+2028 and U+2029 begin; the third is A8 or A9.
const SEPARATOR: [u8; 2] = [0xE2, 0x80];

fn escape_each(bytes: &[u8], policy: Escape, out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| must_escape(byte, policy)) {
        let Some((run, [special, after @ ..])) = rest.split_at_checked(at) else {
            break;
        };
        out.extend_from_slice(run);
        rest = after;
        escape_one(*special, &mut rest, out);
    }
    out.extend_from_slice(rest);
}

/// Writes one byte that must be escaped; takes from `rest` what belongs to it.
fn escape_one(byte: u8, rest: &mut &[u8], out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(br#"\""#),
        b'\\' => out.extend_from_slice(br"\\"),
        b'\x08' => out.extend_from_slice(br"\b"),
        b'\t' => out.extend_from_slice(br"\t"),
        b'\n' => out.extend_from_slice(br"\n"),
        b'\x0c' => out.extend_from_slice(br"\f"),
        b'\r' => out.extend_from_slice(br"\r"),
        0xE2 => match rest.split_first_chunk() {
            Some(([0x80, last @ (0xA8 | 0xA9)], after)) => {
                out.extend_from_slice(if *last == 0xA8 {
                    br"\u2028"
                } else {
                    br"\u2029"
                });
                *rest = after;
            }
            _ => out.push(byte),
        },
        _ => {
            let hex = |digit: u8| b"0123456789abcdef".get(usize::from(digit)).copied();
            let (high, low) = (
                hex(byte >> 4).unwrap_or(b'0'),
                hex(byte & 15).unwrap_or(b'0'),
            );
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    }
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
    let mut rest = json;
    out.reserve(rest.len());
    // A valid text has no bare control character inside a string.
    let changes = |byte: u8| {
        byte == b'\n' || byte == b'\r' || policy == Escape::JsonAndSeparators && byte == 0xE2
    };
    while let Some(at) = rest.iter().position(|&byte| changes(byte)) {
        let Some((run, [special, after @ ..])) = rest.split_at_checked(at) else {
            break;
        };
        out.extend_from_slice(run);
        rest = after;
        match special {
            b'\n' | b'\r' => out.push(b' '),
            _ => escape_one(*special, &mut rest, out),
        }
    }
    out.extend_from_slice(rest);
}
