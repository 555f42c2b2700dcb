//! The client's side.

use copilot_wire::json::{Json, Members};
use copilot_wire::protocol::{EventDecoder, EventError, FrameEvent as _};
use copilot_wire::ui_stream::{Data, Event, UiStream};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{decode, fixture};

/// The members of every chunk, with those that it may lack behind the `?`.
const CHUNKS: [(&str, &str); 24] = [
    ("start", "? messageId messageMetadata"),
    ("start-step", "?"),
    ("text-start", "id ?"),
    ("text-delta", "id delta ?"),
    ("text-end", "id ?"),
    ("reasoning-start", "id ?"),
    ("reasoning-delta", "id delta ?"),
    ("reasoning-end", "id ?"),
    ("source-url", "sourceId url ? title"),
    ("source-document", "sourceId mediaType title ? filename"),
    ("file", "url mediaType ?"),
    (
        "tool-input-start",
        "toolCallId toolName ? dynamic providerExecuted",
    ),
    ("tool-input-delta", "toolCallId inputTextDelta ?"),
    (
        "tool-input-available",
        "toolCallId toolName input ? dynamic providerExecuted",
    ),
    (
        "tool-input-error",
        "toolCallId toolName input errorText ? dynamic",
    ),
    (
        "tool-output-available",
        "toolCallId output ? dynamic providerExecuted",
    ),
    (
        "tool-output-error",
        "toolCallId errorText ? dynamic providerExecuted",
    ),
    ("tool-approval-request", "approvalId toolCallId ?"),
    ("tool-output-denied", "toolCallId ?"),
    ("message-metadata", "messageMetadata ?"),
    ("finish-step", "?"),
    ("finish", "? messageMetadata"),
    ("error", "errorText ?"),
    ("data-x", "data ? id transient"),
];

/// A chunk with the first so many of its members, and others that nobody knows.
fn chunk(at: usize, more: usize, text: &str, any: &Value, unknown: &[(String, Value)]) -> Value {
    let (kind, members) = CHUNKS[at % CHUNKS.len()];
    let (required, optional) = members.split_once('?').unwrap();
    let optional = optional.split_whitespace().take(more);
    let mut chunk = json!({"type": kind});
    for name in required.split_whitespace().chain(optional) {
        chunk[name] = match name {
            "input" | "output" | "data" | "messageMetadata" => any.clone(),
            "dynamic" | "providerExecuted" | "transient" => true.into(),
            _ => text.into(),
        };
    }
    for (name, value) in unknown {
        chunk[format!("x-{name}")] = value.clone();
    }
    chunk
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!({"a": [1, {"b": "\u{2028}\n"}]})),
    ]
}

fn stream() -> impl Strategy<Value = Vec<Value>> {
    let unknown = prop::collection::vec(("[a-z]{0,3}", value()), 0..2);
    let one = (0_usize..64, 0_usize..3, ".{0,12}", value(), unknown);
    prop::collection::vec(one, 1..12).prop_map(|all| {
        let chunks = all.iter();
        chunks
            .map(|(at, more, text, any, unknown)| chunk(*at, *more, text, any, unknown))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Written events are read back unchanged, in chunks of any size.
    #[test]
    fn events_come_back(chunks in stream(), size in 1_usize..40) {
        let mut sent = String::new();
        for chunk in &chunks {
            // Raw values come back as they are written: with both separators escaped.
            let chunk = chunk.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
            sent.push_str(&format!("data: {chunk}\n\n"));
        }
        sent.push_str("data: [DONE]\n\n");
        let events = decode(sent.as_bytes());
        prop_assert_eq!(events.len(), chunks.len() + 1);
        let mut written = Vec::new();
        events.iter().for_each(|event| event.write(&mut written));
        let mut decoder = EventDecoder::<UiStream>::new();
        let mut again = Vec::new();
        for mut piece in written.chunks(size) {
            while let Some(event) = decoder.next(&mut piece).unwrap() {
                again.push(event.clone());
            }
        }
        prop_assert_eq!(&again, &events);
        let text = String::from_utf8(written).unwrap();
        for (frame, chunk) in text.split_terminator("\n\n").zip(&chunks) {
            let frame: Value = serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap();
            prop_assert_eq!(&frame, chunk);
        }
    }

    /// Nothing that a server sends makes the reader fail otherwise than with an error.
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), json in value()) {
        let mut decoder = EventDecoder::<UiStream>::new();
        let hostile = format!("data: {json}\n\ndata: {{\"type\":{json}}}\n\n");
        for mut input in [&*bytes, hostile.as_bytes()] {
            while !matches!(decoder.next(&mut input), Ok(None) | Err(EventError::Stream(_))) {}
        }
        let _ = decoder.end();
    }
}

