//! Requests of pages of every version, recorded with `tests/interop/ui-stream/record.mjs`.

use bytes::Bytes;
use copilot_wire::protocol::{Conversation, HistoryItem, Message, Protocol, Role, Tool};
use copilot_wire::ui_stream::{ChatRequest, Mount, Trigger, UiStream};
use serde_json::{Value, json};

use crate::support::{agent, fixture, post, router};

fn read(body: &str) -> ChatRequest {
    let (parts, ()) = http::Request::post("/api/chat")
        .body(())
        .unwrap()
        .into_parts();
    UiStream::read(&parts, Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

fn messages(request: &ChatRequest) -> Vec<(Role, String)> {
    let said = |message: Message<'_>| (message.role, message.text.into_owned());
    request.messages().map(said).collect()
}

#[test]
fn every_recorded_request_is_read_and_written_again() {
    let folder = format!("{}/fixtures/ui-stream", env!("CARGO_MANIFEST_DIR"));
    let mut read_ones = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".json") {
            continue;
        }
        read_ones += 1;
        let body = fixture(&name);
        let request = read(&body);
        let sent: Value = serde_json::from_str(&body).unwrap();
        let written: Value = serde_json::from_slice(&request.to_json()).unwrap();
        assert_eq!(sent, written, "{name}");
        let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
        let id = UiStream::conversation_id(&request, &parts.headers);
        let expected = (name != "req-odd.json").then_some("chat-1");
        assert_eq!(id.as_deref(), expected, "{name}");
    }
    assert!(read_ones > 15);
}

#[test]
fn a_text() {
    for version in ["5.0.0", "5", "6", "7"] {
        let request = read(&fixture(&format!("req-text-{version}.json")));
        assert_eq!(request.trigger, Trigger::SubmitMessage);
        assert_eq!(messages(&request), [(Role::User, "Hi".to_owned())]);
        assert_eq!(request.prompt().as_deref(), Some("Hi"));
        assert_eq!(request.results().count(), 0);
        assert_eq!(request.dialog_decision(), None);
    }
    let again = read(&fixture("req-regenerate-7.json"));
    assert_eq!(again.trigger, Trigger::RegenerateMessage);
    assert_eq!(again.prompt().as_deref(), Some("What is this?"));
    // A trigger that is not known, and members of the page's own.
    let odd = read(&fixture("req-odd.json"));
    assert_eq!(odd.prompt().as_deref(), Some("What is this?"));
    assert!(odd.unknown.get("user").is_some());
}

