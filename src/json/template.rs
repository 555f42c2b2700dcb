//! An event that differs from the next one in one short text.

use super::escape::{Escape, escape};
use super::lanes::put;
use super::short::{ONES, SHORT, spaces_from, word};

/// What stands around a text, laid out so that an event with a token in it is one copy of `N` bytes
/// with the token put into it.
pub(crate) struct Template<const N: usize> {
    bytes: [u8; N],
    head: &'static [u8],
    tail: [u8; 4],
}

impl<const N: usize> Template<N> {
    /// Quick as long as `N` bytes hold head and tail and sixteen more.
    pub(crate) const fn new(head: &'static [u8], tail: [u8; 4]) -> Self {
        let mut bytes = [0; N];
        let (mut to, mut from): (&mut [u8], _) = (&mut bytes, head);
        while let (Some((place, places)), Some((byte, rest))) =
            (to.split_first_mut(), from.split_first())
        {
            *place = *byte;
            (to, from) = (places, rest);
        }
        Self { bytes, head, tail }
    }

    /// Appends the event with this text.
    #[inline]
    pub(crate) fn write(&self, text: &str, policy: Escape, out: &mut Vec<u8>) {
        if !self.write_short(text.as_bytes(), out) {
            self.write_any(text, policy, out);
        }
    }

    /// Appends the event if its text is short and plain, and there is room for it.
    #[inline(always)]
    fn write_short(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let (head, length) = (self.head.len(), text.len());
        // Making room is a call, and to keep everything alive across one costs as much as the rest.
        let room = out.capacity() - out.len() >= N;
        if !room || length > SHORT || head + SHORT + self.tail.len() > N {
            return false;
        }
        let last = text.last_chunk::<8>();
        let first = match (text.first_chunk::<8>(), last) {
            (Some(first), Some(last)) if is_plain(u64::from_le_bytes(*last)) => {
                u64::from_le_bytes(*first)
            }
            (None, None) => word(text).unwrap_or_default() | spaces_from(length),
            _ => return false,
        };
        if !is_plain(first) {
            return false;
        }
        let end = out.len() + head + length + self.tail.len();
        out.extend_from_slice(&self.bytes);
        if let Some(event) = out.last_chunk_mut::<N>() {
            put::<8>(event, head, &first.to_le_bytes());
            if let Some(last) = last {
                put::<8>(event, head + length - last.len(), last);
            }
            put::<4>(event, head + length, &self.tail);
        }
        out.truncate(end);
        true
    }

    #[inline(never)]
    fn write_any(&self, text: &str, policy: Escape, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head);
        escape(text, policy, out);
        out.extend_from_slice(&self.tail);
    }
}

/// True when all of a word is ASCII with nothing to escape, as nearly all words are: this is told
/// in half the steps that it takes to say which byte is another.
#[inline(always)]
fn is_plain(word: u64) -> bool {
    const HIGH: u64 = 0x80 * ONES;
    // A byte that is not ASCII may carry into the next one, but says so itself.
    let not = |byte: u8| (word ^ (ONES * u64::from(byte))).wrapping_add(0x7F * ONES);
    let not_control = word.wrapping_add(0x60 * ONES);
    not(b'"') & not(b'\\') & not_control & !word & HIGH == HIGH
}
