//! Assembly of events to a complete response.

use std::collections::BTreeMap;
use std::fmt;

use super::{ContentPart, EventKind, Item, Response, StreamEvent};
use crate::json::List;
use crate::protocol::{Room, TooLarge};

/// An accumulator that assembles events to a response.
///
/// The last event of a complete stream has the complete response. Some servers omit its output, and an interrupted
/// stream has no last event. In both cases the output is assembled from the completed items and the streamed texts.
#[derive(Clone, Default)]
pub struct Accumulator {
    response: Response,
    /// The items by index. Memory does not depend on the value of an index.
    items: BTreeMap<u64, Building>,
    ended: bool,
    room: Room<DEFAULT_LIMIT>,
}

/// An item that is not complete.
#[derive(Clone, Default)]
struct Building {
    item: Item,
    text: String,
    done: bool,
}

const DEFAULT_LIMIT: usize = 32 * 1024 * 1024;

/// The memory in bytes of an item besides its text.
const OVERHEAD: usize = 512;

impl Accumulator {
    /// The default limit in bytes: 32 MiB.
    pub const DEFAULT_LIMIT: usize = DEFAULT_LIMIT;

    /// Creates an accumulator for one response, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limit of a response in bytes, approximately.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.room = self.room.limit(limit);
        self
    }

    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded; the event is not added.
    pub fn push(&mut self, event: &StreamEvent) -> Result<(), TooLarge> {
        match event.kind {
            EventKind::ItemAdded | EventKind::ItemDone => {
                let Some(item) = event.item.as_deref() else {
                    return Ok(());
                };
                self.room.take(OVERHEAD + item.to_json().len())?;
                let building = self.building(event);
                // The first `done` is final: a later `added` must not erase its text.
                if !building.done {
                    building.item = item.clone();
                    building.done = event.kind == EventKind::ItemDone;
                }
            }
            EventKind::TextDelta
            | EventKind::RefusalDelta
            | EventKind::SummaryDelta
            | EventKind::ReasoningDelta
            | EventKind::ArgumentsDelta => {
                let delta = event.delta.as_deref().unwrap_or_default();
                let new = !self.items.contains_key(&event.output_index.unwrap_or(0));
                self.room
                    .take(delta.len() + if new { OVERHEAD } else { 0 })?;
                let building = self.building(event);
                building.text.push_str(delta);
                // A stream that is read from its middle lacks `added`: the kind of the item follows from the kind of
                // the delta.
                if building.item.kind.is_empty() {
                    building.item = begun(&event.kind);
                }
            }
            _ => {
                if let Some(response) = event.response.as_deref() {
                    self.room.take(response.to_json().len())?;
                    // The latest response replaces earlier ones, because each event repeats all of its members.
                    self.response = response.clone();
                }
                self.ended |= event.is_last();
                if event.kind == EventKind::Error {
                    self.response.error = event.error();
                    // An error outside a response does not set a status; without this line the status would remain
                    // `in_progress`.
                    self.response.status = "failed".into();
                }
            }
        }
        Ok(())
    }

    fn building(&mut self, event: &StreamEvent) -> &mut Building {
        let index = event.output_index.unwrap_or(0);
        self.items.entry(index).or_default()
    }

    /// Returns `true` if the last event of the response was received: it is complete, incomplete or
    /// failed. Otherwise the stream was interrupted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ended
    }

    /// Returns the response so far.
    #[must_use]
    pub fn finish(self) -> Response {
        let mut response = self.response;
        // The server's own list is preferred, as the official clients do.
        if response.output.is_empty() {
            let items = self.items.into_values().map(Building::finish);
            response.output = items.collect();
        }
        response
    }
}

/// Returns the item that a delta of this kind starts.
fn begun(kind: &EventKind) -> Item {
    let kind = match kind {
        EventKind::ArgumentsDelta => "function_call",
        EventKind::SummaryDelta | EventKind::ReasoningDelta => "reasoning",
        _ => return Item::message("assistant", Vec::new()),
    };
    Item {
        kind: kind.into(),
        ..Item::default()
    }
}

impl Building {
    fn finish(self) -> Item {
        let mut item = self.item;
        // The complete item has its text in it; the deltas are not needed.
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
            item.summary = Some(List::from(vec![part]));
        }
        item
    }
}

/// Prints sizes only: arguments and texts may contain anything.
impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("items", &self.items.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}
