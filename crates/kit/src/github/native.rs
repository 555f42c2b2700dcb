//! The members of requests that only this protocol has.

use http::HeaderMap;

use crate::Node;
use copilot_wire::github::{ChatRequest, Reference, Token, integration_id};

/// Describes the members that only this protocol has.
pub(super) fn native(request: &ChatRequest, headers: &HeaderMap) -> Node {
    let context = request.context();
    let withheld = context.withheld().map(|withheld| {
        Node::object([
            ("type", withheld.kind.into_owned().into()),
            ("why", withheld.reason.to_string().into()),
        ])
    });
    let answers = request.decisions().map(|answer| {
        Node::object([
            ("id", answer.id().map(|id| id.into_owned()).into()),
            ("accepted", answer.is_accepted().into()),
        ])
    });
    let session = request.session_info().map(|session| {
        Node::object([
            ("login", session.login().into()),
            ("url", session.url().into()),
            ("time", session.date_time().into()),
        ])
    });
    let editor = format!("{:?}", context.editor()).to_lowercase();
    let references = Node::list(context.references().map(reference));
    Node::object([
        ("agent", request.agent.as_deref().into()),
        ("web", context.is_web().into()),
        ("editor", editor.into()),
        ("references", references),
        ("withheld", Node::list(withheld)),
        ("memory", Node::list(request.memory().map(reference))),
        ("answers", Node::list(answers)),
        ("session", session.into()),
        ("skills", Node::list(request.skills())),
        ("integration", integration_id(headers).into()),
        ("token", Token::from_headers(headers).is_some().into()),
        ("unknown", Node::names(&request.unknown)),
    ])
}

fn reference(reference: &Reference) -> Node {
    Node::object([
        ("type", reference.kind.as_str().into()),
        ("name", reference.display_name().into()),
        ("id", reference.id.as_str().into()),
        ("implicit", reference.is_implicit.unwrap_or(false).into()),
    ])
}
