//! Requests as clients send them, odd ones too.

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::openai::{
    ChatMessage, ChatRequest, Content, Function, OpenAi, Part, Tool, ToolCall,
};
use copilot_wire::protocol::{ContentPart as _, Conversation, Protocol as _, Role};
use serde_json::{Value, json};

fn read(body: &Value) -> ChatRequest {
    ChatRequest::from_json(body.to_string().as_bytes()).unwrap()
}

#[test]
fn content_is_text_parts_or_null() {
    let request = read(&json!({"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "text", "text": "What is it?", "cache_control": {"type": "ephemeral"}},
            {"text": "hidden", "type": "future"},
        ]},
        {"role": "assistant", "content": null, "refusal": "No."},
        {"role": "martian", "content": 7},
    ]}));
    let messages: Vec<_> = request
        .messages()
        .map(|m| (m.role, m.text.into_owned()))
        .collect();
    assert_eq!(
        messages,
        [
            (Role::System, "Be brief.".to_owned()),
            (Role::System, "one\ntwo".to_owned()),
            (
                Role::Other,
                r#"{"text":"hidden","type":"future"}"#.to_owned(),
            ),
            (Role::User, "What is it?".to_owned()),
            (Role::Assistant, "No.".to_owned()),
            (Role::Other, "7".to_owned()),
        ]
    );
    assert_eq!(request.prompt().unwrap(), "What is it?");
    let Content::Parts(parts) = &request.messages[2].content else {
        panic!()
    };
    assert_eq!(parts[0].kind().as_deref(), Some("image_url"));
    assert_eq!(parts[0].said(), None);
}

#[test]
fn what_is_read_is_written_back() {
    let body = json!({
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}], "name": "ann"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "A", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}, "extra_content": {"sig": "s"}},
                {"id": "B", "type": "custom", "custom": {"name": "g", "input": "x"}},
            ]},
            {"role": "tool", "tool_call_id": "A", "content": "1", "x": [1.50]},
        ],
        "stream": true,
        "stream_options": {"include_usage": true, "include_obfuscation": false},
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": true}},
            {"type": "custom", "custom": {"name": "g"}},
        ],
        "tool_choice": "auto",
        "temperature": 0.20,
        "n": 1,
    });
    let request = read(&body);
    let again: Value = serde_json::from_slice(&request.to_json()).unwrap();
    assert_eq!(again, body);
    assert_eq!(ChatRequest::from_json(request.to_json()).unwrap(), request);
    assert!(request.is_stream() && request.wants_usage());
}

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

#[test]
fn invalid_elements_do_not_affect_others() {
    let request = read(&json!({
        "model": null,
        "messages": [null, 7, {"role": 5, "content": {"type": "text", "text": "single"}}, {"content": true},
            {"role": "assistant", "content": "x", "tool_calls": [null, {"id": 7, "function": {"name": null, "arguments": {"a": 1}}}]}],
        "stream": "yes",
        "stream_options": 7,
        "tools": [1, {"type": "function", "function": null}, {"function": {"name": "f", "parameters": 7}}],
        "tool_choice": null,
        "stop": null,
    }));
    assert_eq!(request.messages.iter().count(), 3);
    assert_eq!(request.messages[0].content.text(), "single");
    assert_eq!(
        request.messages[2].tool_calls[0].function.arguments,
        r#"{"a":1}"#
    );
    assert!(!request.is_stream());
    assert!(request.wants_usage(), "a whole answer says what it cost");
    let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(tools, ["f"]);
    let _: Value = serde_json::from_slice(&request.to_json()).unwrap();
}

#[test]
fn what_is_no_request_is_refused_with_its_place() {
    let cases = [
        ("", "malformed_json", ""),
        ("[]", "malformed_json", ""),
        (
            "{\"messages\":[{\"role\": }]}",
            "malformed_json",
            "messages[0].role",
        ),
        ("{}", "invalid_request", "messages"),
        ("{\"messages\":[]}", "invalid_request", "messages"),
        ("{\"messages\":null}", "invalid_request", "messages"),
        ("{\"messages\":[7]}", "invalid_request", "messages[0]"),
    ];
    let (parts, ()) = http::Request::new(()).into_parts();
    for (body, kind, path) in cases {
        let refusal = OpenAi::read(&parts, Bytes::from(body)).unwrap_err();
        assert_eq!(
            (refusal.status().as_u16(), refusal.kind(), refusal.path()),
            (400, kind, path),
            "{body}"
        );
    }
}

#[test]
fn tool_choice_none_offers_nothing() {
    let body = |choice: &str| {
        json!({
            "messages": [{"role": "user", "content": "x"}],
            "tools": [{"type": "function", "function": {"name": "f", "description": "d"}}],
            "tool_choice": choice,
        })
    };
    assert_eq!(read(&body("auto")).tools().count(), 1);
    assert_eq!(read(&body("none")).tools().count(), 0);
}

#[test]
fn results_are_paired_with_their_calls() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": format!("tool_{id}"), "arguments": arguments}});
    let request = read(&json!({"messages": [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": null, "tool_calls": [call("old", "{}")]},
        {"role": "tool", "tool_call_id": "old", "content": "old result"},
        {"role": "assistant", "content": "answer"},
        {"role": "user", "content": "second"},
        {"role": "assistant", "content": "", "tool_calls": [call("A", "{\"x\":1}"), call("B", "not json")]},
        {"role": "tool", "tool_call_id": "B", "content": [{"type": "text", "text": "result b"}]},
        {"role": "tool", "tool_call_id": "A", "content": "result a"},
        {"role": "assistant", "content": null, "tool_calls": [call("C", "")]},
        {"role": "tool", "tool_call_id": "C", "content": "result c"},
        {"role": "tool", "tool_call_id": "nobody", "content": "orphan", "name": "n"},
    ]}));
    let results: Vec<_> = request
        .results()
        .map(|result| {
            let arguments = result.arguments.map(|json| json.text().to_owned());
            (
                result.call_id.unwrap().into_owned(),
                result.name.into_owned(),
                arguments,
                result.content.into_owned(),
            )
        })
        .collect();
    let row = |id: &str, name: &str, arguments: Option<&str>, content: &str| {
        (
            id.to_owned(),
            name.to_owned(),
            arguments.map(str::to_owned),
            content.to_owned(),
        )
    };
    assert_eq!(
        results,
        [
            row("B", "tool_B", None, "result b"),
            row("A", "tool_A", Some("{\"x\":1}"), "result a"),
            row("C", "tool_C", Some("{}"), "result c"),
            row("nobody", "n", None, "orphan"),
        ]
    );
    let texts: Vec<_> = request
        .messages()
        .map(|message| message.text.into_owned())
        .collect();
    assert_eq!(texts, ["first", "answer", "second"]);
}
