//! The items of an answer, with what only their protocol has.

use std::collections::BTreeMap;
use std::fmt;

use super::room::DEFAULT_LIMIT;
use super::{Native, NativeForm, Room};
use crate::json::Json;
use crate::json::merge::{self, Merged};
use crate::sse::TooLarge;

/// An item of an answer: a block, a message, a call, or anything that only the protocol has.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CompletedItem {
    /// The number of the item.
    pub key: u64,
    /// An object with the members that only the protocol has; `null` if there are none.
    pub members: Json,
    /// The text; `None` if no text was read.
    pub text: Option<String>,
    /// The reasoning; `None` if no reasoning was read.
    pub reasoning: Option<String>,
}

/// The items of an answer, while it is read. Their texts are those of the completion.
#[derive(Clone, Default)]
pub(super) struct Items {
    /// The members of the answer, and of each item.
    natives: BTreeMap<Option<u64>, Merged>,
    /// The pieces in the order of the stream: their items, kinds, and the ends of their texts.
    pieces: Vec<(u64, Kind, usize)>,
    /// The item to which the next piece belongs.
    current: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Native,
    Text,
    Reasoning,
}

/// The memory in bytes of an item, or of a piece, besides its content.
const OVERHEAD: usize = 128;

type Limit = Room<DEFAULT_LIMIT>;

impl Items {
    pub(super) fn select(&mut self, key: u64) {
        self.current = key;
    }

    /// Adds text that ends at `end`.
    pub(super) fn text(&mut self, end: usize, room: &mut Limit) -> Result<(), TooLarge> {
        self.piece(Kind::Text, end, room)
    }

    /// Adds reasoning that ends at `end`.
    pub(super) fn reasoning(&mut self, end: usize, room: &mut Limit) -> Result<(), TooLarge> {
        self.piece(Kind::Reasoning, end, room)
    }

    fn piece(&mut self, kind: Kind, end: usize, room: &mut Limit) -> Result<(), TooLarge> {
        match self.pieces.last_mut() {
            Some((key, last, at)) if *key == self.current && *last == kind => *at = end,
            _ => {
                room.take(OVERHEAD)?;
                self.pieces.push((self.current, kind, end));
            }
        }
        Ok(())
    }

    pub(super) fn push(&mut self, native: &Native<'_>, room: &mut Limit) -> Result<(), TooLarge> {
        let members = (native.members)();
        // Most servers repeat the members of an answer in its last event.
        let old = self.natives.get(&native.item);
        if native.form == NativeForm::Latest && old.is_some_and(|old| old.is(&members)) {
            return Ok(());
        }
        let weight = merge::weight(&members);
        room.take(weight)?;
        if let Some(key) = native.item {
            self.current = key;
            if !self.natives.contains_key(&native.item) {
                self.piece(Kind::Native, 0, room)?;
            }
        }
        let change = match (self.natives.get_mut(&native.item), native.form) {
            (Some(old), NativeForm::Piece) => old.add(&members) as isize,
            (Some(old), NativeForm::Latest) => old.replace(&members),
            (_, _) => {
                // The weight of what is replaced remains counted: a sender cannot repeat items without limit.
                self.natives.insert(native.item, Merged::Whole(members));
                weight as isize
            }
        };
        room.free(weight.saturating_add_signed(change.saturating_neg()));
        Ok(())
    }

    /// Returns the members of the answer, and its items.
    pub(super) fn finish(mut self, text: &str, reasoning: &str) -> (Json, Vec<CompletedItem>) {
        let mut items: Vec<CompletedItem> = Vec::new();
        let mut places = BTreeMap::new();
        let (mut text_start, mut reasoning_start) = (0, 0);
        for (key, kind, end) in self.pieces {
            let at = *places.entry(key).or_insert(items.len());
            if at == items.len() {
                let native = self.natives.remove(&Some(key));
                items.push(CompletedItem {
                    key,
                    members: native.map(Merged::into_json).unwrap_or_default(),
                    ..CompletedItem::default()
                });
            }
            let Some(item) = items.get_mut(at) else {
                continue;
            };
            let (to, from, start) = match kind {
                Kind::Native => continue,
                Kind::Text => (&mut item.text, text, &mut text_start),
                Kind::Reasoning => (&mut item.reasoning, reasoning, &mut reasoning_start),
            };
            let piece = from.get(std::mem::replace(start, end)..end);
            to.get_or_insert_default()
                .push_str(piece.unwrap_or_default());
        }
        let answer = self.natives.remove(&None);
        let answer = answer.map_or_else(|| Json::object(|_| ()), Merged::into_json);
        (answer, items)
    }
}

/// Prints neither texts nor members.
impl fmt::Debug for CompletedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletedItem")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