#[test]
fn every_member_that_readers_demand_is_demanded() {
    for (kind, members) in CHUNKS {
        let (required, _) = members.split_once('?').unwrap();
        let at = CHUNKS.iter().position(|(other, _)| *other == kind).unwrap();
        for missing in required.split_whitespace() {
            let mut broken = chunk(at, 0, "x", &json!(1), &[]);
            broken.as_object_mut().unwrap().remove(missing);
            let sent = format!("data: {broken}\n\n");
            let mut decoder = EventDecoder::<UiStream>::new();
            let read = decoder.next(&mut sent.as_bytes());
            assert!(matches!(read, Err(EventError::Invalid(_))), "{broken}");
            // The stream can be read on.
            let next = decoder.next(&mut &b"data: {\"type\":\"finish\"}\n\n"[..]);
            assert!(matches!(next, Ok(Some(Event::Finish(_)))));
        }
    }
}

#[test]
fn what_is_not_a_chunk_is_an_error_and_what_is_not_known_is_kept() {
    for odd in [
        "7",
        "[]",
        "{}",
        "{\"type\":7}",
        "nothing",
        "{\"type\":\"abort\"",
    ] {
        let sent = format!("data: {odd}\n\n");
        let mut decoder = EventDecoder::<UiStream>::new();
        assert!(decoder.next(&mut sent.as_bytes()).is_err(), "{odd}");
    }
    let events =
        decode(b"data: {\"type\":\"reset-step\",\"n\":1.50}\n\ndata: {\"type\":\"abort\"}\n\n");
    let [Event::Unknown(unknown), Event::Abort(_)] = &*events else {
        panic!("{events:?}");
    };
    assert_eq!(unknown.get("n").unwrap().text(), "1.50");
}

/// A page takes a stream that is cut for a complete one; this reader does not.
#[test]
fn a_stream_that_is_cut_is_not_complete() {
    let whole = fixture("parts.sse");
    let cut = whole.split("data: {\"type\":\"finish\",").next().unwrap();
    let mut decoder = EventDecoder::<UiStream>::new();
    let mut input = cut.as_bytes();
    while decoder.next(&mut input).unwrap().is_some() {}
    assert!(matches!(decoder.end(), Err(EventError::Truncated(_))));
    decode(whole.as_bytes());
    decode(fixture("failed-late.sse").as_bytes());
}

#[test]
fn debug_shows_no_text() {
    let mut data = Data::new("x", "s3cret").unwrap();
    data.unknown = Members::from_iter([("y", Json::encode("s3cret").unwrap())]);
    let shown = format!("{:?}", Event::from(data));
    assert!(
        shown.contains("data-x") && !shown.contains("s3cret"),
        "{shown}"
    );
    for chunk in [
        r#"{"type":"text-delta","id":"1","delta":"s3cret"}"#,
        r#"{"type":"source-url","sourceId":"1","url":"s3cret","title":"s3cret"}"#,
        r#"{"type":"source-document","sourceId":"1","mediaType":"a/b","title":"s3cret","filename":"s3cret"}"#,
        r#"{"type":"file","url":"s3cret","mediaType":"a/b"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"1","inputTextDelta":"s3cret"}"#,
        r#"{"type":"tool-input-available","toolCallId":"1","toolName":"f","input":"s3cret"}"#,
        r#"{"type":"tool-output-error","toolCallId":"1","errorText":"s3cret"}"#,
        r#"{"type":"message-metadata","messageMetadata":"s3cret"}"#,
        r#"{"type":"error","errorText":"s3cret","more":"s3cret"}"#,
    ] {
        let sent = format!("data: {chunk}\n\n");
        let mut decoder = EventDecoder::<UiStream>::new();
        let event = decoder.next(&mut sent.as_bytes());
        let shown = format!("{event:?}");
        assert!(
            shown.starts_with("Ok(") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
}
