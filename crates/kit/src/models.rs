//! The parts that clients of models have in common: the rules for calls of tools, and the limit of an answer.

use crate::{Effect, rules};
use copilot_wire::protocol::Notice;

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

/// Returns the effect of an answer that exceeds the limit of a client.
pub(crate) fn too_large() -> Effect {
    Effect::Error(Notice::new("the answer is larger than the client takes"))
}
