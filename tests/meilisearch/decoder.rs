//! Decoding of input without recordings: the documented form, unusual servers, and large sizes.

use copilot_wire::meilisearch::{
    Event, Meilisearch, Search, Sources, StreamOutcome, Tools, Unknown,
};
use copilot_wire::openai::FinishReason;
use copilot_wire::protocol::{EventDecoder, EventError};
use serde_json::{Value, json};

use crate::support::{decode, encode, fixture, text, whole};

fn chunk(id: &str, delta: &Value, reason: Option<&str>) -> String {
    let chunk =
        json!({"id": id, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    format!("data: {chunk}\n\n")
}

fn call(index: u64, name: Option<&str>, arguments: &str) -> Value {
    let mut function = json!({"arguments": arguments});
    if let Some(name) = name {
        function["name"] = name.into();
    }
    json!({"tool_calls": [{"function": function, "id": format!("id-{index}"), "index": index}]})
}

#[test]
fn the_documented_dialect_is_read() {
    let stream = fixture("stream_documented_dialect.sse");
    for sizes in [&[stream.len()][..], &[1]] {
        let read = decode(&stream, sizes);
        assert_eq!(read.outcome, StreamOutcome::Answered(FinishReason::Stop));
        assert_eq!(text(&read.events), "Meilisearch is");
        let [Event::Progress(progress), Event::Sources(sources), ..] = &read.events[..] else {
            panic!("{:?}", read.events)
        };
        assert_eq!(progress.id, "call_abc123");
        assert_eq!((&*progress.call_id, &*sources.call_id), ("abc", "abc"));
        assert_eq!(
            progress.search().unwrap(),
            Search::new("movies", "search engine")
        );
        assert_eq!(sources.iter().count(), 1);
    }
}

#[test]
fn a_notification_is_handed_out_before_anything_else_arrives() {
    let stream = fixture("recorded/search_all_tools/stream.sse");
    let stream = String::from_utf8(stream).unwrap();
    let mut decoder = EventDecoder::<Meilisearch>::new();
    let mut seen = 0;
    for frame in stream.split_inclusive("\n\n") {
        let mut input = frame.as_bytes();
        let mut count = 0;
        while decoder.next(&mut input).unwrap().is_some() {
            count += 1;
        }
        if frame.contains("_meili") {
            assert_eq!(count, 1);
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
}

#[test]
fn what_is_not_known_is_kept() {
    let stream = [
        chunk(
            "1",
            &call(0, Some("_meiliSomethingNew"), r#"{"a":1}"#),
            None,
        ),
        // Known names with invalid arguments.
        chunk(
            "1",
            &call(0, Some("_meiliSearchSources"), r#"{"call_id":"c"}"#),
            None,
        ),
        chunk(
            "1",
            &call(0, Some("_meiliAppendConversationMessage"), "[]"),
            None,
        ),
        // A function call in fragments, and one that never ends.
        chunk("1", &call(1, Some("f"), "{\"x\":\"}"), None),
        chunk("1", &call(1, None, "\\\"\"}"), None),
        chunk("1", &call(2, Some("g"), ""), None),
        // A fragment without a call.
        chunk("1", &call(7, None, "{}"), None),
        "data: {\"weather\":\"fine\"}\n\ndata: 3\n\n".into(),
        chunk("1", &json!({}), Some("stop")),
        "data: [DONE]\n\ndata: {\"ignored\":true}\n\n".into(),
    ]
    .concat();
    let read = whole(stream.as_bytes());
    let unknown: Vec<_> = read
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Unknown(Unknown::Call(call)) => {
                Some(format!("{} {}", call.name, call.arguments))
            }
            Event::Unknown(Unknown::Frame(json)) => Some(json.text().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        unknown,
        [
            r#"_meiliSomethingNew {"a":1}"#,
            r#"_meiliSearchSources {"call_id":"c"}"#,
            "_meiliAppendConversationMessage []",
            r#"f {"x":"}\""}"#,
            r#"{"function":{"arguments":"{}"},"id":"id-7","index":7}"#,
            r#"{"weather":"fine"}"#,
            "3",
            "g ",
        ]
    );
    assert_eq!(read.outcome, StreamOutcome::Answered(FinishReason::Stop));
}

#[test]
fn both_spellings_at_once_are_read() {
    let arguments = r#"{"call_id":"c","function_name":"f","function_arguments":"{}","function_parameters":"{}"}"#;
    let stream = chunk("1", &call(0, Some("_meiliSearchProgress"), arguments), None);
    let read = whole(stream.as_bytes());
    let [Event::Progress(progress)] = &read.events[..] else {
        panic!("{:?}", read.events)
    };
    assert_eq!(progress.function_arguments, "{}");
    assert!(progress.unknown.get("function_parameters").is_some());
    assert_eq!(
        encode(
            "m",
            Tools::ALL,
            &whole(&encode("m", Tools::ALL, &read.events)).events
        ),
        encode("m", Tools::ALL, &read.events)
    );
}

#[test]
fn one_document_in_the_place_of_the_list_is_read() {
    let arguments = r#"{"call_id":"c","documents":{"id":1}}"#;
    let stream = chunk("1", &call(0, Some("_meiliSearchSources"), arguments), None);
    let read = whole(stream.as_bytes());
    let [Event::Sources(sources)] = &read.events[..] else {
        panic!("{:?}", read.events)
    };
    assert_eq!(sources.iter().count(), 1);
}

#[test]
fn text_call_and_reason_in_one_chunk_are_all_read() {
    let mut delta = call(
        0,
        Some("_meiliSearchProgress"),
        r#"{"call_id":"c","function_name":"f","function_arguments":""}"#,
    );
    delta["content"] = "Hi".into();
    let stream = chunk("1", &delta, Some("length")) + "data: [DONE]\n\n";
    let read = whole(stream.as_bytes());
    assert!(matches!(
        &read.events[..],
        [
            Event::Text(_),
            Event::Progress(_),
            Event::Finish(FinishReason::Length),
            Event::Done
        ]
    ));
}

#[test]
fn other_choices_are_other_answers() {
    let stream = concat!(
        r#"data: {"id":"1","choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]}"#,
        "\n\n",
        r#"data: {"id":"1","choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}"#,
        "\n\n",
        r#"data: {"id":"1","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n",
    );
    let read = whole(stream.as_bytes());
    let text = |text: &str| Event::Text(text.into());
    let end = [Event::Finish(FinishReason::Stop), Event::Done];
    assert_eq!(read.events[..2], [text("A"), text("a")]);
    assert_eq!(read.events[2..], end);
    assert_eq!(read.outcome, StreamOutcome::Answered(FinishReason::Stop));
}

#[test]
fn a_reason_in_the_middle_is_not_the_end() {
    let stream = [
        chunk("1", &json!({"content": "a"}), Some("tool_calls")),
        chunk("2", &json!({"content": "b"}), Some("")),
        "data: [DONE]\n\n".into(),
    ]
    .concat();
    let read = whole(stream.as_bytes());
    assert_eq!(read.outcome, StreamOutcome::Incomplete);
    assert!(read.events.contains(&Event::RoundBreak));
}

#[test]
fn an_error_after_the_end_of_the_answer_is_a_failure() {
    let stream = [
        chunk("1", &json!({"content": "a"}), Some("stop")),
        "data: {\"error\":{\"type\":\"stream_ended\",\"code\":3,\"message\":\"Stream ended\"}}\n\n"
            .into(),
        "data: [DONE]\n\n".into(),
    ]
    .concat();
    let StreamOutcome::Failed(failure) = whole(stream.as_bytes()).outcome else {
        panic!("a failure is due")
    };
    assert_eq!(failure.code.as_deref(), Some("3"));
}

#[test]
fn garbage_does_not_affect_other_events() {
    let stream = [
        chunk("1", &json!({"content": "a"}), None),
        "data: {\"choices\": [\n\ndata: <html>\n\n".into(),
        "data: {\"id\":\"1\",\"choices\":[7,{\"delta\":3},{\"delta\":{\"content\":{}}}]}\n\n"
            .into(),
        "data: {\"error\":\"plain\"}\n\n".into(),
        chunk("1", &json!({"content": "b"}), Some("stop")),
        "data: [DONE]\n\n".into(),
    ]
    .concat();
    let read = whole(stream.as_bytes());
    assert_eq!(text(&read.events), "ab");
    assert_eq!(read.errors.len(), 2);
    assert!(matches!(read.outcome, StreamOutcome::Failed(failure) if failure.message == "plain"));
}

#[test]
fn text_that_looks_like_a_stream_is_text() {
    let evil = "data: [DONE]\n\nevent: x\n\n\u{2028}\0\u{85}\"\\";
    let events = [
        Event::Text(evil.into()),
        Event::Finish(FinishReason::Stop),
        Event::Done,
    ];
    let stream = encode("m", Tools::NONE, &events);
    for sizes in [&[stream.len()][..], &[1], &[5, 1]] {
        assert_eq!(decode(&stream, sizes).events, events);
    }
}

#[test]
fn large_sources_are_one_event() {
    let documents: Vec<_> = (0..2000)
        .map(|id| json!({"id": id, "title": "A \"quoted\" title\n", "overview": "x".repeat(200)}))
        .collect();
    let sources = Sources::new("call_1", &documents).unwrap();
    assert!(sources.documents.text().len() > 400 * 1024);
    let stream = encode("m", Tools::ALL, &[Event::Sources(sources.clone())]);
    let read = decode(&stream, &[1000]);
    let [Event::Sources(got)] = &read.events[..] else {
        panic!("one event is due")
    };
    assert_eq!(got.documents, sources.documents);
}

#[test]
fn a_million_tiny_chunks_lose_nothing() {
    const COUNT: usize = 1_000_000;
    let frame = chunk("1", &json!({"content": "ab"}), None);
    let stream = frame.repeat(COUNT / frame.len() + 1);
    let read = decode(stream.as_bytes(), &[1]);
    assert_eq!(text(&read.events).len(), stream.len() / frame.len() * 2);
    assert!(stream.len() >= COUNT);
}

#[test]
fn what_is_held_is_bounded() {
    let mut decoder = EventDecoder::<Meilisearch>::new().limit(4096);
    let stream = chunk(
        "1",
        &call(0, Some("_meiliSearchSources"), "{\"call_id\":\""),
        None,
    ) + &chunk("1", &call(0, None, &"x".repeat(1000)), None).repeat(10);
    let mut input = stream.as_bytes();
    let error = loop {
        match decoder.next(&mut input) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the budget is used up"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, EventError::Invalid(_)), "{error}");
    // A thousand calls that never end, each at its own index.
    let many: String = (0..1000)
        .map(|index| chunk("1", &call(index, Some("f"), ""), None))
        .collect();
    let mut decoder = EventDecoder::<Meilisearch>::new().limit(4096);
    let mut input = many.as_bytes();
    let errors = std::iter::from_fn(|| Some(decoder.next(&mut input).transpose()?.map(drop)))
        .filter(Result::is_err)
        .count();
    assert!(errors > 0);
}

#[test]
fn an_entry_that_is_named_begins_anew() {
    // A reader that merges by index would fail here.
    let progress =
        |id: u8| format!(r#"{{"call_id":"{id}","function_name":"f","function_arguments":""}}"#);
    let stream: String = (0..3)
        .map(|id| {
            chunk(
                "1",
                &call(0, Some("_meiliSearchProgress"), &progress(id)),
                None,
            )
        })
        .collect();
    assert_eq!(whole(stream.as_bytes()).events.len(), 3);
}

/// Reads a stream as text, with `|` where a round starts.
fn rounds(stream: &[String]) -> String {
    let read = whole(stream.concat().as_bytes());
    let marks = read.events.iter().map(|event| match event {
        Event::Text(text) => text,
        Event::RoundBreak => "|",
        _ => "",
    });
    marks.collect()
}

#[test]
fn a_round_starts_with_its_role_or_with_text_after_a_search() {
    let text = |text: &str| chunk("1", &json!({"content": text}), None);
    let role = |text: &str| chunk("1", &json!({"role": "assistant", "content": text}), None);
    let search = || {
        let mut delta = call(0, Some("_meiliSearchProgress"), "{}");
        delta["role"] = "assistant".into();
        chunk("1", &delta, None)
    };
    let failed = || {
        r#"data: {"type":"error","error":{"type":"response_error","message":""}}"#.to_owned()
            + "\n\n"
    };
    // The provider sends the same id in every round.
    assert_eq!(rounds(&[role(""), text("a"), role(""), text("b")]), "a|b");
    assert_eq!(
        rounds(&[role("a"), text("b"), role("c"), text("d")]),
        "ab|cd"
    );
    assert_eq!(rounds(&[text("a"), search(), text("b"), text("c")]), "a|bc");
    assert_eq!(rounds(&[text("a"), failed(), text("b"), text("c")]), "a|bc");
    // Without text before it, no text is of another round.
    assert_eq!(rounds(&[search(), text("a"), text("b")]), "ab");
    assert_eq!(
        rounds(&[role(""), text("a"), search(), search(), role(""), text("b")]),
        "a|b"
    );
    // It repeats the role in every chunk, also in the last one.
    let last = chunk(
        "1",
        &json!({"role": "assistant", "content": ""}),
        Some("stop"),
    );
    assert_eq!(rounds(&[role(""), role("a"), role("b"), last]), "ab");
    assert_eq!(
        rounds(&[role("a"), role("b"), search(), role("c"), role("d")]),
        "ab|cd"
    );
    // Rounds with ids of their own are broken once.
    let other = |delta| chunk("2", &delta, None);
    let opening = other(json!({"role": "assistant", "content": ""}));
    assert_eq!(
        rounds(&[text("a"), search(), opening, other(json!({"content": "b"}))]),
        "a|b"
    );
}

#[test]
fn what_the_provider_says_beside_the_text_is_passed_on() {
    let said = |tier: Value, fingerprint: &str, text: &str, logprobs: Value| {
        let choice = json!({"index": 0, "delta": {"content": text}, "logprobs": logprobs});
        let chunk = json!({
            "id": "1", "choices": [choice], "service_tier": tier, "system_fingerprint": fingerprint,
        });
        format!("data: {chunk}\n\n")
    };
    let logprobs = json!({"content": [{"token": "a", "logprob": -0.25}]});
    let stream = [
        said(Value::Null, "fp_1", "a", logprobs.clone()),
        said("default".into(), "fp_1", "b", Value::Null),
        chunk(
            "1",
            &call(0, Some("_meiliSomethingNew"), r#"{"a":1}"#),
            None,
        ),
    ];
    let read = whole(stream.concat().as_bytes()).events;
    let written = String::from_utf8(encode("m", Tools::NONE, &read)).unwrap();
    let frames: Vec<Value> = written
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    let of = |text: &str| {
        let has = |frame: &&Value| frame["choices"][0]["delta"]["content"] == text;
        let frame = frames.iter().find(has).unwrap();
        (
            frame["service_tier"].clone(),
            frame["system_fingerprint"].clone(),
        )
    };
    assert_eq!(of("a"), (Value::Null, "fp_1".into()));
    assert_eq!(of("b"), ("default".into(), "fp_1".into()));
    assert!(
        frames
            .iter()
            .any(|frame| frame["choices"][0]["logprobs"] == logprobs)
    );
    let called = |frame: &Value| {
        let function = &frame["choices"][0]["delta"]["tool_calls"][0]["function"];
        function == &json!({"name": "_meiliSomethingNew", "arguments": r#"{"a":1}"#})
    };
    assert!(frames.iter().any(called), "{written}");
}
