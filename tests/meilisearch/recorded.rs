//! Every recorded stream gives the expected outcome, with any chunk boundaries.

use copilot_wire::meilisearch::{Event, StreamOutcome, Tools};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{Read, decode, encode, fixture, fixture_json, recordings, text, whole};

/// Converts the outcome to the form of `expected.json`.
fn summary(read: &Read, expected: &Value) -> Value {
    assert_eq!(read.errors, [""; 0]);
    let mut summary = Map::new();
    summary.insert("text".into(), text(&read.events).into());
    summary.insert("rounds".into(), read.rounds.clone().into());
    let refusal: String = read
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Refusal(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if expected.get("refusal").is_some() || !refusal.is_empty() {
        summary.insert("refusal".into(), refusal.into());
    }
    let mut notifications = Vec::new();
    let mut errors = Vec::new();
    let mut reasons = Vec::new();
    for event in &read.events {
        match event {
            Event::Progress(progress) => notifications.push(json!({
                "name": "_meiliSearchProgress",
                "call_id": progress.call_id,
                "function_name": progress.function_name,
                "function_arguments": progress.function_arguments,
                "arguments_are_json": progress.search().is_ok(),
            })),
            Event::Sources(sources) => notifications.push(json!({
                "name": "_meiliSearchSources",
                "call_id": sources.call_id,
                "count": sources.iter().count(),
                "ids": sources
                    .iter()
                    .map(|document| document.get("id").unwrap().as_u64().unwrap())
                    .collect::<Vec<_>>(),
            })),
            Event::Append(append) => {
                let message = &append.message;
                let keys: Vec<_> = message
                    .json()
                    .members()
                    .map(|(key, _)| key.into_owned())
                    .collect();
                let calls: Vec<_> = message
                    .tool_calls()
                    .into_iter()
                    .map(|call| call.id)
                    .collect();
                notifications.push(match message.role() {
                    "assistant" => json!({
                        "name": "_meiliAppendConversationMessage",
                        "role": "assistant", "calls": calls, "keys": keys,
                    }),
                    role => json!({
                        "name": "_meiliAppendConversationMessage",
                        "role": role,
                        "tool_call_id": message.tool_call_id(),
                        "content": message.text(),
                        "keys": keys,
                    }),
                });
            }
            Event::Error(failure) => errors.push(json!({
                "type": failure.kind,
                "code": failure.code,
                "message": failure.message,
                "terminal": failure.is_terminal(),
            })),
            Event::Finish(reason) => reasons.push(reason.as_str()),
            Event::Unknown(unknown) => panic!("{unknown:?}"),
            _ => {}
        }
    }
    summary.insert("notifications".into(), notifications.into());
    summary.insert("errors".into(), errors.into());
    summary.insert("finish_reasons".into(), reasons.into());
    summary.insert("done".into(), read.done.into());
    summary.insert("retry_ms".into(), read.retry.into());
    let outcome = match &read.outcome {
        StreamOutcome::Answered(_) => "ok",
        StreamOutcome::Failed(_) => "error",
        StreamOutcome::Incomplete => "incomplete",
        StreamOutcome::Truncated => "truncated",
        other => panic!("{other:?}"),
    };
    summary.insert("outcome".into(), outcome.into());
    Value::Object(summary)
}

#[test]
fn every_recording_decodes_as_expected() {
    let expected = fixture_json("recorded/expected.json");
    let names = recordings();
    assert!(names.iter().eq(expected.as_object().unwrap().keys()));
    for name in names {
        let stream = fixture(&format!("recorded/{name}/stream.sse"));
        // Byte by byte every round is visible; with one chunk only the last one.
        let single = decode(&stream, &[1]);
        assert_eq!(
            summary(&single, &expected[&name]),
            expected[&name],
            "{name}"
        );
        let at_once = whole(&stream);
        assert_eq!(at_once.events, single.events, "{name}");
        assert_eq!(at_once.outcome, single.outcome, "{name}");
        for size in [2, 3, 7, 64, 1000] {
            assert_eq!(
                decode(&stream, &[size]).events,
                single.events,
                "{name}, {size}"
            );
        }
    }
}

proptest! {
    #[test]
    fn chunk_borders_make_no_difference(name in prop::sample::select(recordings()), sizes in prop::collection::vec(1_usize..400, 1..20)) {
        let stream = fixture(&format!("recorded/{name}/stream.sse"));
        let (cut, uncut) = (decode(&stream, &sizes), whole(&stream));
        prop_assert_eq!(cut.events, uncut.events);
        prop_assert_eq!(cut.outcome, uncut.outcome);
    }
}

/// Returns the arguments of all notifications in a stream, as text.
fn payloads(stream: &[u8]) -> Vec<(String, String)> {
    let stream = std::str::from_utf8(stream).unwrap();
    let mut payloads = Vec::new();
    for line in stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: {"))
    {
        let frame: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        let calls = frame["choices"][0]["delta"]["tool_calls"].clone();
        for call in calls.as_array().into_iter().flatten() {
            let function = &call["function"];
            let text = |key: &str| function[key].as_str().unwrap().to_owned();
            payloads.push((text("name"), text("arguments")));
        }
    }
    payloads
}

#[test]
fn decoded_notifications_encode_to_the_recorded_payloads() {
    let mut count = 0;
    for name in recordings() {
        let stream = fixture(&format!("recorded/{name}/stream.sse"));
        let written = encode("m", Tools::ALL, &whole(&stream).events);
        assert_eq!(payloads(&written), payloads(&stream), "{name}");
        count += payloads(&stream).len();
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_recording_is_written_byte_for_byte() {
    // An empty stream has no finish reason, which every reply has.
    for name in recordings().iter().filter(|name| *name != "llm_empty") {
        let stream = fixture(&format!("recorded/{name}/stream.sse"));
        let stream = std::str::from_utf8(&stream).unwrap();
        let read = decode(stream.as_bytes(), &[1]);
        if read.events == [Event::Done] {
            // The server wrote nothing. A reply has a reason in any case.
            continue;
        }
        let model = fixture_json(&format!("recorded/{name}/request.json"))["model"].clone();
        let written = encode(model.as_str().unwrap(), Tools::ALL, &read.events);
        let written = String::from_utf8(written).unwrap();
        // The ids of rounds differ; the frame without data is omitted on purpose.
        let ours = decode(written.as_bytes(), &[1]).rounds;
        let theirs = read.rounds.iter().zip(&ours);
        let renamed = theirs.fold(written, |text, (theirs, ours)| text.replace(ours, theirs));
        // One provider started with no text instead of an empty text.
        let expected = stream.strip_prefix("retry: 10000\n\n").unwrap().replace(
            r#""content":null,"function_call":null,"tool_calls":null,"role":"assistant""#,
            r#""content":"","function_call":null,"tool_calls":null,"role":"assistant""#,
        );
        // A reply opens its first round at once: before the provider has stated anything, and also where the server
        // wrote only an error.
        let behind_opening = |stream: &str| stream.split_once("\n\n").unwrap().1.to_owned();
        let renamed = behind_opening(&renamed);
        let expected = match read.rounds.is_empty() {
            true => expected,
            false => behind_opening(&expected),
        };
        assert!(renamed == expected, "{name}:\n{renamed}\n{expected}");
    }
}

#[test]
fn documents_are_slices_with_typed_access() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Film {
        title: String,
        year: u16,
    }
    let stream = fixture("recorded/search_all_tools/stream.sse");
    let sources = whole(&stream)
        .events
        .into_iter()
        .find_map(|event| match event {
            Event::Sources(sources) => Some(sources),
            _ => None,
        })
        .unwrap();
    let films: Vec<Film> = sources.decode().unwrap();
    assert_eq!(films.len(), 3);
    let wall_e = Film {
        title: "WALL·E".into(),
        year: 2008,
    };
    assert_eq!(films[2], wall_e);
    let all = sources.documents.as_bytes().as_ptr_range();
    for document in sources.iter() {
        assert!(all.contains(&document.as_bytes().as_ptr()));
    }
    assert!(sources.decode::<u8>().is_err());
}

#[test]
fn every_recorded_error_is_classed() {
    for case in fixture_json("stream_errors.json").as_array().unwrap() {
        let stream = format!("data: {}\n\n", case["event"]);
        let read = whole(stream.as_bytes());
        let [Event::Error(failure)] = &read.events[..] else {
            panic!("{:?}", read.events)
        };
        let error = &case["event"]["error"];
        assert_eq!(failure.kind, error["type"]);
        assert_eq!(failure.message, error["message"]);
        assert_eq!(json!(failure.code), error["code"]);
        assert_eq!(failure.is_terminal(), error["type"] != "response_error");
        let written = String::from_utf8(encode("m", Tools::ALL, &read.events)).unwrap();
        let mut data = written.split("data: ");
        let error = data.find(|data| data.contains("\"error\"")).unwrap();
        let written: Value = serde_json::from_str(error).unwrap();
        assert_eq!(written, case["event"]);
    }
}
