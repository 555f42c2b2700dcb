//! The client role: streams of other servers are read, and put together.

use copilot_wire::anthropic::{Anthropic, ContentBlock, Delta, Event, Message, MessageDelta};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{Completion, EventDecoder, EventError};
use copilot_wire::sse::TooLarge;
use serde_json::json;

fn decode(stream: &str) -> Vec<Result<Event, EventError>> {
    let mut decoder = EventDecoder::<Anthropic>::new();
    let mut input = stream.as_bytes();
    let mut next = || decoder.next(&mut input).map(|event| event.cloned());
    std::iter::from_fn(|| next().transpose()).collect()
}

fn push(answer: &mut Completion, event: &Event) -> Result<(), TooLarge> {
    answer.push_event::<Anthropic>(event)
}

/// Frames of these data, each with its `event` line.
fn frames(data: &[serde_json::Value]) -> String {
    let frames = data.iter().map(|data| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap_or("x")
        )
    });
    frames.collect()
}

#[test]
fn a_stream_of_the_real_server_is_read() {
    // As the documentation of the protocol has it.
    let stream = frames(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude", "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 472, "output_tokens": 2, "cache_creation_input_tokens": 7}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Okay"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"type": "char_location"}}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "signature_delta", "signature": "EqQB"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"location\":"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": " \"Paris\"}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 89}}),
        json!({"type": "message_stop"}),
    ]);
    let mut whole = Completion::new();
    for event in decode(&(stream + "data: [DONE]\n\n")) {
        push(&mut whole, &event.unwrap()).unwrap();
    }
    assert!(whole.is_complete());
    assert_eq!(
        (whole.text(), whole.usage().unwrap().output_tokens),
        ("Okay", 89)
    );
    let message = Message::from(whole);
    let expected = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [
            {"type": "text", "text": "Okay", "citations": [{"type": "char_location"}]},
            {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"location": "Paris"}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 472, "output_tokens": 89, "cache_creation_input_tokens": 7},
    });
    let written: serde_json::Value = serde_json::from_slice(&message.to_json()).unwrap();
    assert_eq!(written, expected);
    assert_eq!(Message::from_json(message.to_json()).unwrap(), message);
}

#[test]
fn an_invalid_value_does_not_affect_others() {
    let stream = frames(&[
        json!({"type": "tomorrow", "x": 1}),
        json!({"type": "content_block_delta", "delta": {}}),
        json!({"type": "content_block_delta", "index": -1, "delta": {}}),
        json!({"type": "content_block_delta", "index": 0}),
        json!({"type": "content_block_start", "index": 0, "content_block": 7}),
        json!({"type": "message_start"}),
        json!({"type": "error", "error": "x"}),
        json!({"type": "content_block_delta", "index": 4294967295_u32, "delta": {"type": "tomorrow"}}),
        json!({"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "Hi"}}),
        json!(7),
        json!({"type": "message_delta"}),
        json!({"type": "message_stop"}),
    ]) + "data: {\n\n";
    let events = decode(&stream);
    assert_eq!(events.len(), 13);
    let faults: Vec<_> = (0..13).filter(|at| events[*at].is_err()).collect();
    assert_eq!(faults, [1, 2, 3, 4, 5, 6, 12]);
    let mut whole = Completion::new();
    for event in events.into_iter().flatten() {
        push(&mut whole, &event).unwrap();
    }
    // A number from the wire is never a size.
    assert_eq!(whole.text(), "Hi");
    assert!(!whole.is_complete(), "there was no reason");
    assert_eq!(Message::from(whole).content.len(), 1);
}

#[test]
fn a_stream_that_was_cut_is_noticed() {
    let call = include_str!("../../fixtures/anthropic/call.sse");
    let fails = include_str!("../../fixtures/anthropic/fails.sse");
    let end = |stream: &str| {
        let mut decoder = EventDecoder::<Anthropic>::new();
        let mut input = stream.as_bytes();
        while decoder.next(&mut input).unwrap().is_some() {}
        decoder.end()
    };
    assert!(end(call).is_ok() && end(fails).is_ok());
    let cut = end(&call[..call.len() - 1]).unwrap_err();
    assert_eq!(cut.to_string(), "the stream ended without message_stop");
    assert!(end("").is_err());
}

#[test]
fn a_completion_has_a_limit() {
    let mut whole = Completion::new().limit(1_000);
    let delta = |index, text: &str| Event::ContentBlockDelta {
        index,
        delta: Delta::Text(text.into()),
    };
    push(&mut whole, &delta(0, &"x".repeat(500))).unwrap();
    let error = push(&mut whole, &delta(0, &"x".repeat(501))).unwrap_err();
    assert_eq!(error.to_string(), "larger than the limit of 1000 bytes");
    assert_eq!(whole.text().len(), 500);
    // A text that fits, but not with its item, is not added.
    let mut whole = Completion::new().limit(600);
    push(&mut whole, &delta(0, &"x".repeat(550))).unwrap_err();
    assert_eq!(whole.text(), "");
    // Empty blocks take room too, and so do arguments and sources.
    let mut whole = Completion::new().limit(10_000);
    assert!((0..1_000).any(|index| push(&mut whole, &delta(index, "")).is_err()));
    for delta in [
        Delta::InputJson("x".repeat(100)),
        Delta::Thinking("x".repeat(100)),
        Delta::Citation(copilot_wire::json::Json::parse(r#"{"type":"x"}"#).unwrap()),
    ] {
        let mut whole = Completion::new().limit(10_000);
        let piece = Event::ContentBlockDelta { index: 0, delta };
        assert!(
            (0..1_000).any(|_| push(&mut whole, &piece).is_err()),
            "{piece:?}"
        );
    }
    let mut whole = Completion::new().limit(1_000);
    let alive = Event::MessageDelta(MessageDelta::default());
    assert!(
        (0..10_000).all(|_| push(&mut whole, &alive).is_ok()),
        "nothing of it is held"
    );
}

#[test]
fn arguments_that_are_no_object_become_a_string() {
    let mut whole = Completion::new();
    let block = ContentBlock::from_json(r#"{"type":"tool_use","id":"a","name":"n","input":{}}"#);
    let content_block = block.unwrap();
    push(
        &mut whole,
        &Event::ContentBlockStart {
            index: 0,
            content_block,
        },
    )
    .unwrap();
    let delta = Delta::InputJson("{\"cut".into());
    push(&mut whole, &Event::ContentBlockDelta { index: 0, delta }).unwrap();
    let message = Message::from(whole);
    assert_eq!(message.calls().next().unwrap().input.text(), r#""{\"cut""#);
}
