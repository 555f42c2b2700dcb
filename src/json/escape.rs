//! Escaping of text for JSON strings.

use super::lanes::{BLOCK, SEPARATOR_LEAD, ZEROS, any, mask, put};
use super::short::{SHORT, Token, copy_short, special, word};
use super::special::{Sequence, escape_byte, is_special, length_of, sequence};

/// The set of characters that are escaped in JSON strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Escape {
    /// The characters that JSON requires to be escaped: `"`, `\` and the control characters, in the
    /// short forms `\b \t \n \f \r` or as `\u00xx` in lower-case hex. The bytes are those of
    /// serde_json and of JavaScript.
    #[default]
    Json,
    /// Also U+2028 and U+2029, as `\u2028` and `\u2029`, for readers that treat them as line
    /// breaks.
    JsonAndSeparators,
}

/// Appends a text as the content of a JSON string, without the quotes.
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
    match policy {
        _ if copy_short(bytes, out) => {}
        Escape::Json => escape_long::<false>(bytes, out),
        Escape::JsonAndSeparators => escape_long::<true>(bytes, out),
    }
}

/// Returns the length of a text in bytes after escaping; U+2028 and U+2029 are counted unescaped.
#[allow(dead_code, reason = "not every protocol counts")]
pub(crate) fn escaped_len(text: &str) -> usize {
    match Token::new(text) {
        Some(token) => token.len,
        None => escaped_bytes(text.as_bytes()),
    }
}

fn escaped_bytes(text: &[u8]) -> usize {
    let escape = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..=0x1f => 5,
        _ => 0,
    };
    // In one-byte sums: the compiler vectorizes their additions.
    let sum = |bytes: &[u8]| bytes.iter().fold(0_u8, |sum, byte| sum + escape(*byte));
    let (mut added, mut rest) = (0, text);
    // So many blocks that no sum of a column overflows.
    while let Some((blocks, after)) = rest.split_first_chunk::<{ 32 * BLOCK }>() {
        let mut sums = [0_u8; BLOCK];
        for block in blocks.chunks_exact(BLOCK) {
            for (sum, byte) in sums.iter_mut().zip(block) {
                *sum += escape(*byte);
            }
        }
        added += sums.into_iter().map(usize::from).sum::<usize>();
        rest = after;
    }
    text.len() + added + rest.chunks(32).map(sum).map(usize::from).sum::<usize>()
}

/// The length in bytes of a text from which its escaped length is counted before it is written.
const LARGE: usize = 128 * 1024;

/// Copies blocks without special bytes. In a long text, the first block with a special byte switches to
/// [`escape_blocks`].
#[inline(never)]
fn escape_long<const SEPARATORS: bool>(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    if bytes.len() >= BLOCK {
        while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
            if any(block, is_special::<SEPARATORS>) {
                break;
            }
            rest = after;
        }
        let clean = bytes.len() - rest.len();
        // A buffer that grows holds a large text three times, so its length is counted first.
        let length = match rest.len() {
            length if length < LARGE => length,
            // And with what `escape_words` takes for its last bytes.
            _ => escaped_bytes(rest) + STAGE,
        };
        out.reserve(clean + length + STAGE);
        out.extend_from_slice(bytes.get(..clean).unwrap_or_default());
        rest = escape_blocks::<SEPARATORS>(rest, out);
    }
    while !copy_short(rest, out) {
        match rest.split_first_chunk::<SHORT>() {
            Some((chunk, after)) if !any(chunk, is_special::<SEPARATORS>) => {
                out.extend_from_slice(chunk);
                rest = after;
            }
            _ => return escape_words::<SEPARATORS>(rest, out),
        }
    }
}

/// Writes text with special bytes block by block; returns the rest that is shorter than a block.
///
/// The vector is first extended with zeros and then overwritten: appending each piece would update
/// the vector's length in memory at every step.
fn escape_blocks<'a, const SEPARATORS: bool>(mut rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let mut written = out.len();
    while let Some(source) = rest.first_chunk() {
        if out.len() < written + STAGE {
            out.resize(written + rest.len().min(ZEROS) + STAGE, 0);
        }
        let Some(stage) = out.get_mut(written..).and_then(|out| out.first_chunk_mut()) else {
            break;
        };
        let (taken, added) = escape_block::<SEPARATORS>(source, stage);
        rest = rest.get(taken..).unwrap_or_default();
        written += added;
    }
    out.truncate(written);
    rest
}

/// The space for a block in which every byte becomes six, and for the excess of a copy.
const STAGE: usize = 7 * BLOCK;

