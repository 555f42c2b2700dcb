//! Requests as clients send them, odd ones too.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::{ChatMessage, ChatRequest, Function, Part, Tool, ToolCall};
use serde_json::json;

#[test]
fn a_client_builds_what_a_server_reads() {
    let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    let call = ToolCall::new("A", "f", &json!({"x": 1})).unwrap();
    let request = ChatRequest::new(
        "m",
        vec![
            ChatMessage::system("s"),
            ChatMessage::user(vec![
                Part::new("look"),
                Part::image("https://a.example/i.png"),
            ]),
            ChatMessage::calls(vec![call]),
            ChatMessage::result("A", "42"),
        ],
    )
    .stream(true)
    .include_usage()
    .offer(vec![
        Function::new("f", "does it").parameters(schema).into(),
    ])
    .with("temperature", &0)
    .unwrap();
    assert_eq!(ChatRequest::from_json(request.to_json()).unwrap(), request);
    let tool: &Tool = &request.tools[0];
    assert_eq!(tool.function.as_ref().unwrap().name, "f");
}
