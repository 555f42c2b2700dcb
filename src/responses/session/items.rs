//! Complete items: calls, and those of another server.

use super::{Reply, To};
use crate::json::escape::escaped_len;
use crate::json::{Kind, Members, Wire, own};
use crate::models::free_text_input;
use crate::protocol::{NOT_OFFERED, SendError, ToolCall, markdown};
use crate::responses::block::BlockKind;
use crate::responses::{EventKind, Item, StreamEvent};

impl Reply {
    /// Checks that the request offered the tool that an item calls, if it is a call that the client may have to run.
    pub(super) fn check_tool(&self, item: &Item) -> Result<(), SendError> {
        let Some(tool) = item.client_tool() else {
            return Ok(());
        };
        let is_offered = match tool {
            "function" => {
                let function = self.tools.get(&*item.full_name());
                function.is_some_and(|(name, _)| Some(name) == item.name.as_ref())
            }
            "custom_tool" => {
                let custom = ("custom".to_owned(), item.name.clone());
                self.others.contains(&custom)
            }
            // The kind of a tool may end with a version.
            tool => {
                let mut from = self.others.range((tool.to_owned(), None)..);
                from.next().is_some_and(|(kind, _)| kind.starts_with(tool))
            }
        };
        match is_offered {
            true => Ok(()),
            false => Err(SendError::Unsupported(NOT_OFFERED)),
        }
    }

    /// Writes calls of the client's tools.
    pub(super) fn calls(&mut self, calls: &[ToolCall], to: &mut To<'_>) -> Result<(), SendError> {
        let items = calls.iter().map(|call| {
            let members = call.by_model.clone().unwrap_or_default();
            // A call of a kind that only this dialect has.
            if let Some(item) = members
                .get("type")
                .and_then(|_| Item::from_raw(&members.to_raw()))
            {
                return Ok(item);
            }
            let custom = ("custom".to_owned(), Some(call.name.clone()));
            if !self.tools.contains_key(&call.name) && self.others.contains(&custom) {
                return Ok(custom_call(call));
            }
            let own = (call.name.clone(), None);
            let tool = self.tools.get(&call.name);
            let tool =
                tool.or_else(|| (call.by_model.is_some() && !call.name.is_empty()).then_some(&own));
            let (name, namespace) = tool.ok_or(SendError::Unsupported(NOT_OFFERED))?;
            if call.by_model.is_none() && call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
            let id = call.id.as_deref().unwrap_or_default();
            Ok(Item {
                namespace: namespace.clone(),
                unknown: members,
                ..Item::call(id, name.as_str(), call.arguments_text())
            })
        });
        let items: Vec<_> = items.collect::<Result<_, _>>()?;
        self.end_with(&items, to)
    }

    /// Writes the citations and complete items, all or none.
    pub(super) fn end_with(&mut self, items: &[Item], to: &mut To<'_>) -> Result<(), SendError> {
        let items = items.iter().map(|item| self.prepare(item));
        let items: Vec<_> = items.collect::<Result<_, _>>()?;
        // The sources are removed after the items are prepared: an invalid item must not discard the citations.
        let sources = markdown::sources(&to.take_sources());
        // The size of all items is reserved before the first event, because written events cannot be undone.
        let len = items.iter().map(|(_, len)| len).sum();
        self.room.check(escaped_len(&sources) + len)?;
        self.room.take(len)?;
        self.say(BlockKind::Message, &sources, to.stream())?;
        for (item, _) in items {
            self.item(item, to.stream());
        }
        Ok(())
    }

    /// Writes the end of another server's message or reasoning, whose deltas were written before.
    pub(super) fn said(&mut self, item: &Item, out: &mut Vec<u8>) -> Result<(), SendError> {
        let is_reasoning = item.kind == "reasoning";
        let open = self.block.as_mut();
        match open.filter(|block| block.kind.is_reasoning() == is_reasoning) {
            Some(block) => {
                self.room.take(item.unknown.to_raw().as_bytes().len())?;
                block.unknown = own(&item.unknown);
                self.close(out);
            }
            // Without a summary, encrypted reasoning has no deltas.
            None if is_reasoning && item.encrypted_content().is_some() => {
                let (item, len) = self.prepare(item)?;
                self.room.take(len)?;
                self.item(item, out);
            }
            None => {}
        }
        Ok(())
    }

    /// Returns a complete form of an item that is neither a message nor reasoning, and its length.
    pub(super) fn prepare(&self, item: &Item) -> Result<(Item, usize), SendError> {
        let mut item = own(item);
        let is_empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        if item.kind.is_empty() {
            return Err(SendError::Invalid("an item must have a type".into()));
        }
        if is_empty(&item.id) {
            item.id = Some(self.env.new_id(item.id_prefix()));
        }
        item.status = Some("completed".into());
        if item.kind == "custom_tool_call" && is_empty(&item.call_id) {
            item.call_id = Some(self.env.new_id("call"));
        }
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

    /// Writes a complete item, whose size has already been reserved.
    pub(super) fn item(&mut self, mut item: Item, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        self.close(out);
        if self.is_stored {
            // The index of the item is known only here.
            item.id = Some(self.item_id(item.id_prefix()));
        }
        let is_call = item.is_call();
        let begun = Item {
            status: Some("in_progress".into()),
            // Clients append the deltas to the arguments of the first event, so those must be empty.
            arguments: match is_call {
                true => Some(String::new()),
                false => item.arguments.clone(),
            },
            ..item.clone()
        };
        self.event_of_item(EventKind::ItemAdded, begun, out);
        if is_call {
            // The arguments of a call, as one delta and as a complete text.
            let event = |kind| StreamEvent {
                item_id: item.id.clone(),
                output_index: Some(self.index()),
                ..StreamEvent::new(kind)
            };
            let delta = StreamEvent {
                delta: item.arguments.clone(),
                ..event(EventKind::ArgumentsDelta)
            };
            let done = StreamEvent {
                name: item.name.clone(),
                arguments: item.arguments.clone(),
                ..event(EventKind::ArgumentsDone)
            };
            self.event(delta, out);
            self.event(done, out);
        }
        self.item_done(item, out);
    }
}

/// Returns the call of a tool with free text.
fn custom_call(call: &ToolCall) -> Item {
    let mut unknown = Members::new();
    let input = free_text_input(&call.arguments).into_owned();
    unknown.push("input", input.to_raw());
    Item {
        kind: "custom_tool_call".into(),
        call_id: call.id.clone(),
        name: Some(call.name.clone()),
        unknown,
        ..Item::default()
    }
}
