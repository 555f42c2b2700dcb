//! What only a request of Anthropic Messages has.

use http::HeaderMap;

use crate::anthropic::MessagesRequest;
use crate::json::Json;
use crate::testing::Node;

/// Shows what only this protocol has.
pub(super) fn native(request: &MessagesRequest, _: &HeaderMap) -> Node {
    // A number always is JSON.
    let number = |number: u64| Json::encode(&number).unwrap_or_default();
    Node::object([
        ("model", request.model.as_str().into()),
        ("stream", request.is_stream().into()),
        ("max_tokens", request.max_tokens.map(number).into()),
        ("tool_choice", request.tool_choice.clone().into()),
        (
            "estimated_tokens",
            number(request.estimated_tokens()).into(),
        ),
        ("unknown", Node::names(&request.unknown)),
    ])
}
