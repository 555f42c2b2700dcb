//! The client's side.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::mcp::{CallRequest, Event, Mcp};
use copilot_wire::protocol::{EventDecoder, EventError, FrameEvent as _};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{decode, fixture};

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!({"a": [1, {"b": "\u{2028}\n"}]})),
        Just(json!([{"type": "text", "text": "x"}, 1, {"type": "audio"}, {"type": "image"}])),
    ]
}

/// Messages of every kind, with members that are odd or unknown.
fn message() -> impl Strategy<Value = Value> {
    let members = ["id", "method", "params", "result", "error", "unknown"];
    let inner = [
        "progressToken",
        "progress",
        "message",
        "content",
        "isError",
        "resultType",
        "code",
        "inputRequests",
        "requestState",
        "mode",
        "x",
    ];
    let object = prop::collection::btree_map(prop::sample::select(inner.to_vec()), value(), 0..6);
    let object = object.prop_map(|members| json!(members));
    let methods = ["notifications/progress", "elicitation/create", "x/y"];
    let method = prop::option::of(prop::sample::select(methods.to_vec()));
    let members = prop::sample::select(members.to_vec());
    (
        method,
        prop::collection::btree_map(members, prop_oneof![value(), object], 0..4),
    )
        .prop_map(|(method, members)| {
            let mut message = json!(members);
            message["jsonrpc"] = "2.0".into();
            if let Some(method) = method {
                message["method"] = method.into();
            }
            message
        })
}

proptest! {
    #[test]
    fn events_are_decoded_as_they_were_encoded(
        messages in prop::collection::vec(message(), 0..6),
        cut in 1_usize..64,
    ) {
        let mut events = Vec::new();
        for message in &messages {
            // As it is written: with both separators escaped.
            let text = message.to_string().replace('\u{2028}', "\\u2028");
            events.extend(Event::read(&text.replace('\u{2029}', "\\u2029")).unwrap());
        }
        let mut stream = Vec::new();
        for event in &events {
            event.write(&mut stream);
        }
        let mut decoder = EventDecoder::<Mcp>::new();
        let mut decoded = Vec::new();
        for mut chunk in stream.chunks(cut) {
            while let Some(event) = decoder.next(&mut chunk).unwrap() {
                decoded.push(event.clone());
            }
        }
        prop_assert_eq!(&decoded, &events);
        let is_over = events.iter().any(|event| matches!(event, Event::Result(_) | Event::Error(_)));
        prop_assert_eq!(decoder.end().is_ok(), is_over);
    }

    #[test]
    fn requests_are_read_as_they_were_written(
        question in ".{0,20}", handle in ".{0,8}", state in ".{0,8}", accepted: bool, id: u64,
    ) {
        let call = CallRequest::new(id, "ask", &question).conversation(&handle);
        prop_assert_eq!(call.question(), Some(question));
        for call in [call.clone(), call.clone().stateless().progress(id), call.respond(state, accepted)] {
            prop_assert_eq!(&CallRequest::from_json(call.to_json()).unwrap(), &call);
        }
    }
}

#[test]
fn recorded_streams_are_read() {
    for name in [
        "03-claude-call-progress",
        "04-claude-confirm-first",
        "05-claude-confirm-retry",
        "09-codex-call-elicitation",
        "12-copilot-call",
        "14-sdk1-call-iserror",
        "16-aisdk-call",
    ] {
        let recorded: Value = serde_json::from_str(&fixture(&format!("{name}.json"))).unwrap();
        let frames = recorded["response"]["frames"].as_array().unwrap().iter();
        let stream: String = frames.map(|frame| frame.as_str().unwrap()).collect();
        let events = decode(stream.as_bytes());
        let Some(Event::Result(answer)) = events.last() else {
            panic!("{name}: {events:?}");
        };
        let asked = answer.result.question();
        assert_eq!(asked.is_some(), name.ends_with("first"), "{name}");
        assert_eq!(answer.result.is_error, name.ends_with("iserror"), "{name}");
        assert!(
            !events.iter().any(|event| matches!(event, Event::Other(_))),
            "{name}"
        );
    }
}

#[test]
fn a_stream_without_a_result_is_cut() {
    let stream = "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\nid: 1\ndata: \n\n";
    let mut decoder = EventDecoder::<Mcp>::new();
    let mut input = stream.as_bytes();
    let event = decoder.next(&mut input).unwrap().cloned();
    let json = Json::parse(r#"{"jsonrpc":"2.0","method":"x"}"#).unwrap();
    assert_eq!(event, Some(Event::Other(json)));
    assert_eq!(decoder.next(&mut input).unwrap(), None);
    assert!(matches!(decoder.end(), Err(EventError::Truncated(_))));
}

#[test]
fn debug_shows_no_texts() {
    let mut call = CallRequest::new(1, "ask", "secret").respond("secret", true);
    call.params
        .meta
        .unknown
        .push("x", Json::parse("\"secret\"").unwrap());
    assert!(!format!("{call:?}").contains("secret"), "{call:?}");
    let stream = br#"data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"secret"}],"requestState":"secret"}}

data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"message":"secret"}}

"#;
    let events = decode(stream);
    assert!(!format!("{events:?}").contains("secret"), "{events:?}");
}
