//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::responses::ResponsesRequest;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &ResponsesRequest, _: &HeaderMap) -> Node {
    let kinds = request.tools.iter().map(|tool| tool.kind.as_str());
    Node::object([
        ("model", request.model.as_str().into()),
        ("stream", request.is_stream().into()),
        ("tool_choice", request.tool_choice.clone().into()),
        ("tools", Node::list(kinds)),
        ("unknown", Node::names(&request.unknown)),
    ])
}
