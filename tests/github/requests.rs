//! Requests: the accessors return the values of GitHub's SDK, also where the SDK throws or drops
//! data.

use copilot_wire::github::{
    ChatRequest, ConfirmationDecision, Content, GitHub, Message, Reference,
};
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{Conversation, Verdict};
use serde_json::{Value, json};

use crate::fixtures::{bytes, json as fixture, request, requests};

fn parse(body: &str) -> ChatRequest {
    ChatRequest::from_json(body).expect(body)
}

#[test]
fn accessors_agree_with_the_sdk() {
    let expected = fixture("req-expected.json");
    for (name, request) in requests() {
        let expected = &expected[&name];
        let size = expected["bytes"].as_u64().unwrap();
        assert_eq!(bytes(&name).len() as u64, size, "{name}");

        // The SDK returns an array of parts unchanged; here it is text.
        let user_message = match &expected["getUserMessage"]["value"] {
            Value::Array(parts) => parts[0]["text"].clone(),
            text => text.clone(),
        };
        assert_eq!(json!(request.user_message()), user_message, "{name}");

        let answer = request.decisions().next();
        let answer = answer.map(|answer| {
            let metadata = serde_json::to_value(answer.metadata()).unwrap();
            json!({"accepted": answer.is_accepted(), "id": answer.id(), "metadata": metadata})
        });
        let wanted = &expected["getUserConfirmation"];
        match answer {
            Some(answer) => assert_eq!(answer, wanted["value"], "{name}"),
            None => assert_eq!(wanted["result"], "undefined", "{name}"),
        }

        // All data of the SDK is present, and the data that it drops too.
        let transformed: Value = serde_json::from_slice(&request.to_openai()).unwrap();
        let ours = transformed["messages"].as_array().unwrap();
        let theirs = &expected["transformPayloadForOpenAICompatibility"]["value"]["messages"];
        assert_eq!(ours.len(), theirs.as_array().unwrap().len(), "{name}");
        for (ours, theirs) in ours.iter().zip(theirs.as_array().unwrap()) {
            for (key, value) in theirs.as_object().unwrap() {
                assert_eq!(&ours[key], value, "{name}: {key}");
            }
            let no_copilot = |key: &String| !key.starts_with("copilot_");
            assert!(ours.as_object().unwrap().keys().all(no_copilot), "{name}");
        }
    }
}

#[test]
fn tool_calls_survive_where_the_sdk_loses_them() {
    let request = request("req-tool-messages.json");
    let openai: Value = serde_json::from_slice(&request.to_openai()).unwrap();
    let recorded = fixture("req-tool-messages.json");
    assert_eq!(openai["messages"], recorded["messages"]);

    let calls: Vec<_> = request.messages[2].function_calls().collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].id.as_deref(), Some("call_1"));
    assert_eq!(calls[0].name, "get_weather");
    assert_eq!(calls[0].arguments, r#"{"city":"Brest"}"#);
    assert_eq!(
        request.messages[3].tool_call_id().as_deref(),
        Some("call_1")
    );
}

#[test]
fn a_changed_request_has_each_member_once() {
    let mut request = request("req-nulls.json");
    request.thread_id = Some("t-1".into());
    request.agent = Some("tide-agent".into());
    request.messages[1]
        .references
        .push(Reference::bare("a.b", "1"));
    request.messages.iter_mut().next().unwrap().content = Content::from("hello");
    let written = String::from_utf8(request.to_json().to_vec()).unwrap();
    assert_eq!(written.matches("copilot_thread_id").count(), 1);
    assert_eq!(written.matches("\"agent\"").count(), 1);
    assert_eq!(written.matches("copilot_references").count(), 2);
    assert_eq!(written.matches("\"content\"").count(), 2);
}

#[test]
fn a_client_writes_what_a_server_reads() {
    let mut message = Message::new("user", "explain \"this\"\n");
    let file = json!({"language": "rust", "content": "fn main() {}"});
    let mut reference = Reference::bare("client.file", "src/main.rs");
    reference.is_implicit = Some(true);
    reference.data = Some(Json::encode(&file).unwrap());
    message.references.push(reference);
    let confirmation = Json::encode(&json!({"id": "q-1", "n": 1})).unwrap();
    message
        .confirmations
        .push(ConfirmationDecision::accepted(confirmation));
    let mut request = ChatRequest::new([message]);
    request.thread_id = Some("t-1".into());
    let read = ChatRequest::from_json(request.to_json()).unwrap();
    assert_eq!(read, request);
    assert_eq!(read.documents().next().unwrap().content, "fn main() {}");
    assert_eq!(read.dialog_decision().unwrap().verdict, Verdict::Accepted);
}

