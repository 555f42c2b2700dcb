//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::anthropic::MessagesRequest;
use copilot_wire::json::Json;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &MessagesRequest, _: &HeaderMap) -> Node {
    // Serializing a number cannot fail.
    let number = |number: u64| Json::encode(&number).unwrap_or_default();
    Node::object([
        ("model", request.model.as_str().into()),
        ("stream", request.is_stream().into()),
        ("max_tokens", request.max_tokens.map(number).into()),
        ("tool_choice", request.tool_choice.clone().into()),
        ("unknown", Node::names(&request.unknown)),
    ])
}