#[test]
fn the_result_of_a_tool() {
    for version in ["5.0.0", "5", "6", "7"] {
        let request = read(&fixture(&format!("req-tool-output-{version}.json")));
        let results: Vec<_> = request.results().collect();
        // The agent ran the other tool itself.
        let [location] = &*results else {
            panic!("{version}: {results:?}");
        };
        assert_eq!(location.name, "getLocation");
        assert_eq!(location.call_id.as_deref(), Some("c1"));
        assert_eq!(location.content, r#"{"place":"Brest"}"#);
        assert_eq!(
            location.arguments.as_ref().unwrap().text(),
            r#"{"exact":true}"#
        );
        assert!(!location.failed);
        assert_eq!(request.prompt().as_deref(), Some("Where am I?"));
        let said = messages(&request);
        assert!(said.contains(&(Role::Assistant, "One moment.".to_owned())));
    }
    for version in ["5", "6", "7"] {
        let request = read(&fixture(&format!("req-tool-failure-{version}.json")));
        let result = request.results().last().unwrap();
        assert_eq!((&*result.content, result.failed), ("no permission", true));
    }
}

#[test]
fn the_answer_to_an_approval_request() {
    for version in ["6", "7"] {
        for (answer, accepted) in [("yes", true), ("no", false)] {
            let request = read(&fixture(&format!("req-approval-{answer}-{version}.json")));
            let answer = request.dialog_decision().unwrap();
            assert_eq!((&*answer.id, answer.accepts("q1")), ("q1", accepted));
            assert_eq!(answer.data.unwrap().text(), r#"{"page":7}"#);
            // The question is no tool.
            assert_eq!(request.results().count(), 0);
        }
    }
}

/// The history in lines.
fn history(request: &ChatRequest) -> Vec<String> {
    let line = |item: HistoryItem<'_>| match item {
        HistoryItem::Message(said) => format!("{}: {}", said.role.as_str(), said.text),
        HistoryItem::Call(call) => format!("call {:?} {} {}", call.id, call.name, call.arguments),
        HistoryItem::Result(result) => format!("result {:?} {}", result.call_id, result.content),
        HistoryItem::Attachment(file) => {
            format!("{:?} {:?} {:?}", file.name, file.media_type, file.content)
        }
        _ => "?".to_owned(),
    };
    request.history().map(line).collect()
}

#[test]
fn the_history_has_calls_results_and_files() {
    let request = read(&fixture("req-tool-output-6.json"));
    let expected = [
        "user: Where am I?",
        concat!(
            r#"assistant: {"type":"source-url","url":"https://example.com/","sourceId":"1","title":"A page"}"#,
            "\n",
            r#"{"type":"data-table","data":{"name":"T","rows":[]}}"#,
        ),
        r#"call Some("c0") search {"q":"tides"}"#,
        r#"result Some("c0") ["a page"]"#,
        "assistant: One moment.",
        r#"call Some("c1") getLocation {"exact":true}"#,
        r#"result Some("c1") {"place":"Brest"}"#,
    ];
    assert_eq!(history(&request), expected);
    let request = read(&fixture("req-files-7.json"));
    let expected = [
        "user: Hi",
        "assistant: Hello.",
        "user: What is this?",
        r#"Some("notes.txt") Some("text/plain") Base64("VGlkZXMgdHVybi4=")"#,
        r#"None Some("image/png") Url("https://example.com/a.png")"#,
    ];
    assert_eq!(history(&request), expected);
    let request = read(&fixture("req-approval-yes-6.json"));
    assert_eq!(
        history(&request),
        ["user: Delete it", "assistant: Delete?\n\nAll of it."]
    );
}

#[test]
fn calls_that_were_made_together_stand_together() {
    let tool = |id: &str, output: i32| json!({"type": "tool-f", "toolCallId": id, "state": "output-available", "output": output});
    let step = json!({"type": "step-start"});
    let request = assistant(
        &json!([step, tool("a", 1), tool("b", 2), step, tool("c", 3)]),
        None,
    );
    let lines = history(&request);
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "user:", "call", "call", "result", "result", "call", "result"
        ]
    );
}

/// What the user wrote while the agent answered is neither the agent's nor a prompt.
#[test]
fn a_steering_message_has_its_place() {
    let request = assistant(
        &json!([
            {"type": "text", "text": "I look."},
            {"type": "steering-message", "id": "s", "parts": [
                {"type": "text", "text": "Only Brest."},
                {"type": "file", "mediaType": "image/png", "url": "https://example.com/a.png"},
            ]},
            {"type": "text", "text": "It is high."},
        ]),
        None,
    );
    let expected = [
        "assistant: I look.",
        "user: Only Brest.",
        r#"None Some("image/png") Url("https://example.com/a.png")"#,
        "assistant: It is high.",
    ];
    assert_eq!(history(&request)[1..], expected);
    assert_ne!(request.prompt().as_deref(), Some("Only Brest."));
}

/// A user's message with these parts.
fn with(parts: &Value) -> ChatRequest {
    assistant(&json!([]), Some(parts))
}

fn assistant(parts: &Value, then: Option<&Value>) -> ChatRequest {
    let mut messages = vec![
        json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}),
        json!({"id": "a1", "role": "assistant", "parts": parts}),
    ];
    messages.extend(then.map(|parts| json!({"id": "u2", "role": "user", "parts": parts})));
    read(&json!({"messages": messages}).to_string())
}

