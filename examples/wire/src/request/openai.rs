//! What only an OpenAI request has.

use copilot_wire::openai::ChatRequest;
use http::HeaderMap;

use super::unknown;
use crate::node::Node;

pub(super) fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
    Node::object([
        ("model", request.model.as_str().into()),
        ("stream", request.is_stream().into()),
        ("usage", request.wants_usage().into()),
        ("tool_choice", request.tool_choice.clone().into()),
        ("unknown", unknown(&request.unknown)),
    ])
}
