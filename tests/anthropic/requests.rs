//! Requests as the clients send them, and as an agent sees them.

use std::path::PathBuf;

use copilot_wire::anthropic::{Anthropic, MessagesRequest};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{Conversation, Protocol};
use copilot_wire::{Reply, Request};
use serde_json::{Value, json};

use crate::strict::read;
use crate::support::{agent, router, send, whole};

fn fixture(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/anthropic");
    serde_json::from_slice(&std::fs::read(path.join(name)).unwrap()).unwrap()
}

fn request(body: &Value) -> MessagesRequest {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    Anthropic::read(&parts, body.to_string().into()).unwrap()
}

#[test]
fn recorded_requests_are_answered() {
    let said = |name: &str| {
        let recorded = fixture(name);
        let mut request = http::Request::post(recorded["path"].as_str().unwrap());
        for (header, value) in recorded["headers"].as_object().unwrap() {
            if !["content-type", "content-length"].contains(&header.as_str()) {
                request = request.header(header, value.as_str().unwrap());
            }
        }
        let tells = agent(
            |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
                let said = format!(
                    "{:?} {} {:?}",
                    request.prompt().map(|prompt| prompt.len()),
                    request.tools().count(),
                    request.conversation_id(),
                );
                Ok(reply.text(said).await?)
            },
        );
        let response = send(&router(tells), request, recorded["body"].to_string());
        assert_eq!(response.status(), 200);
        read(&whole(response.into_body())).text()
    };
    // In the recording the reminder is blanked, and looks like what the user says.
    let reminder = fixture("claude-code.json")["body"]["messages"][0]["content"][0]["text"].clone();
    let length = reminder.as_str().unwrap().len() + "\nsay hi with a shell".len();
    assert_eq!(
        said("claude-code.json"),
        format!("Some({length}) 24 Some(\"11a86ac4-e677-47e0-87de-8b06afdc8549\")")
    );
    let text = fixture("copilot-cli.json")["body"]["messages"][0]["content"][0]["text"].clone();
    let length = text.as_str().unwrap().len();
    assert_eq!(said("copilot-cli.json"), format!("Some({length}) 17 None"));
}

#[test]
fn recorded_requests_are_written_again_as_they_were() {
    for name in ["claude-code.json", "copilot-cli.json"] {
        let body = &fixture(name)["body"];
        let again = request(body).to_json();
        assert_eq!(
            serde_json::from_slice::<Value>(&again).unwrap(),
            *body,
            "{name}"
        );
    }
}

#[test]
fn no_text_is_shown_by_debug() {
    let body = json!({
        "system": "SECRET", "metadata": {"user_id": "SECRET"},
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "SECRET"}, {"type": "thinking", "thinking": "SECRET", "signature": "SECRET"},
            {"type": "tool_use", "id": "a", "name": "n", "input": {"k": "SECRET"}},
            {"type": "tool_result", "tool_use_id": "a", "content": "SECRET"}, {"type": "image", "source": "SECRET"},
        ]}],
    });
    let shown = format!("{:?}", request(&body));
    assert!(
        shown.contains("6 bytes") && !shown.contains("SECRET"),
        "{shown}"
    );
}
