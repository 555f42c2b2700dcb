//! The response of a stream that did not end.

use std::collections::BTreeMap;

use super::{ContentPart, EventKind, Item, Response, StreamEvent};
use crate::json::List;

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
