//! Requests as agents see them, those of real clients among them.

use bytes::Bytes;
use copilot_wire::agent_fn;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{Conversation, Protocol, Role};
use copilot_wire::responses::{
    Content, ContentPart, Input, Item, Responses, ResponsesRequest, Tool,
};
use serde_json::{Value, json};

use crate::rules::{End, check};
use crate::support::{fixture, post, router};

fn request(body: &str) -> ResponsesRequest {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    Responses::read(&parts, Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

#[test]
fn recorded_clients_are_answered() {
    for (name, tools, prompt) in [
        ("codex-01.json", 12, Some("say hi with a shell")),
        ("codex-02.json", 12, Some("say hi with a shell")),
        ("copilot-01.json", 17, None),
    ] {
        let body = fixture(name);
        let known = request(&body);
        assert_eq!(known.tools().count(), tools, "{name}");
        assert!(known.is_stream());
        let system = known.messages().next().unwrap();
        assert_eq!(system.role, Role::System, "{name}");
        if prompt.is_some() {
            assert_eq!(known.prompt().as_deref(), prompt);
        }
        let router = router(agent_fn::<Responses, _, _>(|request, reply| async move {
            assert!(request.conversation_id().is_some());
            for result in request.results() {
                assert_eq!(result.name, "exec_command");
                assert_eq!(result.arguments.unwrap().text(), r#"{"cmd": "echo hi"}"#);
            }
            let results = request.results().count();
            Ok(reply.text(&format!("{results} results")).await?)
        }));
        let body = body.replace("\"model\": \"analyst\"", "\"model\": \"m\"");
        let checked = check(&post(&router, &body).1, End::Completed);
        let results = usize::from(name == "codex-02.json");
        assert_eq!(checked.text, format!("{results} results"));
    }
}

#[test]
fn a_client_writes_what_it_means() {
    let mut request = ResponsesRequest::new("m", "hi")
        .stream(true)
        .instructions("Be kind.")
        .offer([Tool::function("f", "Does it.").parameters(Json::parse("{}").unwrap())])
        .with("temperature", &0.5)
        .unwrap();
    request.input.push(Item::call("call_1", "f", "{}"));
    request.input.push(Item::output("call_1", "done"));
    let parts = vec![
        ContentPart::input_text("a"),
        ContentPart::input_image("data:,x"),
    ];
    request.input.push(Item::user(parts));
    let written: Value = serde_json::from_slice(&request.to_json()).unwrap();
    assert_eq!(
        written,
        json!({
            "model": "m", "instructions": "Be kind.", "stream": true, "temperature": 0.5,
            "tools": [{"type": "function", "name": "f", "description": "Does it.", "parameters": {}}],
            "input": [
                {"type": "message", "role": "user", "content": "hi"},
                {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "done"},
                {"type": "message", "role": "user", "content": [
                    {"type": "input_text", "text": "a"},
                    {"type": "input_image", "image_url": "data:,x"},
                ]},
            ],
        })
    );
    assert_eq!(
        ResponsesRequest::from_json(request.to_json()).unwrap(),
        request
    );
}

#[test]
fn debug_shows_no_text() {
    let request = request(
        r#"{"input":[{"role":"user","content":"S3CRET"},{"role":"user","content":[{"type":"input_text","text":"S3CRET"}]},
            {"type":"function_call","name":"f","arguments":"S3CRET"},{"type":"function_call_output","output":"S3CRET"}],
            "instructions":"S3CRET","user":"S3CRET"}"#,
    );
    let shown = format!(
        "{request:?} {:?} {:?}",
        Input::from("S3CRET"),
        Content::from("S3CRET")
    );
    assert!(!shown.contains("S3CRET"), "{shown}");
    assert!(shown.contains("6 bytes"), "{shown}");
}
