//! The calls of a reply, which are held back until its end.

use std::mem;

use super::{Block, Session};
use crate::anthropic::{Delta, ToolUseBlock, new_id};
use crate::json::model::Field as _;
use crate::json::{Json, Kind, Members};
use crate::protocol::{SendError, ToolCall};

/// The limit of the calls in one reply, which are held back until its end, in bytes.
const MAX_HELD: usize = 16 * 1024 * 1024;

impl Session {
    /// Calls tools of the client.
    pub(super) fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        if calls.iter().any(|call| !self.tools.contains(&call.name)) {
            let reason = "a tool that the request did not offer";
            return Err(SendError::Unsupported(reason));
        }
        self.hold(calls.iter().map(|call| ToolUseBlock {
            id: String::new(),
            name: call.name.clone(),
            input: call.arguments.clone(),
            unknown: Members::new(),
        }))?;
        self.write_calls(out)
    }

    /// Holds calls back: all of them, or none.
    pub(super) fn hold(
        &mut self,
        calls: impl Iterator<Item = ToolUseBlock> + Clone,
    ) -> Result<(), SendError> {
        let odd = |call: ToolUseBlock| call.name.is_empty() || call.input.kind() != Kind::Object;
        if calls.clone().any(odd) {
            return Err(SendError::Invalid("arguments must be an object".into()));
        }
        let sizes = calls
            .clone()
            .map(|call| call.input.as_bytes().len() + call.name.len() + 64);
        self.make_room(sizes.sum())?;
        for mut call in calls {
            // Anthropic Messages, ids of calls: letters, digits, `_` and `-`.
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            if call.id.is_empty() || !call.id.bytes().all(allowed) {
                call.id = new_id("toolu_", &self.env);
            }
            self.calls.push(call);
        }
        Ok(())
    }

    pub(super) fn make_room(&mut self, bytes: usize) -> Result<(), SendError> {
        if self.held + bytes > MAX_HELD {
            let message = format!("the calls are larger than {MAX_HELD} bytes");
            return Err(SendError::Invalid(message));
        }
        self.held += bytes;
        Ok(())
    }

    /// Completes the call that is being made.
    pub(super) fn complete_call(&mut self) -> Result<(), SendError> {
        let Some((mut call, text)) = self.building.take() else {
            return Ok(());
        };
        if !text.is_empty() || call.input.is_null() {
            call.input = Json::parse_object(&text).unwrap_or_default();
        }
        self.hold(std::iter::once(call))
    }

    /// Writes the calls, each as one block. Claude Code reads the arguments from deltas only.
    pub(super) fn write_calls(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.sources(out)?;
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
