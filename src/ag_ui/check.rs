//! Checks of single events for faults that make clients reject a run.

use super::Output;
use crate::json::escape::escaped_len;
use crate::json::{Json, Kind, List, is_pointer};
use crate::protocol::SendError;

/// The maximum size in bytes of an event that clients accept.
const MAX_EVENT: usize = 10_000_000;

/// The roles of messages in a snapshot. Clients fail the run at any other role.
const ROLES: [&str; 7] = [
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "reasoning",
    "activity",
];

/// Checks that an event with `payload` bytes of JSON is not larger than clients accept.
pub(super) fn size(payload: usize) -> Result<(), SendError> {
    // Space for the members around a payload.
    match payload < MAX_EVENT - 1024 {
        true => Ok(()),
        false => Err(SendError::Invalid(format!(
            "an event must be smaller than {MAX_EVENT} bytes"
        ))),
    }
}

/// Checks that an event with a text is not larger than clients accept.
pub(super) fn text(text: &str) -> Result<(), SendError> {
    size(escaped_len(text))
}

/// Checks an event that an agent sends.
pub(super) fn content(output: &Output) -> Result<(), SendError> {
    let invalid = |rule: &str| Err(SendError::Invalid(rule.to_owned()));
    match output {
        Output::StateDelta(event) => patch(&event.delta),
        Output::ActivityDelta(event) => patch(&event.patch),
        Output::ActivitySnapshot(event) if event.content.kind() != Kind::Object => {
            invalid("the content of an activity must be an object")
        }
        Output::MessagesSnapshot(event) => {
            let mut roles = event.messages.iter().map(|message| &*message.role);
            match roles.all(|role| ROLES.contains(&role)) {
                true => Ok(()),
                false => invalid("a message has a role that apps do not know"),
            }
        }
        _ => Ok(()),
    }
}

/// Checks that `patch` is a list of operations. `@ag-ui/client` 1.0.0 fails the run if a path is not a JSON pointer or
/// a member is missing.
fn patch(patch: &List<Json>) -> Result<(), SendError> {
    match patch.iter().all(is_operation) {
        true => Ok(()),
        false => Err(SendError::Invalid("not a JSON Patch operation".to_owned())),
    }
}

fn is_operation(operation: &Json) -> bool {
    let pointer = |name: &str| {
        let pointer = operation.get(name);
        pointer.is_some_and(|pointer| pointer.string().is_some_and(|text| is_pointer(&text)))
    };
    let name = operation.get("op");
    let name = name.as_ref().and_then(Json::string).unwrap_or_default();
    operation.kind() == Kind::Object
        && pointer("path")
        // RFC 6902, section 4: the operations and the members that each requires.
        && match &*name {
            "add" | "replace" | "test" => operation.get("value").is_some(),
            "move" | "copy" => pointer("from"),
            "remove" => true,
            _ => false,
        }
}
