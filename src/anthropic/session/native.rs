//! Events that agents of this protocol send.

use super::{Block, Session};
use crate::anthropic::{ContentBlock, Delta};
use crate::protocol::{SendError, Session as _};

impl Session {
    pub(super) fn native_start(
        &mut self,
        block: &ContentBlock,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        match block {
            ContentBlock::Text(block) if block.text.is_empty() => Ok(()),
            ContentBlock::Text(block) => self.text(&block.text, out),
            ContentBlock::ToolUse(call) => {
                self.complete_call()?;
                // Collected, not relayed piece by piece: a call that turns out invalid must not
                // reach the client.
                self.building = Some((call.clone(), String::new()));
                Ok(())
            }
            // Any other block would close the text block, and clients print or join only one.
            _ if self.has_text => Ok(()),
            ContentBlock::Thinking(block) => {
                self.close(out)?;
                self.think(&block.thinking, false, out)?;
                self.native_delta(&Delta::Signature(block.signature.clone()), out)
            }
            ContentBlock::ToolResult(_) | ContentBlock::Other(_) => {
                self.start(Block::Other, block.clone(), out)
            }
        }
    }

    pub(super) fn native_delta(
        &mut self,
        delta: &Delta,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        match (delta, self.building.is_some()) {
            (Delta::Text(text), _) if text.is_empty() => Ok(()),
            (Delta::Text(text), _) => self.text(text, out),
            (Delta::Thinking(text), _) => self.think(text, false, out),
            (Delta::Citation(_), _) => {
                self.open_text(out)?;
                self.delta(delta.clone(), out)
            }
            (Delta::InputJson(text), true) => {
                self.make_room(text.len())?;
                if let Some((_, input)) = &mut self.building {
                    input.push_str(text);
                }
                Ok(())
            }
            (Delta::Signature(text), _) => match &mut self.block {
                // An empty signature is not written.
                Block::Thinking { signed, .. } if !*signed && !text.is_empty() => {
                    *signed = true;
                    self.delta(delta.clone(), out)
                }
                _ => Ok(()),
            },
            (Delta::InputJson(_) | Delta::Other(_), _) if self.block == Block::Other => {
                self.delta(delta.clone(), out)
            }
            _ => Ok(()),
        }
    }
}
