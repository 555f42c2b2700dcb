//! Events, put together to a whole message again.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use super::{
    ContentBlock, Delta, Event, Message, MessageDelta, Stop, TextBlock, ThinkingBlock, Usage,
};
use crate::json::Json;
use crate::json::model::Field;

/// Puts events together to a message.
///
/// Blocks are found by their index, in any order; an index from the wire is never a size. A delta of
/// a block that was not begun begins one.
///
/// ```
/// use copilot_wire::anthropic::{Accumulator, Delta, Event};
///
/// let mut whole = Accumulator::new();
/// for text in ["Hel", "lo"] {
///     let delta = Delta::Text(text.into());
///     whole.push(&Event::ContentBlockDelta { index: 0, delta })?;
/// }
/// assert!(!whole.is_complete(), "there was no stop reason");
/// assert_eq!(whole.finish().text(), "Hello");
/// # Ok::<(), copilot_wire::anthropic::TooLarge>(())
/// ```
#[derive(Clone)]
pub struct Accumulator {
    message: Message,
    blocks: BTreeMap<u32, Building>,
    stopped: bool,
    weight: usize,
    limit: usize,
}

/// The events put together are larger than the accumulator may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message is larger than the limit of {limit} bytes")]
#[non_exhaustive]
pub struct TooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// A block that may go on.
#[derive(Clone)]
struct Building {
    block: ContentBlock,
    /// The pieces of a call's arguments.
    input: String,
}

/// The memory that a block takes beside its content.
const OVERHEAD: usize = size_of::<Building>() + 64;

impl Accumulator {
    /// The limit of [`new`](Self::new): 16 MiB.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// Creates an accumulator for one message, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self {
            message: Message::default(),
            blocks: BTreeMap::new(),
            stopped: false,
            weight: 0,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets the limit: a message takes about this many bytes.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] when more would be held than the limit; the event is then left out.
    pub fn push(&mut self, event: &Event) -> Result<(), TooLarge> {
        match event {
            Event::MessageStart(message) => {
                self.grow(message.to_json().len())?;
                self.message = own(message);
            }
            Event::ContentBlockStart {
                index,
                content_block,
            } => {
                self.grow(OVERHEAD + content_block.to_json().len())?;
                let block = Building::new(own(content_block));
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

    /// Adds text to a block.
    pub(super) fn push_text(&mut self, index: u32, text: &str) -> Result<(), TooLarge> {
        self.grow(text.len())?;
        self.block(index, || TextBlock::default().into())?
            .text(text);
        Ok(())
    }

    fn delta(&mut self, index: u32, delta: &Delta) -> Result<(), TooLarge> {
        match delta {
            Delta::Text(text) => self.push_text(index, text)?,
            Delta::Thinking(text) | Delta::Signature(text) => {
                self.grow(text.len())?;
                let block = self.block(index, || ThinkingBlock::default().into())?;
                if let ContentBlock::Thinking(block) = &mut block.block {
                    match delta {
                        Delta::Thinking(_) => block.thinking.push_str(text),
                        // The signature comes whole.
                        _ => block.signature.clone_from(text),
                    }
                }
            }
            Delta::InputJson(text) => {
                self.grow(text.len())?;
                if let Some(block) = self.blocks.get_mut(&index) {
                    block.input.push_str(text);
                }
            }
            Delta::Citation(citation) => {
                self.grow(OVERHEAD + citation.as_bytes().len())?;
                let block = self.block(index, || TextBlock::default().into())?;
                if let ContentBlock::Text(block) = &mut block.block {
                    block.citations.push(
                        Json::parse(Bytes::copy_from_slice(citation.as_bytes()))
                            .unwrap_or_default(),
                    );
                }
            }
            Delta::Other(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, delta: &MessageDelta) -> Result<(), TooLarge> {
        let MessageDelta {
            delta: stop, usage, ..
        } = delta;
        // Only keep-alive and token counts come again and again, and take no room.
        if *stop != Stop::default() || !usage.unknown.is_empty() {
            self.grow(delta.to_json().len())?;
        }
        let message = &mut self.message;
        if stop.stop_reason.is_some() {
            message.stop_reason.clone_from(&stop.stop_reason);
            message.stop_sequence.clone_from(&stop.stop_sequence);
        }
        if let Some(details) = &stop.stop_details {
            message.unknown.retain(|key| key != "stop_details");
            message.unknown.push("stop_details", details.clone());
        }
        message.usage.update(usage);
        Ok(())
    }

    /// Returns the block of an index, which is begun if there is none.
    fn block(
        &mut self,
        index: u32,
        new: impl FnOnce() -> ContentBlock,
    ) -> Result<&mut Building, TooLarge> {
        if !self.blocks.contains_key(&index) {
            self.grow(OVERHEAD)?;
        }
        let entry = self.blocks.entry(index);
        Ok(entry.or_insert_with(|| Building::new(new())))
    }

    fn grow(&mut self, bytes: usize) -> Result<(), TooLarge> {
        let weight = self.weight.saturating_add(bytes);
        if weight > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        self.weight = weight;
        Ok(())
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

    /// Returns `true` if the message has a stop reason and `message_stop` has come. Without them the
    /// stream was cut.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.stopped && self.message.stop_reason.is_some()
    }

    /// Returns the message as far as it has come. The arguments of a call that are not a JSON object
    /// become a string.
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
        }
    }

    fn text(&mut self, text: &str) {
        if let ContentBlock::Text(block) = &mut self.block {
            block.text.push_str(text);
        }
    }

    fn finish(self) -> ContentBlock {
        let Self { mut block, input } = self;
        if let ContentBlock::ToolUse(call) = &mut block {
            if !input.is_empty() {
                call.input = Json::parse_object(&input).unwrap_or_else(|_| input.to_raw());
            }
        }
        block
    }
}

/// Returns a copy that keeps nothing of the event that it was read from.
fn own<T: Field + Clone>(value: &T) -> T {
    T::from_raw(&value.to_raw()).unwrap_or_else(|| value.clone())
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows sizes, never content: texts and arguments may hold anything.
impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("blocks", &self.blocks.len())
            .field("weight", &self.weight)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
