//! Complete items: calls, and those of another server.

use super::super::block::{BlockKind, push_string};
use super::super::{EventKind, Item};
use super::{ESCAPE, Session};
use crate::json::{Kind, ValueWriter, Wire};
use crate::protocol::{SendError, ToolCall};

impl Session {
    /// Writes calls of the client's tools.
    pub(super) fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        let items = calls.iter().map(|call| {
            if !self.tools.contains(&call.name) {
                return Err(SendError::Unsupported(
                    "a tool that the request did not offer",
                ));
            }
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
            Ok(Item::call("", call.name.as_str(), call.arguments.text()))
        });
        let items: Vec<_> = items.collect::<Result<_, _>>()?;
        self.end_with(&items, out)
    }

    /// Writes the citations and complete items, all or none.
    pub(super) fn end_with(&mut self, items: &[Item], out: &mut Vec<u8>) -> Result<(), SendError> {
        let items = items.iter().map(|item| self.prepare(item));
        let items: Vec<_> = items.collect::<Result<_, _>>()?;
        // After the items are prepared: an invalid item must not use up the citations.
        let sources = self.sources();
        // All together and before the first event, because events cannot be taken back.
        self.check(sources.len() + items.iter().map(|(_, len)| len).sum::<usize>())?;
        self.say(BlockKind::Message, &sources, out)?;
        for (item, _) in items {
            self.item(item, out);
        }
        Ok(())
    }

    /// Returns a complete form of an item that is neither a message nor reasoning, and its length.
    pub(super) fn prepare(&self, item: &Item) -> Result<(Item, usize), SendError> {
        let mut item = item.clone();
        let is_empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        if item.kind.is_empty() {
            return Err(SendError::Invalid("an item must have a type".into()));
        }
        if is_empty(&item.id) {
            let prefix = if item.is_call() { "fc" } else { "item" };
            item.id = Some(self.env.new_id(prefix));
        }
        item.status = Some("completed".into());
        if item.is_call() {
            if is_empty(&item.name) {
                return Err(SendError::Invalid("a call must have a name".into()));
            }
            if is_empty(&item.call_id) {
                item.call_id = Some(self.env.new_id("call"));
            }
            // Arguments must be JSON, and empty text is not.
            if is_empty(&item.arguments) {
                item.arguments = Some("{}".into());
            }
        }
        let len = item.to_raw().as_bytes().len();
        Ok((item, len))
    }

    /// Writes a complete item within the limit.
    pub(super) fn item(&mut self, mut item: Item, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        self.close(out);
        let whole = item.to_raw();
        let whole = whole.as_bytes();
        self.kept += whole.len();
        let index = self.items;
        item.status = Some("in_progress".into());
        // Clients append the deltas to the arguments of the first event, so those must be empty.
        let arguments = item
            .is_call()
            .then(|| item.arguments.replace(String::new()));
        let begun = item.to_raw();
        self.write(&EventKind::ItemAdded, out, |out| {
            item_at(index, begun.as_bytes(), out);
        });
        if let Some(arguments) = arguments {
            self.arguments(&item, &arguments.unwrap_or_default(), out);
        }
        self.item_done(whole, out);
    }

    /// Writes the arguments of a call, as one delta and as a complete text.
    fn arguments(&mut self, call: &Item, arguments: &str, out: &mut Vec<u8>) {
        let mut place = b",\"item_id\":".to_vec();
        push_string(call.id.as_deref().unwrap_or_default(), &mut place);
        place.extend_from_slice(b",\"output_index\":");
        ValueWriter::new(&mut place, ESCAPE).u64(self.items);
        let mut text = Vec::new();
        push_string(arguments, &mut text);
        self.write(&EventKind::ArgumentsDelta, out, |out| {
            for piece in [&*place, b",\"delta\":", &*text] {
                out.extend_from_slice(piece);
            }
        });
        self.write(&EventKind::ArgumentsDone, out, |out| {
            out.extend_from_slice(&place);
            out.extend_from_slice(b",\"name\":");
            push_string(call.name.as_deref().unwrap_or_default(), out);
            out.extend_from_slice(b",\"arguments\":");
            out.extend_from_slice(&text);
        });
    }
}

/// Appends the members of an event with a complete item.
pub(super) fn item_at(index: u64, item: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"output_index\":");
    ValueWriter::new(out, ESCAPE).u64(index);
    out.extend_from_slice(b",\"item\":");
    out.extend_from_slice(item);
}
