//! The items of an answer.

use std::collections::BTreeMap;

use super::{EventKind, Item, StreamEvent};
use crate::json::{List, Wire, own};
use crate::protocol::{Room, TooLarge};

/// An accumulator that collects the items of an answer, as its stream sends them complete.
#[derive(Debug, Default)]
pub struct OutputAccumulator {
    items: BTreeMap<u64, Item>,
    room: Room<{ 16 * 1024 * 1024 }>,
}

impl OutputAccumulator {
    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the items would be larger than 16 MiB; the event is not added.
    pub fn push(&mut self, event: &StreamEvent) -> Result<(), TooLarge> {
        match (&event.kind, &event.item, &event.response) {
            (EventKind::ItemDone, Some(item), _) => {
                self.insert(event.output_index.unwrap_or(0), item)
            }
            // Some servers send complete items in the end only.
            (EventKind::Completed, _, Some(response)) if self.items.is_empty() => {
                let mut items = (0..).zip(&response.output);
                items.try_for_each(|(index, item)| self.insert(index, item))
            }
            _ => Ok(()),
        }
    }

    fn insert(&mut self, index: u64, item: &Item) -> Result<(), TooLarge> {
        self.room.take(64 + item.to_raw().as_bytes().len())?;
        self.items.insert(index, own(item));
        Ok(())
    }

    /// Returns the items in their order.
    #[must_use]
    pub fn finish(self) -> List<Item> {
        self.items.into_values().collect()
    }
}
