//! Templates of events that differ only in one short text.

use super::lanes::put;
use super::short::Token;

/// The maximum size in bytes of an event with its token: a cache line.
const SIZE: usize = 64;

/// The bytes before and after a text. An event is written as one copy of constant size, into which the token is then
/// written.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: [u8; SIZE],
    head: usize,
    tail: [u8; 4],
}

impl Template {
    /// Creates a template; `None` if head, tail and a token may exceed a cache line, or if the tail is not four bytes
    /// long.
    pub(crate) const fn new(head: &[u8], tail: &[u8]) -> Option<Self> {
        let ([a, b, c, d], true) = (tail, head.len() + Token::MAX + tail.len() <= SIZE) else {
            return None;
        };
        let mut bytes = [0; SIZE];
        let (mut to, mut from): (&mut [u8], _) = (&mut bytes, head);
        while let (Some((place, places)), Some((byte, rest))) =
            (to.split_first_mut(), from.split_first())
        {
            *place = *byte;
            (to, from) = (places, rest);
        }
        Some(Self {
            bytes,
            head: head.len(),
            tail: [*a, *b, *c, *d],
        })
    }

    /// Appends the event with this token.
    #[inline(always)]
    pub(crate) fn write(&self, token: Token, out: &mut Vec<u8>) {
        let end = out.len() + self.head + token.len + self.tail.len();
        out.extend_from_slice(&self.bytes);
        if let Some(event) = out.last_chunk_mut::<SIZE>() {
            token.put(|at, bytes| put::<8>(event, self.head + at, bytes));
            put::<4>(event, self.head + token.len, &self.tail);
        }
        // The copy has the size of a cache line; the bytes after the end of the event are removed.
        out.truncate(end);
    }
}
