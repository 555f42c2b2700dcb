//! Decoding of events from agents, from models, and as the platform relays them.

use copilot_wire::github::{ChatRequest, Chunk, Event, GitHub, Output, UnknownEvent};
use copilot_wire::json::Json;
use copilot_wire::protocol::{EventDecoder, EventError, SendError};
use copilot_wire::sse::{Decoder, Frame};
use serde_json::Value;

use crate::events::{decode, encode, opened, text};
use crate::fixtures::{bytes, json, names};

#[test]
fn recorded_streams_are_read_as_recorded() {
    let recorded = json("sse-decoded.json");
    let files = recorded["files"].as_object().unwrap();
    let names = [names("chunk-", ".sse"), names("sse-", ".sse")].concat();
    assert_eq!(names.len(), files.len());
    for name in names {
        let body = bytes(&name);
        let mut input = &body[..];
        let mut decoder = Decoder::new();
        let mut found = Vec::new();
        while let Some(frame) = decoder.next(&mut input).unwrap() {
            let Frame::Event(event) = frame else { continue };
            found.push(serde_json::json!({"event": event.name(), "data": event.data()}));
        }
        assert_eq!(Value::Array(found), files[&name], "{name}");
    }
}

/// Describes an event in a few words.
fn sketch(event: &Event) -> String {
    match event {
        Event::Output(Output::Text(text)) => format!("text {text:?}"),
        Event::Output(Output::References(list)) => {
            format!("references {}", list[0].display_name().unwrap())
        }
        Event::Output(Output::Errors(list)) => {
            format!("errors {} {:?}", list[0].message, list[0].agent)
        }
        Event::Output(Output::Chunk(chunk)) => format!(
            "chunk {:?} {:?}{}",
            chunk.content().unwrap_or_default(),
            chunk.finish_reason().unwrap_or_default(),
            chunk
                .error()
                .map_or(String::new(), |error| format!(" error {error}")),
        ),
        Event::Confirmation(question) => format!("confirmation {}", question.title),
        Event::Finish => "finish".into(),
        Event::Done => "done".into(),
        other => format!("{other:?}"),
    }
}

#[test]
fn recorded_streams_become_typed_events() {
    let cases: &[(&str, &[&str])] = &[
        (
            "sse-hello-world.sse",
            &["text \"Hello, world!\"", "finish", "done"],
        ),
        (
            "sse-full-turn.sse",
            &[
                "text \"\"",
                "text \"Ahoy, \"",
                "text \"matey!\\n\"",
                "references story.go",
                "errors something was skipped None",
                "finish",
                "done",
            ],
        ),
        (
            "sse-confirmation-turn.sse",
            &[
                "text \"\"",
                "confirmation Please confirm?",
                "finish",
                "done",
            ],
        ),
        (
            "sse-proxied-double-done.sse",
            &[
                "text \"\"",
                "chunk \"A closure\" \"\"",
                "chunk \" is a function\" \"\"",
                "chunk \"\" \"stop\"",
                "done",
                "finish",
                "done",
            ],
        ),
        (
            "sse-relayed-to-client.sse",
            &[
                "confirmation Are you sure you want to proceed?",
                "references story.go",
                "errors something was skipped Some(\"tide-agent\")",
                "chunk \"Ahoy\" \"\"",
                "finish",
                "done",
            ],
        ),
        (
            "chunk-error-midstream.sse",
            &[
                "chunk \"Par\" \"\"",
                "chunk \"\" \"\" error The server had an error while processing your request. Sorry about that!",
            ],
        ),
        (
            "chunk-two-choices-logprobs.sse",
            &[
                "chunk \"\" \"\"",
                "chunk \"A\" \"\"",
                "chunk \"\" \"\"",
                "chunk \"\" \"stop\"",
                "chunk \"\" \"\"",
                "done",
            ],
        ),
        (
            "chunk-usage.sse",
            &[
                "chunk \"Hi\" \"\"",
                "chunk \"\" \"stop\"",
                "chunk \"\" \"\"",
                "done",
            ],
        ),
    ];
    for (name, expected) in cases {
        let sketches: Vec<_> = decode(&bytes(name)).iter().map(sketch).collect();
        assert_eq!(sketches, *expected, "{name}");
    }
    // All others are read without an error, and relayed unchanged.
    for name in names("chunk-", ".sse") {
        for event in decode(&bytes(&name)) {
            assert!(
                matches!(event, Event::Output(Output::Chunk(_)) | Event::Done),
                "{name}"
            );
        }
    }
}

