//! The parts that clients of models have in common: calls of tools and their rules, and the limit of an answer.
#![allow(dead_code, reason = "not every protocol needs all of them")]

use serde::Serialize;

use crate::{Effect, rules};
use copilot_wire::protocol::{Notice, ToolCall};

rules! {
    ARGUMENTS = Error "call/arguments",
        "the arguments of a call are one JSON object",
        "the client cannot run the tool; Claude Code ignores arguments in the start of a block",
        "validate the model's arguments before completing the call, or report the error as text; in blocks, send them as `input_json_delta`";
    NOT_OFFERED = Error "call/not-offered",
        "only tools of the request are called",
        "the client cannot run the tool, and the turn is lost",
        "answer with text if the request has no such tool";
}

/// Converts a call. Arguments that are not JSON become a string.
pub(crate) fn tool_call<'a, C>(
    call: &'a C,
    name: &str,
    arguments: &impl Serialize,
) -> Option<ToolCall>
where
    ToolCall: TryFrom<&'a C>,
{
    let read = ToolCall::try_from(call).ok();
    read.or_else(|| ToolCall::new(name, arguments).ok())
}

/// Returns the effect of an answer that exceeds the limit of a client.
pub(crate) fn too_large() -> Effect {
    Effect::Error(Notice::new("the answer is larger than the client takes"))
}
