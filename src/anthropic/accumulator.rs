//! Assembly of events to a complete message.

use std::collections::BTreeMap;
use std::fmt;

use super::{
    ContentBlock, Delta, Event, Message, MessageDelta, Stop, TextBlock, ThinkingBlock, Usage,
};
use crate::json::merge::{self, Merged};
use crate::json::{Json, Members, Wire, own};
use crate::protocol::{Room, TooLarge};

/// An accumulator that assembles events to a message.
///
/// Blocks are identified by their index, in any order; memory does not depend on the value of an index. A delta whose
/// index has no block starts a block.
///
/// ```
/// use copilot_wire::anthropic::{Accumulator, Delta, Event};
///
/// let mut message = Accumulator::new();
/// for text in ["Hel", "lo"] {
///     let delta = Delta::Text(text.into());
///     message.push(&Event::ContentBlockDelta { index: 0, delta })?;
/// }
/// assert!(!message.is_complete(), "there was no stop reason");
/// assert_eq!(message.finish().text(), "Hello");
/// # Ok::<(), copilot_wire::protocol::TooLarge>(())
/// ```
#[derive(Clone, Default)]
pub struct Accumulator {
    message: Message,
    blocks: BTreeMap<u32, Building>,
    stopped: bool,
    room: Room<DEFAULT_LIMIT>,
}

/// A block that is not complete.
#[derive(Clone)]
struct Building {
    block: ContentBlock,
    /// The pieces of a call's arguments.
    input: String,
    /// The members of deltas of kinds that this crate does not know.
    more: Option<Merged>,
}

const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

/// The memory in bytes of a block besides its content.
const OVERHEAD: usize = size_of::<Building>() + 64;

impl Accumulator {
    /// The default limit in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = DEFAULT_LIMIT;

    /// Creates an accumulator for one message, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limit of a message in bytes, approximately.
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
    pub fn push(&mut self, event: &Event) -> Result<(), TooLarge> {
        match event {
            Event::MessageStart(message) => {
                self.room.take(message.to_json().len())?;
                self.message = own(message);
            }
            Event::ContentBlockStart {
                index,
                content_block,
            } => {
                self.room.take(OVERHEAD + content_block.to_json().len())?;
                let block = Building::new(own(content_block));
                // A second start at an index replaces the block, but the size of the first remains counted: a sender
                // cannot repeat starts without limit.
                self.blocks.insert(*index, block);
            }
            Event::ContentBlockDelta { index, delta } => self.delta(*index, delta)?,
            Event::MessageDelta(delta) => {
                self.end(&own(delta))?;
            }
            Event::MessageStop => self.stopped = true,
            _ => {}
        }
        Ok(())
    }

    /// Adds text to the last block.
    pub(super) fn extend_text(&mut self, text: &str) -> Result<(), TooLarge> {
        let last = self.blocks.last_key_value();
        let index = last.map_or(0, |(index, _)| *index);
        self.push_text(index, text)
    }

    /// Adds text to a block.
    fn push_text(&mut self, index: u32, text: &str) -> Result<(), TooLarge> {
        self.room.take(text.len())?;
        self.block(index, || TextBlock::default().into())?
            .text(text);
        Ok(())
    }

