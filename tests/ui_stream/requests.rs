//! Requests of pages of every version, recorded with `tests/interop/ui-stream/record.mjs`.

use bytes::Bytes;
use copilot_wire::protocol::{Conversation, Protocol, Tool};
use copilot_wire::ui_stream::{ChatRequest, Mount, UiStream};
use serde_json::json;

use crate::support::{agent, post, router};

fn read(body: &str) -> ChatRequest {
    let (parts, ()) = http::Request::post("/api/chat")
        .body(())
        .unwrap()
        .into_parts();
    UiStream::read(&parts, Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

#[test]
fn tools_come_from_the_request_and_from_the_mount() {
    let body = json!({
        "system": "Be brief.",
        "tools": {"f": {"description": "F", "parameters": {"type": "object"}}, "g": {}},
        "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}],
    });
    let mount = Mount::new()
        .tool(Tool::new("f", "mine"))
        .tool(Tool::new("h", "H"));
    let names = agent(|request, reply| async move {
        let names: Vec<String> = request
            .tools()
            .map(|tool| format!("{}={} ", tool.name, tool.description))
            .collect();
        Ok(reply.text(names.concat()).await?)
    });
    let stream = post(&router(mount, names), &body.to_string());
    assert!(stream.contains("\"f=F g= h=H \""), "{stream}");
}

/// People paste secrets into chats.
#[test]
fn debug_shows_no_text() {
    let parts = json!([
        {"type": "text", "text": "s3cret"},
        {"type": "file", "mediaType": "text/plain", "url": "data:,s3cret"},
        {"type": "data-x", "data": "s3cret"},
        {"type": "tool-f", "toolCallId": "c", "input": "s3cret", "output": "s3cret", "errorText": "s3cret"},
    ]);
    let shown = format!(
        "{:?}",
        read(&json!({"messages": [{"id": "u2", "role": "user", "parts": parts}]}).to_string())
    );
    assert!(
        shown.contains("data-x") && !shown.contains("s3cret"),
        "{shown}"
    );
}
