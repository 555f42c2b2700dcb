//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::openai::ChatRequest;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
    Node::object([
        ("model", request.model.as_str().into()),
        ("stream", request.is_stream().into()),
        ("usage", request.wants_usage().into()),
        ("tool_choice", request.tool_choice.clone().into()),
        ("unknown", Node::names(&request.unknown)),
    ])
}
