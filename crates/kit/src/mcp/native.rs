//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::mcp::CallRequest;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &CallRequest, headers: &HeaderMap) -> Node {
    let meta = &request.params.meta;
    let has = |name| headers.contains_key(name);
    let version = Some(meta.version()).filter(|version| !version.is_empty());
    Node::object([
        ("tool", request.params.name.as_str().into()),
        ("version", version.into()),
        ("progress", (!meta.progress_token.is_null()).into()),
        ("session", has("mcp-session-id").into()),
        ("answers", Node::names(&request.params.input_responses)),
        ("meta", Node::names(&meta.unknown)),
    ])
}
