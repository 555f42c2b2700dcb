//! Every stream of `fixtures/openai/`, against what the official clients make of it.

use copilot_wire::openai::{ChatCompletion, Event, OpenAi};
use copilot_wire::protocol::EventDecoder;
use serde_json::{Value, json};

use crate::support::Read;

const STREAMS: [(&str, &[u8]); 9] = [
    (
        "chunk-basic.sse",
        include_bytes!("../../fixtures/openai/chunk-basic.sse"),
    ),
    (
        "chunk-error-midstream.sse",
        include_bytes!("../../fixtures/openai/chunk-error-midstream.sse"),
    ),
    (
        "chunk-framing.sse",
        include_bytes!("../../fixtures/openai/chunk-framing.sse"),
    ),
    (
        "chunk-id-then-comment.sse",
        include_bytes!("../../fixtures/openai/chunk-id-then-comment.sse"),
    ),
    (
        "chunk-refusal.sse",
        include_bytes!("../../fixtures/openai/chunk-refusal.sse"),
    ),
    (
        "chunk-tool-calls.sse",
        include_bytes!("../../fixtures/openai/chunk-tool-calls.sse"),
    ),
    (
        "chunk-two-choices-logprobs.sse",
        include_bytes!("../../fixtures/openai/chunk-two-choices-logprobs.sse"),
    ),
    (
        "chunk-usage.sse",
        include_bytes!("../../fixtures/openai/chunk-usage.sse"),
    ),
    (
        "sse-proxied-double-done.sse",
        include_bytes!("../../fixtures/openai/sse-proxied-double-done.sse"),
    ),
];

fn table(text: &str) -> Value {
    let table: Value = serde_json::from_str(text).unwrap();
    let files = table["files"].as_object().unwrap();
    assert_eq!(files.len(), STREAMS.len(), "every stream is in the table");
    table["files"].clone()
}

/// Up to and without what follows the first `[DONE]`, which clients ignore.
fn until_done(bytes: &[u8]) -> Read {
    let text = std::str::from_utf8(bytes).unwrap();
    let end = text.find("[DONE]\n\n").map_or(text.len(), |at| at + 8);
    Read::all(&text.as_bytes()[..end])
}

#[test]
fn streams_read_as_the_official_clients_read_them() {
    let results = table(include_str!("../../fixtures/openai/client-results.json"));
    for (name, bytes) in STREAMS {
        let expected = &results[name]["npm"];
        let read = until_done(bytes);
        assert_eq!(read.chunks.len(), expected["chunks"], "{name}");
        match expected.get("error") {
            Some(error) => {
                let ours = read.error.as_ref().unwrap();
                assert_eq!(format!("APIError: {}", ours.message), *error, "{name}");
                assert_eq!(
                    serde_json::to_value(ours).unwrap(),
                    expected["body"],
                    "{name}"
                );
                assert_eq!(read.done, 0, "{name}");
            }
            None => {
                assert_eq!((&read.error, read.done), (&None, 1), "{name}");
                let choices = read.chunks.iter().flat_map(|chunk| &chunk.choices);
                let text: String = choices
                    .filter_map(|choice| choice.delta.content.as_deref())
                    .collect();
                assert_eq!(text, expected["text"].as_str().unwrap(), "{name}");
                assert_eq!(
                    as_npm(&read.completion()),
                    strip(&expected["final"]),
                    "{name}"
                );
            }
        }
    }
}

/// A completion in the form that the accumulating helper of the Node client hands out, without
/// nulls.
fn as_npm(completion: &ChatCompletion) -> Value {
    let choices = completion.choices.iter().map(|choice| {
        json!({
            "index": choice.index,
            "finish_reason": choice.finish_reason,
            "message": choice.message,
        })
    });
    strip(&json!({"choices": choices.collect::<Vec<_>>(), "usage": completion.usage}))
}

fn strip(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), strip(value)))
            .collect(),
        Value::Array(list) => list.iter().map(strip).collect(),
        other => other.clone(),
    }
}

