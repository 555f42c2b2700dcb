//! The stack of open containers, with one bit each.

use super::kind::Container;

/// A stack of containers: up to 64 levels in a word, more in a vector of words.
///
/// A malicious body of ten thousand brackets needs 1.2 KiB; an ordinary one needs no allocation.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    word: u64,
    full: Vec<u64>,
}

impl Nesting {
    pub(super) fn push(&mut self, container: Container) {
        // At this depth the word is full; deeper levels start a new word.
        if self.depth % 64 == 0 && self.depth > 0 {
            self.full.push(self.word);
        }
        self.word = self.word << 1 | u64::from(container == Container::Object);
        self.depth += 1;
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.word >>= 1;
        if self.depth % 64 == 0 {
            self.word = self.full.pop().unwrap_or(0);
        }
    }

    /// Returns the innermost container.
    pub(super) fn top(&self) -> Option<Container> {
        match (self.depth, self.word & 1) {
            (0, _) => None,
            (_, 0) => Some(Container::Array),
            (_, _) => Some(Container::Object),
        }
    }
}
