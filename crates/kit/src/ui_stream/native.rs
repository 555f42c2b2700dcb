//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::ui_stream::ChatRequest;

/// Describes the members that only this protocol has.
pub(super) fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
    let states = request.messages.last().map(|message| {
        Node::list(message.parts.iter().map(|part| match &part.state {
            Some(state) => format!("{}: {state}", part.kind),
            None => part.kind.clone(),
        }))
    });
    Node::object([
        ("trigger", request.trigger.as_str().into()),
        ("message_id", request.message_id.clone().into()),
        ("last_parts", states.into()),
        ("unknown", Node::names(&request.unknown)),
    ])
}
