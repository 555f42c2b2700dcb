//! The bytes that are escaped, and their escape sequences.

use super::lanes::SEPARATOR_LEAD;

/// Returns `true` if a byte is escaped or may be the start of a separator.
#[inline(always)]
pub(super) fn is_special<const SEPARATORS: bool>(byte: u8) -> bool {
    let lead = SEPARATORS & (byte == SEPARATOR_LEAD);
    // With bit 1 flipped, `"` becomes a space and the control characters remain control characters: one comparison
    // finds both.
    (byte ^ 2 <= b' ') | (byte == b'\\') | lead
}

/// An escape sequence, padded to a word; the last byte is its length.
pub(super) type Sequence = [u8; 8];

pub(super) const fn sequence(text: &[u8]) -> Sequence {
    let length = text.len() as u8;
    match *text {
        [a] => [a, 0, 0, 0, 0, 0, 0, length],
        [a, b] => [a, b, 0, 0, 0, 0, 0, length],
        [a, b, c, d, e, f] => [a, b, c, d, e, f, 0, length],
        _ => [0; 8],
    }
}

pub(super) fn length_of([.., length]: Sequence) -> usize {
    usize::from(length)
}

/// Returns the escape sequence of a byte.
#[inline(always)]
pub(super) fn escape_byte(byte: u8) -> Sequence {
    SEQUENCES
        .get(usize::from(byte))
        .copied()
        .unwrap_or_default()
}

static SEQUENCES: [Sequence; 256] = {
    let mut all = [[0; 8]; 256];
    let mut rest: &mut [Sequence] = &mut all;
    let mut byte: u8 = 0;
    while let Some((entry, after)) = rest.split_first_mut() {
        *entry = match byte {
            b'"' | b'\\' => sequence(&[b'\\', byte]),
            0x08 => sequence(br"\b"),
            b'\t' => sequence(br"\t"),
            b'\n' => sequence(br"\n"),
            0x0C => sequence(br"\f"),
            b'\r' => sequence(br"\r"),
            0..0x20 => {
                let digit = byte & 15;
                let low = if digit < 10 {
                    b'0' + digit
                } else {
                    b'a' + digit - 10
                };
                sequence(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), low])
            }
            _ => sequence(&[byte]),
        };
        rest = after;
        byte = byte.wrapping_add(1);
    }
    all
};
