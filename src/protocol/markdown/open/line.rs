//! The classes of bytes in lines.

/// Control characters, and bytes that are not ASCII.
pub(super) const ODD: u8 = 1;
/// A fence.
pub(super) const FENCE: u8 = 1 << 1;
/// Display mathematics.
pub(super) const MATH: u8 = 1 << 2;
/// An end of a label.
pub(super) const LABEL: u8 = 1 << 3;
/// Escapes, cells and formulas, after which a backtick may not begin code.
pub(super) const MARK: u8 = 1 << 4;
/// A tag.
const TAG: u8 = 1 << 5;

/// Returns the constructs that a byte may begin or end anywhere in a line.
const fn class_of(byte: u8) -> u8 {
    match byte {
        b'`' | b'~' => FENCE,
        b'$' => MATH,
        b'[' | b']' => LABEL,
        b'\\' | b'{' | b'|' => MARK,
        b'<' => TAG,
        b' '..=b'~' | b'\t' => 0,
        _ => ODD,
    }
}

static CLASSES: [u8; 256] = {
    let mut all = [0; 256];
    let mut rest: &mut [u8] = &mut all;
    let mut byte: u8 = 0;
    while let Some((entry, after)) = rest.split_first_mut() {
        *entry = class_of(byte);
        rest = after;
        byte = byte.wrapping_add(1);
    }
    all
};

/// Returns the classes of the bytes of a line.
pub(super) fn classes(line: &str) -> u8 {
    let class = |byte| CLASSES.get(usize::from(byte)).copied().unwrap_or_default();
    line.bytes().fold(0, |has, byte| has | class(byte))
}
