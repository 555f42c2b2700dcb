//! Requests as agents see them, those of real clients among them.

use bytes::Bytes;
use copilot_wire::agent_fn;
use copilot_wire::json::Json;
use copilot_wire::protocol::{AttachmentContent, Conversation, HistoryItem, Protocol, Role};
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
fn a_text_is_one_message_of_the_user() {
    let request = request(r#"{"model":"m","instructions":"Be kind.","input":"hi"}"#);
    let messages: Vec<_> = request.messages().collect();
    assert_eq!(messages.len(), 2);
    assert_eq!(
        (messages[0].role, &*messages[0].text),
        (Role::System, "Be kind.")
    );
    assert_eq!(request.prompt().unwrap(), "hi");
    assert!(!request.is_stream());
}

#[test]
fn a_conversation_is_read_whole() {
    let request = request(&fixture("req_conversation.json"));
    let kinds: Vec<_> = request
        .history()
        .map(|item| match item {
            HistoryItem::Message(message) => format!("{:?}: {}", message.role, message.text),
            HistoryItem::Attachment(file) => format!("{:?} {:?}", file.name, file.content),
            HistoryItem::Call(call) => format!("{} {}", call.name, call.arguments),
            HistoryItem::Result(result) => format!("result: {}", result.content),
            _ => panic!(),
        })
        .collect();
    let base64 = AttachmentContent::Base64("AAAA".into());
    let id = AttachmentContent::Id("file_1".into());
    let url = AttachmentContent::Url("https://a.example/x.png".into());
    assert_eq!(
        kinds,
        [
            "System: Be kind.".to_owned(),
            "System: Be brief.".to_owned(),
            r#"Other: {"type":"input_tomorrow","x":1}"#.to_owned(),
            "Other: 7".to_owned(),
            "User: What\nis this?".to_owned(),
            format!("None {base64:?}"),
            format!("Some(\"a.pdf\") {id:?}"),
            r#"Assistant: {"id":"ws_1","type":"web_search_call","status":"completed"}"#.to_owned(),
            "Assistant: Let me look.\nOr not.".to_owned(),
            "Other: odd".to_owned(),
            "one {\"a\":1}".to_owned(),
            "two ".to_owned(),
            "three {".to_owned(),
            "result: second".to_owned(),
            format!("None {url:?}"),
            "result: first".to_owned(),
            "result: ".to_owned(),
            "result: whose?".to_owned(),
        ]
    );
    let results: Vec<_> = request
        .results()
        .map(|result| {
            let arguments = result.arguments.map(|json| json.text().to_owned());
            (result.name.into_owned(), arguments)
        })
        .collect();
    let of = |name: &str, arguments: Option<&str>| (name.to_owned(), arguments.map(str::to_owned));
    assert_eq!(
        results,
        [
            of("two", Some("{}")),
            of("one", Some("{\"a\":1}")),
            of("three", None),
            of("", None)
        ]
    );
}

#[test]
fn functions_and_free_text_are_tools() {
    let request = request(
        r#"{"input":"hi","tools":[
            {"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false},
            {"type":"namespace","name":"n","tools":[{"type":"function","name":"inner"}]},
            {"type":"web_search"},{"type":"custom","name":"c"},{"type":"local_shell"},
            {"type":"mcp","server_label":"s"},{"type":"function"},{"type":"function","name":""},7]}"#,
    );
    let tools: Vec<_> = request.tools().collect();
    assert_eq!(tools.len(), 3);
    // A function with one argument.
    assert_eq!(tools[2].name, "c");
    assert_eq!(
        tools[2].parameters.as_ref().unwrap().text(),
        r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#
    );
    // With the name of its namespace.
    assert_eq!(tools[1].name, "n__inner");
    assert_eq!((&*tools[0].name, &*tools[0].description), ("f", "d"));
    assert_eq!(
        tools[0].parameters.as_ref().unwrap().text(),
        r#"{"type":"object"}"#
    );
}

#[test]
fn tools_that_a_search_has_found_are_offered() {
    let body = |choice: &str| {
        format!(
            r#"{{"tool_choice":"{choice}","tools":[{{"type":"function","name":"f"}},{{"type":"tool_search"}}],"input":[
            {{"type":"additional_tools","role":"developer","tools":[{{"type":"function","name":"later"}},{{"type":"custom","name":"c"}}]}},
            {{"type":"tool_search_output","call_id":"c","tools":[
                {{"type":"namespace","name":"n","tools":[{{"type":"function","name":"found","description":"d"}}]}}]}},
            {{"type":"message","role":"user","content":"hi","tools":[{{"type":"function","name":"no"}}]}}]}}"#
        )
    };
    let known = request(&body("auto"));
    let names: Vec<_> = known.tools().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(names, ["f", "later", "n__found"]);
    assert_eq!(request(&body("none")).tools().count(), 0);
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
fn what_was_recorded_is_written_again() {
    for name in ["codex-01.json", "codex-02.json", "copilot-01.json"] {
        let body = fixture(name);
        let written = request(&body).to_json();
        let again: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(
            again,
            serde_json::from_str::<Value>(&body).unwrap(),
            "{name}"
        );
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