    fn delta(&mut self, index: u32, delta: &Delta) -> Result<(), TooLarge> {
        match delta {
            Delta::Text(text) => self.push_text(index, text)?,
            Delta::Thinking(text) | Delta::Signature(text) => {
                self.room.take(text.len())?;
                let block = self.block(index, || ThinkingBlock::default().into())?;
                if let ContentBlock::Thinking(block) = &mut block.block {
                    match delta {
                        Delta::Thinking(_) => block.thinking.push_str(text),
                        // The signature arrives in one piece.
                        _ => block.signature.clone_from(text),
                    }
                }
            }
            Delta::InputJson(text) => {
                self.room.take(text.len())?;
                // Without the start of the block its kind is not known, so the piece is dropped.
                if let Some(block) = self.blocks.get_mut(&index) {
                    block.input.push_str(text);
                }
            }
            Delta::Citation(citation) => {
                self.room.take(OVERHEAD + citation.as_bytes().len())?;
                let block = self.block(index, || TextBlock::default().into())?;
                if let ContentBlock::Text(block) = &mut block.block {
                    block.citations.push(own(citation));
                }
            }
            Delta::Other(delta) => {
                let weight = OVERHEAD + merge::weight(delta);
                self.room.take(weight)?;
                if let Some(block) = self.blocks.get_mut(&index) {
                    let members = delta.members().filter(|(key, _)| key != "type");
                    let piece = members.collect::<Members>().to_raw();
                    let added = match &mut block.more {
                        Some(more) => more.add(&piece),
                        None => {
                            block.more = Some(Merged::new(&piece));
                            weight
                        }
                    };
                    self.room.free(weight.saturating_sub(added));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, delta: &MessageDelta) -> Result<(), TooLarge> {
        let MessageDelta {
            delta: stop, usage, ..
        } = delta;
        // Keep-alive events and token counts are repeated, but need no memory.
        if *stop != Stop::default() || !usage.unknown.is_empty() {
            self.room.take(delta.to_json().len())?;
        }
        let message = &mut self.message;
        // Keep-alive events are `message_delta` events without a stop reason.
        if stop.stop_reason.is_some() {
            message.stop_reason.clone_from(&stop.stop_reason);
            message.stop_sequence.clone_from(&stop.stop_sequence);
        }
        if let Some(details) = &stop.stop_details {
            // Later details replace earlier ones.
            message.unknown.retain(|key| key != "stop_details");
            message.unknown.push("stop_details", details.clone());
        }
        message.usage.update(usage);
        Ok(())
    }

    /// Returns the block at an index, creating it if there is none.
    fn block(
        &mut self,
        index: u32,
        new: impl FnOnce() -> ContentBlock,
    ) -> Result<&mut Building, TooLarge> {
        if !self.blocks.contains_key(&index) {
            self.room.take(OVERHEAD)?;
        }
        let entry = self.blocks.entry(index);
        Ok(entry.or_insert_with(|| Building::new(new())))
    }

    /// Returns the text so far.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = self.blocks.values();
        let texts = blocks.filter_map(|block| match &block.block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the token counts so far.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.message.usage
    }

    /// Returns `true` if the message has a stop reason and `message_stop` was received. Otherwise
    /// the stream was interrupted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.stopped && self.message.stop_reason.is_some()
    }

    /// Returns the message so far. The arguments of a call that are not a JSON object become a
    /// string.
    #[must_use]
    pub fn finish(self) -> Message {
        let blocks = self.blocks.into_values();
        Message {
            content: blocks.map(Building::finish).collect(),
            ..self.message
        }
    }
}

impl Building {
    fn new(block: ContentBlock) -> Self {
        Self {
            block,
            input: String::new(),
            more: None,
        }
    }

    fn text(&mut self, text: &str) {
        if let ContentBlock::Text(block) = &mut self.block {
            block.text.push_str(text);
        }
    }

    fn finish(self) -> ContentBlock {
        let Self { block, input, more } = self;
        if input.is_empty() && more.is_none() {
            return block;
        }
        let mut whole = Merged::new(&block.to_raw());
        if let Some(more) = more {
            whole.add(&more.into_json());
        }
        let mut members: Members = whole.into_json().members().collect();
        if !input.is_empty() {
            // Clients differ in where they read arguments; deltas count, as in Claude Code, and
            // else the start.
            let input = Json::parse_object(&input).unwrap_or_else(|_| input.to_raw());
            members.set("input", input);
        }
        ContentBlock::from_raw(&members.to_raw()).unwrap_or(block)
    }
}

/// Prints sizes only: texts and arguments may contain anything.
impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("blocks", &self.blocks.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}