#[test]
fn what_the_sdk_throws_on_is_nothing() {
    // An empty list of messages, and an answer whose confirmation is null.
    let empty = parse(r#"{"messages":[]}"#);
    assert_eq!(empty.user_message(), None);
    assert_eq!(empty.prompt(), None);
    assert_eq!(empty.decisions().count(), 0);
    let null = parse(
        r#"{"messages":[{"role":"user","content":"","copilot_confirmations":[{"state":"accepted","confirmation":null}]}]}"#,
    );
    let answer = null.dialog_decision().unwrap();
    assert!(answer.accepts(""));
    assert_eq!(answer.data, None);
    for body in ["{}", r#"{"messages":null}"#, r#"{"messages":{}}"#] {
        assert!(parse(body).messages.is_empty(), "{body}");
    }
}

#[test]
fn numbers_of_zero_are_not_set() {
    let nulls = request("req-nulls.json").sampling();
    let web = request("req-web-genuine.json").sampling();
    assert_eq!(nulls, web);
    assert_eq!(
        (web.temperature, web.max_tokens, web.stop.len()),
        (None, None, 0)
    );
    let request = request("req-unknown-extras.json");
    let sampling = request.sampling();
    assert_eq!(sampling.temperature, Some(0.2));
    assert_eq!(sampling.top_p, Some(0.95));
    assert_eq!(sampling.frequency_penalty, Some(-0.5));
    assert_eq!(sampling.presence_penalty, None);
    assert_eq!(sampling.max_tokens, Some(4096));
    assert_eq!(sampling.stop, ["END", "STOP"]);
    assert_eq!(request.skills().collect::<Vec<_>>(), ["bing-search"]);
    let other = parse(r#"{"messages":[],"stop":"x","max_tokens":10.0,"temperature":"hot"}"#);
    assert_eq!(other.sampling().stop, ["x"]);
    assert_eq!(other.sampling().max_tokens, Some(10));
    assert_eq!(other.sampling().temperature, None);
}

#[test]
fn answers_count_on_the_last_message_only() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Flag {
        id: String,
        other: String,
        nested: Nested,
    }
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Nested {
        attempt: u32,
        tags: Vec<String>,
    }
    let request = request("req-confirmation-accepted.json");
    let answer = request.decisions().next().unwrap();
    let flag: Flag = answer.decode().unwrap();
    assert_eq!(flag.nested.attempt, 2);
    assert!(answer.decode::<Vec<u8>>().is_err());
    let answer = request.dialog_decision().unwrap();
    assert!(answer.accepts("id-123"));
    let data: Flag = answer.data.unwrap().decode().unwrap();
    assert_eq!(data, flag);

    let several = parse(
        r#"{"messages":[{"role":"user","content":"","copilot_confirmations":[{"state":"dismissed","confirmation":{"id":"1"}},3,{"state":"accepted","confirmation":{"owner":"o","repo":"r"}},{"state":"ACCEPTED","confirmation":{"id":"3"}}]}]}"#,
    );
    let states: Vec<_> = several
        .decisions()
        .map(|answer| (answer.id().map(String::from), answer.is_accepted()))
        .collect();
    let id = |id: &str| Some(id.to_owned());
    assert_eq!(states, [(id("1"), false), (None, true), (id("3"), false)]);

    let old = parse(
        r#"{"messages":[{"role":"user","content":"","copilot_confirmations":[{"state":"accepted","confirmation":{"id":"1"}}]},{"role":"assistant","content":"done"},{"role":"user","content":"and now?","copilot_confirmations":[]}]}"#,
    );
    assert_eq!(old.decisions().count(), 0);
    assert_eq!(old.dialog_decision(), None);
}

#[test]
fn debug_shows_no_content_and_no_token() {
    let request = request("req-vscode-editor-context.json");
    let debug = format!("{request:?}");
    assert!(!debug.contains("println"), "{debug}");
    assert!(!debug.contains("explain"), "{debug}");
    assert!(debug.contains("client.file"), "{debug}");

    let mut http = http::Request::new(());
    http.headers_mut()
        .insert("x-github-token", "ghu_secret".parse().unwrap());
    let (parts, ()) = http.into_parts();
    let request = copilot_wire::Request::<GitHub>::from_parts(parts, request);
    let debug = format!("{request:?}");
    assert!(!debug.contains("ghu_secret"), "{debug}");
}
