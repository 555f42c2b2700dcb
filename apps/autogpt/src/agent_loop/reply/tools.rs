//! The codec of native tool calls.

use super::hardened::{accepted, error};
use super::{Command, Reply, ReplyErrorKind, Stage, Thoughts};
use crate::agent_loop::message::ToolCall;
use crate::json::{Found, Object, find_object, parse};

/// Parses a reply with a native tool call; its text becomes the thought.
///
/// Arguments that are not a JSON object are parsed as tolerantly as a JSON reply.
pub fn read_tool_call(text: &str, call: Option<&ToolCall>) -> Reply {
    let command = match call {
        None => Err(error(ReplyErrorKind::MissingCommand)),
        Some(call) if call.name.is_empty() => Err(error(ReplyErrorKind::MissingName)),
        Some(call) => arguments(&call.arguments)
            .ok_or_else(|| error(ReplyErrorKind::UnparseableReply))
            .and_then(|args| accepted(Command::new(&call.name, args))),
    };
    Reply {
        thoughts: Thoughts::plain(text),
        command,
        stage: Stage::Tool,
    }
}

fn arguments(text: &str) -> Option<crate::json::Value> {
    if text.trim().is_empty() {
        return Some(Object::new().into());
    }
    if let Ok(value) = parse(text) {
        return Some(value);
    }
    match find_object(text, |_| true) {
        Found::Object(value) => Some(value),
        _ => None,
    }
}
