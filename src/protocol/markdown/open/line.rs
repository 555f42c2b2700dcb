//! Lines: their ends, and the classes of bytes in them.

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

/// The length of the longest line that is searched for its end.
const MAX_WHOLE: usize = 1024;

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

fn class(byte: u8) -> u8 {
    let class = CLASSES.get(usize::from(byte));
    class.copied().unwrap_or_default()
}

/// Returns the classes of the bytes of a line.
pub(super) fn classes(line: &str) -> u8 {
    line.bytes().fold(0, |has, byte| has | class(byte))
}

/// Returns the line at the start of a text, without its end, and the classes of its bytes. Returns
/// `None` if its end is not in the text, or far away.
pub(super) fn first_line(text: &str) -> Option<(&str, u8)> {
    // All bytes of a class, and a few others.
    let may_have_class = |byte: u8| {
        let last_columns = (byte & 0x9F).wrapping_sub(0x1B) < 5;
        let odd = byte.wrapping_sub(b' ') > b'~' - b' ';
        last_columns | odd | (byte == b'`') | (byte == b'$')
    };
    let mut has = 0;
    let mut rest = text.as_bytes();
    while let Some((step, after)) = rest.split_first_chunk::<16>() {
        let flags = step.map(|byte| if may_have_class(byte) { 0xFF } else { 0 });
        let mut flags = u128::from_le_bytes(flags);
        while flags != 0 {
            let at = flags.trailing_zeros() as usize / 8;
            // With one bit for each byte the compiler would not make vectors of this.
            flags &= !(0xFF << (8 * at));
            let byte = step.get(at).copied().unwrap_or_default();
            if byte == b'\n' {
                let line = text.get(..text.len() - rest.len() + at)?;
                return Some((line, has));
            }
            has |= class(byte);
        }
        rest = after;
        if text.len() - rest.len() > MAX_WHOLE {
            return None;
        }
    }
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'\n' {
            let line = text.get(..text.len() - rest.len() + at)?;
            return Some((line, has));
        }
        has |= class(*byte);
    }
    None
}