/// Writes the block at the start of `source`; returns the numbers of bytes read and written. It
/// reads more than the block if a separator extends beyond it.
///
/// All special bytes are found at once. The runs between them are copied as complete blocks; the
/// excess is overwritten by the next copy.
#[inline]
fn escape_block<const SEPARATORS: bool>(
    source: &[u8; 2 * BLOCK],
    stage: &mut [u8; STAGE],
) -> (usize, usize) {
    put::<BLOCK>(stage, 0, source);
    let Some(block) = source.first_chunk::<BLOCK>() else {
        return (0, 0);
    };
    let mut hits = mask(block, is_special::<SEPARATORS>);
    // Invariant: `stage[..to]` is the escaped form of `source[..from]`, and after it is a copy of the
    // next bytes of the source, which stays up to the next special byte.
    let (mut from, mut to) = (0, 0);
    while hits != 0 {
        let at = hits.trailing_zeros() as usize;
        hits &= hits - 1;
        let special = source.get(at..).unwrap_or_default();
        // U+2028 starts with 0xE2, as do other characters, which are copied.
        if SEPARATORS && is_other_e2(special) {
            continue;
        }
        to += at - from;
        let (escape, taken) = escape_one(special);
        put::<8>(stage, to, &escape);
        to += length_of(escape);
        from = at + taken;
        put::<BLOCK>(stage, to, source.get(from..).unwrap_or_default());
    }
    (from.max(BLOCK), to + BLOCK.saturating_sub(from))
}

/// Writes a text shorter than two blocks, word by word.
#[inline(never)]
fn escape_words<const SEPARATORS: bool>(mut rest: &[u8], out: &mut Vec<u8>) {
    let written = out.len();
    // Each byte can become six, and the last copy is a whole word.
    out.resize(written + 6 * rest.len() + 8, 0);
    let stage = out.get_mut(written..).unwrap_or_default();
    let mut to = 0;
    while !rest.is_empty() {
        let (word, length) = match rest.split_first_chunk::<8>() {
            Some((bytes, after)) => {
                let word = u64::from_le_bytes(*bytes);
                if special::<SEPARATORS>(word) == 0 {
                    put::<8>(stage, to, bytes);
                    to += 8;
                    rest = after;
                    continue;
                }
                (word, 8)
            }
            None => (word(rest).unwrap_or_default(), rest.len()),
        };
        let hits = special::<SEPARATORS>(word);
        let clean = ((hits.trailing_zeros() / 8) as usize).min(length);
        put::<8>(stage, to, &word.to_le_bytes());
        to += clean;
        rest = rest.get(clean..).unwrap_or_default();
        if clean < length {
            let (escape, taken) = match rest {
                [lead, after @ ..] if SEPARATORS && is_other_e2(rest) => {
                    put::<1>(stage, to, &[*lead]);
                    to += 1;
                    rest = after;
                    continue;
                }
                _ => escape_one(rest),
            };
            put::<8>(stage, to, &escape);
            to += length_of(escape);
            rest = rest.get(taken..).unwrap_or_default();
        }
    }
    out.truncate(written + to);
}

/// Returns `true` if a text starts with the first byte of a separator but not with a separator.
#[inline(always)]
fn is_other_e2(text: &[u8]) -> bool {
    !matches!(
        text,
        [0..SEPARATOR_LEAD, ..] | [SEPARATOR_LEAD, 0x80, 0xA8 | 0xA9, ..]
    )
}

/// Returns the escape of the special character at the start of a text, and the character's length.
#[inline(always)]
fn escape_one(text: &[u8]) -> (Sequence, usize) {
    match text {
        [SEPARATOR_LEAD, _, 0xA9, ..] => (sequence(br"\u2029"), 3),
        [SEPARATOR_LEAD, ..] => (sequence(br"\u2028"), 3),
        [byte, ..] => (escape_byte(*byte), 1),
        [] => (sequence(b""), 0),
    }
}

/// Appends a value whose bytes are valid JSON, see [`write_raw`](super::write_raw).
pub(super) fn escape_raw(json: &[u8], policy: Escape, out: &mut Vec<u8>) {
    // A valid text has no unescaped control character inside a string.
    let changes = |byte: u8| {
        let lead = policy == Escape::JsonAndSeparators && byte == SEPARATOR_LEAD;
        // Between tokens. WHATWG HTML, section 9.2.5: LF or CR ends a line of an event stream.
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
            [SEPARATOR_LEAD, ..] if !is_other_e2(special) => {
                let (escape, taken) = escape_one(special);
                out.extend_from_slice(escape.get(..6).unwrap_or_default());
                taken
            }
            [SEPARATOR_LEAD, ..] => {
                out.push(SEPARATOR_LEAD);
                1
            }
            _ => {
                out.push(b' ');
                1
            }
        };
        rest = special.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}