#[test]
fn every_part_of_the_table_is_read() {
    // What is not text, and what nobody knows, is no part of the user's words.
    let odd = json!([
        {"type": "text", "text": "one"},
        {"type": "reasoning", "text": "hm", "state": "done"},
        {"type": "file", "mediaType": "image/png", "url": "https://example.com/a.png"},
        {"type": "source-url", "sourceId": "1", "url": "https://example.com/"},
        {"type": "source-document", "sourceId": "2", "mediaType": "file", "title": "T"},
        {"type": "step-start"},
        {"type": "data-x", "data": 1},
        {"type": "custom"},
        {"type": "reasoning-file"},
        {"type": "steering-message"},
        {"type": "text", "text": ""},
        {"type": "text", "text": 7},
        {"type": "text", "text": "two"},
    ]);
    let request = with(&odd);
    assert_eq!(request.prompt().as_deref(), Some("one\n\ntwo"));
}

#[test]
fn every_state_of_a_tool_is_read() {
    let tool = |state: &str| {
        json!({
            "type": "tool-f", "toolCallId": "c", "state": state, "input": {"a": 1},
            "output": "out", "errorText": "bad", "approval": {"id": "q", "approved": true},
        })
    };
    for (state, expected) in [
        ("input-streaming", None),
        ("input-available", None),
        ("approval-requested", None),
        ("approval-responded", None),
        ("output-available", Some(("out", false))),
        ("output-error", Some(("bad", true))),
        ("output-denied", Some(("The user denied this call.", true))),
        ("tomorrow", None),
    ] {
        let request = assistant(&json!([tool(state)]), None);
        let results: Vec<_> = request.results().collect();
        let found = results
            .first()
            .map(|result| (&*result.content, result.failed));
        assert_eq!(found, expected, "{state}");
        // A tool of the agent's own is no question of the shared vocabulary.
        assert_eq!(request.dialog_decision(), None, "{state}");
        // Behind the newest message of the user nothing has come yet.
        let later = assistant(
            &json!([tool(state)]),
            Some(&json!([{"type": "text", "text": "x"}])),
        );
        assert_eq!(later.results().count(), 0, "{state}");
    }
    let mut running = tool("output-available");
    running["preliminary"] = true.into();
    assert_eq!(assistant(&json!([running]), None).results().count(), 0);
    let dynamic = json!({"type": "dynamic-tool", "toolName": "g", "toolCallId": "c",
        "state": "output-available", "input": null, "output": null});
    let request = assistant(&json!([dynamic]), None);
    let result = request.results().next().unwrap();
    assert_eq!((&*result.name, &*result.content), ("g", "null"));
}

#[test]
fn a_settled_question_is_answered_no_more() {
    for state in ["approval-requested", "output-available", "output-denied"] {
        let part = json!({"type": "dynamic-tool", "toolName": "confirm", "toolCallId": "c",
            "state": state, "input": {}, "approval": {"id": "q", "approved": true}});
        let request = assistant(&json!([part]), None);
        assert_eq!(request.dialog_decision(), None, "{state}");
        assert_eq!(request.results().count(), 0, "{state}");
    }
    // An answer that the user talked on after counts no more.
    let part = json!({"type": "dynamic-tool", "toolName": "confirm", "toolCallId": "c",
        "state": "approval-responded", "input": {}, "approval": {"id": "q", "approved": true}});
    let later = assistant(
        &json!([part]),
        Some(&json!([{"type": "text", "text": "x"}])),
    );
    assert_eq!(later.dialog_decision(), None);
}

#[test]
fn tools_come_with_the_request_or_from_the_mount() {
    let body = json!({
        "system": "Be brief.",
        "tools": {"f": {"description": "F", "parameters": {"type": "object"}}, "g": {}},
        "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}],
    });
    let request = read(&body.to_string());
    assert_eq!(
        messages(&request)[0],
        (Role::System, "Be brief.".to_owned())
    );
    let tools: Vec<_> = request.tools().collect();
    assert_eq!((&*tools[0].name, &*tools[0].description), ("f", "F"));
    assert_eq!(
        tools[0].parameters.as_ref().unwrap().text(),
        r#"{"type":"object"}"#
    );
    assert_eq!((&*tools[1].name, tools.len()), ("g", 2));

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
    let shown = format!("{:?}", with(&parts));
    assert!(
        shown.contains("data-x") && !shown.contains("s3cret"),
        "{shown}"
    );
}