#[test]
fn chunks_are_written_back_whole() {
    let decoded = table(include_str!("../../fixtures/openai/decoded.json"));
    for (name, bytes) in STREAMS {
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut input = bytes;
        for expected in decoded[name].as_array().unwrap() {
            let data = expected["data"].as_str().unwrap();
            match decoder.next(&mut input).unwrap().unwrap() {
                Event::Done => assert_eq!(data, "[DONE]", "{name}"),
                Event::Error(error) => {
                    let data: Value = serde_json::from_str(data).unwrap();
                    assert_eq!(json!({"error": error}), data, "{name}");
                }
                Event::Chunk(chunk) => {
                    let mut data: Value = serde_json::from_str(data).unwrap();
                    // The short form lacks it.
                    data["object"] = "chat.completion.chunk".into();
                    let ours = strip(&serde_json::to_value(chunk).unwrap());
                    assert_eq!(ours, strip(&data), "{name}");
                }
                _ => panic!("unknown event"),
            }
        }
        assert_eq!(decoder.next(&mut input).unwrap(), None, "{name}");
    }
}

#[test]
fn chunk_borders_make_no_difference() {
    for (name, bytes) in STREAMS {
        let whole = Read::all(bytes);
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut chunks = Vec::new();
        for byte in bytes {
            let mut input = std::slice::from_ref(byte);
            while let Some(event) = decoder.next(&mut input).unwrap() {
                if let Event::Chunk(chunk) = event {
                    chunks.push(chunk.clone());
                }
            }
        }
        assert_eq!(chunks, whole.chunks, "{name}");
    }
}

#[test]
fn odd_events_are_read_as_far_as_they_go() {
    let read = |data: &str| {
        let stream = format!("data: {data}\n\n");
        let mut input = stream.as_bytes();
        EventDecoder::<OpenAi>::new()
            .next(&mut input)
            .map(|event| event.unwrap().clone())
    };
    let chunk = |data: &str| match read(data).unwrap() {
        Event::Chunk(chunk) => chunk,
        other => panic!("{other:?}"),
    };
    // A finish reason of empty text is none; choices may be null, missing or odd.
    let odd = chunk(r#"{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}"#);
    assert_eq!(odd.choices[0].delta.content.as_deref(), Some("a"));
    assert_eq!(odd.choices[0].finish_reason, None);
    for choices in [
        "null",
        "{}",
        "[]",
        "[7,null,\"x\"]",
        "[{\"index\":-1}]",
        "[{\"index\":99999999999}]",
    ] {
        assert!(
            chunk(&format!(r#"{{"choices":{choices}}}"#))
                .choices
                .is_empty(),
            "{choices}"
        );
    }
    assert!(
        chunk(r#"{"id":null,"created":null,"model":null}"#)
            .choices
            .is_empty()
    );
    // Content in parts, and arguments that are an object and not its text.
    let odd = chunk(
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]}}]}"#,
    );
    assert_eq!(odd.choices[0].delta.content.as_deref(), Some("a"));
    let function = odd.choices[0].delta.tool_calls[0]
        .function
        .as_ref()
        .unwrap();
    assert_eq!(function.arguments.as_deref(), Some(r#"{"x":1}"#));
    // What counts as an error, and what of it is read.
    let error = |data: &str| match read(data).unwrap() {
        Event::Error(error) => (error.message, error.kind, error.code),
        other => panic!("{other:?}"),
    };
    let unsaid = "An error occurred during streaming";
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(error(r#"{"error":"boom"}"#), ("boom".into(), None, None));
    assert_eq!(
        error(r#"{"error":{"message":"m","type":5,"code":429}}"#),
        ("m".into(), some("5"), some("429"))
    );
    assert_eq!(
        error(r#"{"error":{"message":["x"],"code":null}}"#),
        (unsaid.into(), None, None)
    );
    assert_eq!(error(r#"{"error":true}"#), (unsaid.into(), None, None));
    for falsy in ["null", "false", "0", "\"\""] {
        chunk(&format!(r#"{{"error":{falsy},"choices":[]}}"#));
    }
    // The end, as the official clients see it; and what is no chunk at all.
    assert_eq!(read("[DONE]").unwrap(), Event::Done);
    assert_eq!(read(" [DONE] and more").unwrap(), Event::Done);
    for bad in ["[]", "7", "{", "{} {}", "\"[DONE]\""] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
