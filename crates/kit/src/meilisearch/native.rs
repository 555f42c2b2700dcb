//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::meilisearch::ChatRequest;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
    Node::object([
        ("model", request.model.as_str().into()),
        ("notifications", Node::list(request.tools.names())),
        ("parameters", Node::names(&request.parameters)),
    ])
}
