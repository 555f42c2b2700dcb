//! The response of a stream that did not end.

use std::collections::BTreeMap;

use super::{ContentPart, EventKind, Item, Response, StreamEvent};
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

/// An item while its events are read.
#[derive(Default)]
struct Building {
    item: Item,
    text: String,
    done: bool,
}

/// Assembles the response of a failed stream: its last response object with the complete items, and the texts of the
/// others.
pub(super) fn assembled(events: impl Iterator<Item = StreamEvent>) -> Response {
    let mut response = Response::default();
    let mut items = BTreeMap::<u64, Building>::new();
    for event in events {
        let index = event.output_index.unwrap_or(0);
        match (event.item, event.delta, event.response) {
            (Some(item), ..) => {
                let building = items.entry(index).or_default();
                building.item = *item;
                building.done = event.kind == EventKind::ItemDone;
            }
            (_, Some(delta), _) => items.entry(index).or_default().text.push_str(&delta),
            // Each response object repeats all members of the earlier ones.
            (.., Some(latest)) => response = *latest,
            _ => {}
        }
    }
    response.output = items.into_values().map(Building::finish).collect();
    response
}

impl Building {
    fn finish(self) -> Item {
        let mut item = self.item;
        // The complete item has its text in it.
        if self.done {
            return item;
        }
        item.status = Some("incomplete".into());
        if item.is_call() {
            item.arguments = Some(self.text);
        } else if item.is_message() {
            item.content = vec![ContentPart::output_text(self.text)].into();
        } else if item.kind == "reasoning" {
            let part = ContentPart::new("summary_text", self.text);
            item.summary = Some(Box::new(List::from(vec![part])));
        }
        item
    }
}