#[test]
fn a_chunk_that_says_more_is_kept_whole() {
    // All except the SDK's own two chunks must be written without loss.
    let chunks = [
        r#"{"choices":[{"index":0,"delta":{"content":"a","role":"assistant"}}],"id":""}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a","role":"user"}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"a","role":"assistant"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null,"role":"assistant"}}]}"#,
        r#"{"choices":[{"index":0,"finish_reason":"length","delta":{"content":null}}]}"#,
        r#"{"choices":[{"index":0,"finish_reason":"stop","delta":{}}]}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":null}"#,
        r#"{"choices":null,"copilot_references":[],"copilot_errors":[]}"#,
        r#"{"choices":[],"copilot_references":[]}"#,
        r#"{"choices":null,"copilot_references":"x"}"#,
        r#"{}"#,
    ];
    for chunk in chunks {
        let data = format!("data: {chunk}\n\n");
        let events = decode(data.as_bytes());
        let [Event::Output(Output::Chunk(read))] = events.as_slice() else {
            panic!("{chunk}: {events:?}")
        };
        assert_eq!(read.json().text(), chunk);
        // A chunk that ends the answer is written at the end of the answer.
        let written = encode(&[events.as_slice(), &[Event::Done]].concat());
        assert!(written.starts_with(&data), "{written}");
    }
    // The order of members has no effect.
    let other_order = b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a\"},\"index\":0}]}\n\n";
    assert_eq!(decode(other_order), [text("a")]);
}

#[test]
fn what_is_relayed_in_one_chunk_is_all_there() {
    let chunk = Chunk::new(
        Json::parse(
            r#"{"choices":[],"copilot_confirmation":{"type":"action","title":"t","message":"m","confirmation":{"id":"1"}},"copilot_references":[{"type":"a.b","id":"1"}],"copilot_errors":[{"message":"m"}],"id":"x","model":"y"}"#,
        )
        .unwrap(),
    )
    .unwrap();
    for name in [
        "copilot_confirmation",
        "copilot_references",
        "copilot_errors",
    ] {
        assert!(chunk.get(name).is_some(), "{name}");
    }
    assert_eq!(chunk.content(), None);
    assert!(Chunk::new(Json::parse("[]").unwrap()).is_err());
}

#[test]
fn events_that_break_the_protocol_are_errors_and_the_next_one_is_read() {
    let broken = [
        "event: copilot_confirmation\ndata: []\n\n",
        "event: copilot_references\ndata: {}\n\n",
        "event: copilot_errors\ndata: {}\n\n",
        "event: copilot_errors\ndata: nonsense\n\n",
        "data: []\n\n",
        "data: nonsense\n\n",
        "data: {\"choices\":\n\n",
        "data:\n\n",
    ];
    for event in broken {
        let stream = format!("{event}data: [DONE]\n\n");
        let mut decoder = EventDecoder::<GitHub>::new();
        let mut input = stream.as_bytes();
        let error = decoder.next(&mut input).unwrap_err();
        assert!(
            matches!(error, EventError::Data(_) | EventError::Invalid(_)),
            "{event}"
        );
        assert_eq!(
            decoder.next(&mut input).unwrap(),
            Some(&Event::Done),
            "{event}"
        );
    }
    // Invalid elements do not affect the others.
    let odd = "event: copilot_references\ndata: [7,{\"type\":\"a.b\",\"id\":\"1\"}]\n\n";
    let events = decode(odd.as_bytes());
    let Event::Output(Output::References(list)) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(list[0].kind, "a.b");
    assert_eq!(encode(&events), odd);
}

#[test]
fn events_of_unknown_names_are_kept() {
    let stream = "event: copilot_progress\ndata: {\"a\":1}\n\n";
    let events = decode(stream.as_bytes());
    let [Event::Output(Output::Raw(raw))] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (raw.name.as_str(), raw.data.as_str()),
        ("copilot_progress", "{\"a\":1}")
    );
    assert_eq!(encode(&events), stream);

    // Known clients treat each data line as an event, so several lines cannot be sent.
    let mut session = opened(&ChatRequest::default());
    let mut out = Vec::new();
    let raw = UnknownEvent::new(copilot_wire::event_name!("x"), "one\ntwo");
    let error = session.output(&Output::Raw(raw), &mut out).unwrap_err();
    assert!(matches!(error, SendError::Invalid(_)));
    assert!(out.is_empty());
}
