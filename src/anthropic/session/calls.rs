//! The calls of a reply, which are buffered until its end.

use std::mem;

use super::{Block, Session};
use crate::anthropic::{Delta, ToolUseBlock};
use crate::json::{Json, Kind, Members, Wire};
use crate::protocol::{SendError, ToolCall};

/// The maximum size in bytes of the buffered calls of a reply.
const MAX_BUFFERED: usize = 16 * 1024 * 1024;

impl Session {
    /// Adds calls of the client's tools.
    pub(super) fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        if calls.iter().any(|call| !self.tools.contains(&call.name)) {
            let reason = "a tool that the request did not offer";
            return Err(SendError::Unsupported(reason));
        }
        self.buffer_calls(calls.iter().map(|call| ToolUseBlock {
            id: String::new(),
            name: call.name.clone(),
            input: call.arguments.clone(),
            unknown: Members::new(),
        }))?;
        self.write_calls(out)
    }

    /// Buffers calls: all of them, or none.
    pub(super) fn buffer_calls(
        &mut self,
        calls: impl Iterator<Item = ToolUseBlock> + Clone,
    ) -> Result<(), SendError> {
        let odd = |call: ToolUseBlock| call.name.is_empty() || call.input.kind() != Kind::Object;
        // Checked for all before the first is taken: all are sent, or none.
        if calls.clone().any(odd) {
            return Err(SendError::Invalid("arguments must be an object".into()));
        }
        let sizes = calls
            .clone()
            .map(|call| call.input.as_bytes().len() + call.name.len() + 64);
        self.make_room(sizes.sum())?;
        for mut call in calls {
            // The protocol allows only letters, digits, `_` and `-` in ids of calls.
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            if call.id.is_empty() || !call.id.bytes().all(allowed) {
                call.id = self.env.new_id("toolu");
            }
            self.calls.push(call);
        }
        Ok(())
    }

    pub(super) fn make_room(&mut self, bytes: usize) -> Result<(), SendError> {
        if self.buffered + bytes > MAX_BUFFERED {
            let message = format!("the calls are larger than {MAX_BUFFERED} bytes");
            return Err(SendError::Invalid(message));
        }
        self.buffered += bytes;
        Ok(())
    }

    /// Completes the current call.
    pub(super) fn complete_call(&mut self) -> Result<(), SendError> {
        let Some((mut call, text)) = self.building.take() else {
            return Ok(());
        };
        // Without pieces the arguments in the start of the block count.
        if !text.is_empty() || call.input.is_null() {
            call.input = Json::parse_object(&text).unwrap_or_default();
        }
        self.buffer_calls(std::iter::once(call))
    }

    /// Writes the calls, each as one block. Claude Code reads arguments only from deltas.
    pub(super) fn write_calls(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.sources(out)?;
        // Not before the end of the turn: Claude Code runs a call whose block is closed, even if an
        // error follows it.
        for call in mem::take(&mut self.calls) {
            self.has_calls = true;
            let input = call.input.text().to_owned();
            let empty = Members::new();
            let start = ToolUseBlock {
                input: empty.to_raw(),
                ..call
            };
            self.start(Block::Other, start.into(), out)?;
            self.delta(Delta::InputJson(input), out)?;
            self.close(out)?;
        }
        Ok(())
    }
}
