//! JSON Patch (RFC 6902), which changes of state and activities are written in.

use crate::json::{Json, Kind, List};
use crate::protocol::SendError;

/// Checks that `patch` is a list of operations. `@ag-ui/client` 1.0.0 fails the run at a path that is
/// not a JSON pointer and at a member that is missing.
pub(super) fn check(patch: &List<Json>) -> Result<(), SendError> {
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
        && match &*name {
            "add" | "replace" | "test" => operation.get("value").is_some(),
            "move" | "copy" => pointer("from"),
            "remove" => true,
            _ => false,
        }
}

/// Returns `true` if `text` is a JSON pointer: empty, or segments that each begin with a slash, in
/// which a tilde is `~0` and a slash `~1`.
pub(super) fn is_pointer(text: &str) -> bool {
    let escapes = || text.split('~').skip(1);
    (text.is_empty() || text.starts_with('/')) && escapes().all(|rest| rest.starts_with(['0', '1']))
}
