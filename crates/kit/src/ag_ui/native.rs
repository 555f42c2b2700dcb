//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::ag_ui::RunAgentInput;
use copilot_wire::json::Json;

/// Describes the members that only this protocol has.
pub(super) fn native(input: &RunAgentInput, _: &HeaderMap) -> Node {
    let value = |json: &Json| match json.is_null() {
        true => Node::None,
        false => json.clone().into(),
    };
    let resume = input.resume.iter();
    let resume = resume.map(|entry| format!("{}: {}", entry.interrupt_id, entry.status));
    Node::object([
        ("run", input.run_id.clone().into()),
        ("parent_run", input.parent_run_id.clone().into()),
        ("version", input.protocol_version.clone().into()),
        ("state", value(&input.state)),
        ("forwarded", value(&input.forwarded_props)),
        ("resume", Node::list(resume)),
        ("unknown", Node::names(&input.unknown)),
    ])
}
