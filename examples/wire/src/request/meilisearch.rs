//! What only a Meilisearch request has.

use copilot_wire::meilisearch::ChatRequest;
use http::HeaderMap;

use super::unknown;
use crate::node::Node;

pub(super) fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
    Node::object([
        ("model", request.model.as_str().into()),
        ("notifications", Node::list(request.tools.names())),
        ("parameters", unknown(&request.parameters)),
    ])
}
