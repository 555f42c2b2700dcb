//! Recognition of the model's rounds.

use super::chunk::{Chunk, Piece};

/// The current round of the model, inferred from its chunks.
///
/// A round has an id of its own, but some providers send the same id in every round. So a round
/// also starts with a chunk that has the role, and with text after a search. Other providers repeat
/// the role in every chunk, which starts no round.
#[derive(Debug, Default)]
pub(super) struct Round {
    id: Option<String>,
    /// Set if the round has text.
    has_text: bool,
    /// Set if the round has a search: a notification or a failure.
    pub(super) has_search: bool,
    /// Set if the last chunk of the answer had the role.
    repeats_role: bool,
}

impl Round {
    /// Returns the id of the chunks.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Adds a chunk. Returns `true` if it is the first one of another round.
    pub(super) fn add(&mut self, chunk: &mut Chunk) -> bool {
        let id = chunk.id.take().filter(|id| !id.is_empty());
        let other_id = |id| self.id.as_ref().is_some_and(|round| round != id);
        let is_next = id.as_ref().is_some_and(other_id) || self.is_followed_by(chunk);
        if is_next {
            *self = Self {
                id: self.id.take(),
                ..Self::default()
            };
        }
        self.id = id.or_else(|| self.id.take());
        self.has_text |= chunk.has_text();
        // Text after a search starts a round only once, even if the round had no text before.
        self.has_search = chunk.has_call() || self.has_search && !chunk.has_text();
        if !chunk.has_call() {
            self.repeats_role = chunk.has_role;
        }
        is_next
    }

    /// Returns `true` if a chunk with the same id belongs to the next round.
    fn is_followed_by(&self, chunk: &Chunk) -> bool {
        // Notifications have the role too.
        if chunk.has_call() {
            return false;
        }
        let has_role = chunk.has_role && (self.has_text || self.has_search);
        match chunk.has_text() {
            true => (has_role && !self.repeats_role) || (self.has_text && self.has_search),
            // The opening chunk is empty. The last chunk of an answer can have the role too.
            false => has_role && chunk.pieces.is_empty(),
        }
    }
}

impl Chunk {
    fn has_text(&self) -> bool {
        let is_text = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Refusal(_));
        self.pieces.iter().any(is_text)
    }

    fn has_call(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Call(_)))
    }
}
