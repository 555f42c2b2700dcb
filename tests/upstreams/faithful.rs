//! What a model said arrives unchanged, however its server sends it.

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::Upstream;
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{Env, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Body, Request};
use futures::StreamExt;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::support::Gateway;

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"q"}]}"#;
const MESSAGES: &str = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"}]}"#;
const RESPONSES: &str = r#"{"model":"m","input":"q"}"#;

/// Returns what a client of `P` receives when a model of `U` sends these events.
fn sent<U: Upstream, P: Protocol>(request: &str, events: &[Value]) -> String {
    let events = events.iter().map(|event| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    });
    relayed::<U, P>(request, &(events.collect::<String>() + "data: [DONE]\n\n"))
}

fn relayed<U: Upstream, P: Protocol>(request: &str, stream: &str) -> String {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = P::read(&parts, Bytes::copy_from_slice(request.as_bytes())).unwrap();
    let agent = Gateway::<U>::new(stream, 7);
    let body = Body::run::<P, _>(agent, Request::new(request), &Env::default());
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap_or_default()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

fn document<U: Upstream, P: Protocol>(request: &str, events: &[Value]) -> Value {
    serde_json::from_str(&sent::<U, P>(request, events)).unwrap()
}

fn chat(deltas: &[Value]) -> Vec<Value> {
    let event = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    deltas.iter().map(event).chain([end]).collect()
}

fn messages(blocks: &[(Value, Value)], reason: &str) -> Vec<Value> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}});
    let mut all = vec![json!({"type": "message_start", "message": message})];
    for (index, (block, delta)) in blocks.iter().enumerate() {
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        let piece = json!({"type": "content_block_delta", "index": index, "delta": delta});
        let stop = json!({"type": "content_block_stop", "index": index});
        all.extend([start, piece, stop]);
    }
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}});
    all.extend([end, json!({"type": "message_stop"})]);
    all
}

#[test]
fn lists_and_objects_of_deltas_are_continued() {
    let events = chat(&[
        json!({"content": "a", "reasoning_details": [{"type": "t", "text": "Let", "index": 0}],
            "images": [{"index": 0, "url": "A"}], "audio": {"id": "a1", "data": "AA"}, "seen": 1}),
        json!({"reasoning_details": [{"type": "t", "text": " me", "signature": "S", "index": 0}],
            "images": [{"index": 1, "url": "B"}], "audio": {"data": "BB"}, "seen": 2}),
        json!({"reasoning_details": null, "annotations": [{"url": "1"}]}),
        json!({"annotations": [{"url": "2"}]}),
    ]);
    let message = &document::<OpenAi, OpenAi>(CHAT, &events)["choices"][0]["message"];
    let details = json!([{"type": "t", "text": "Let me", "index": 0, "signature": "S"}]);
    assert_eq!(message["reasoning_details"], details);
    assert_eq!(
        message["images"],
        json!([{"index": 0, "url": "A"}, {"index": 1, "url": "B"}])
    );
    assert_eq!(message["audio"], json!({"id": "a1", "data": "AABB"}));
    assert_eq!(message["annotations"], json!([{"url": "1"}, {"url": "2"}]));
    assert_eq!(message["seen"], 2);
}

#[test]
fn blocks_with_deltas_of_their_own_are_whole_without_a_stream() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let query = json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"});
    let compaction = json!({"type": "compaction", "content": null});
    let summary = json!({"type": "compaction_delta", "content": "summary"});
    let later = json!({"type": "later", "parts": [1]});
    let parts = json!({"type": "later_delta", "parts": [2], "note": "n"});
    let events = messages(
        &[(search, query), (compaction, summary), (later, parts)],
        "end_turn",
    );
    let content = &document::<Anthropic, Anthropic>(MESSAGES, &events)["content"];
    assert_eq!(content[0]["input"], json!({"query": "x"}));
    assert_eq!(
        content[1],
        json!({"type": "compaction", "content": "summary"})
    );
    assert_eq!(
        content[2],
        json!({"type": "later", "parts": [1, 2], "note": "n"})
    );
    assert_eq!(content.as_array().unwrap().len(), 3, "nothing is made up");
}

#[test]
fn a_turn_that_has_not_ended_gets_no_text_of_ours() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let query = json!({"type": "input_json_delta", "partial_json": "{}"});
    for (blocks, reason) in [
        (vec![(search.clone(), query.clone())], "pause_turn"),
        (vec![(search, query)], "end_turn"),
        (vec![], "pause_turn"),
    ] {
        let text = sent::<Anthropic, Anthropic>(MESSAGES, &messages(&blocks, reason));
        assert!(!text.contains("There is no answer."), "{text}");
        assert!(text.contains(reason), "{text}");
    }
    let text = sent::<Anthropic, Anthropic>(MESSAGES, &messages(&[], "end_turn"));
    assert!(text.contains("There is no answer."), "{text}");
}

/// Returns the text, the reasoning and the calls of the documents that the three dialects write.
fn everywhere<U: Upstream>(events: &[Value]) -> [String; 3] {
    [
        sent::<U, OpenAi>(CHAT, events),
        sent::<U, Anthropic>(MESSAGES, events),
        sent::<U, Responses>(RESPONSES, events),
    ]
}

#[test]
fn a_new_id_with_each_fragment_is_the_same_call() {
    let call = |id: &str, name: Value, arguments: &str| json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]});
    let events = chat(&[
        call("x1", "foo".into(), "{\"a\""),
        call("x2", Value::Null, ":\"1\"}"),
        // With a name it is another call.
        call("x3", "bar".into(), "{}"),
    ]);
    for text in everywhere::<OpenAi>(&events) {
        assert!(text.contains("foo") && text.contains("bar"), "{text}");
        assert!(!text.contains("x2"), "{text}");
    }
    let message = &document::<OpenAi, OpenAi>(CHAT, &events)["choices"][0]["message"];
    assert_eq!(
        message["tool_calls"][0]["function"]["arguments"],
        r#"{"a":"1"}"#
    );
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 2);
}

#[test]
fn halves_of_a_character_in_two_deltas_are_one_character() {
    let chat = |member: &str, pieces: [&str; 2]| -> String {
        let event = |piece: &str| {
            let delta = match member {
                "content" => format!(r#"{{"content":"{piece}"}}"#),
                _ => format!(
                    r#"{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":"{piece}"}}}}]}}"#
                ),
            };
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
        };
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        pieces.map(event).concat() + end
    };
    let delta = |piece: &str| {
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{piece}\"}}}}\n\n"
        )
    };
    let start =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n";
    let end = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let blocks = [
        start,
        &delta("so"),
        &delta(r"a\ud83d"),
        &delta(r"\ude0bz"),
        end,
    ]
    .concat();
    for text in [
        relayed::<OpenAi, Anthropic>(MESSAGES, &chat("content", [r"a\ud83d", r"\ude0bz"])),
        relayed::<OpenAi, OpenAi>(CHAT, &chat("content", [r"a\uD83D", r"\uDE0Bz"])),
        relayed::<OpenAi, OpenAi>(CHAT, &chat("call", [r#"{\"x\":\"\ud83d"#, r#"\ude0b\"}"#])),
        relayed::<Anthropic, Responses>(RESPONSES, &blocks),
    ] {
        assert!(text.contains('😋') && !text.contains('\u{FFFD}'), "{text}");
    }
    // An escape of a backslash is no half.
    let text = relayed::<OpenAi, OpenAi>(CHAT, &chat("content", [r"a\\ud83d", r"b"]));
    assert!(text.contains(r"a\\ud83db"), "{text}");
}

#[test]
fn calls_of_other_tools_and_with_odd_arguments_reach_clients_of_models() {
    for (arguments, object) in [
        ("{}", json!({})),
        ("null", json!({})),
        (r#""{\"a\":1}""#, json!({"a": 1})),
        (r#"{"a"#, json!({"invalid_json": "{\"a"})),
    ] {
        let call =
            json!({"index": 0, "id": "c", "function": {"name": "Foo", "arguments": arguments}});
        let events = chat(&[json!({"tool_calls": [call]})]);
        let message = &document::<OpenAi, OpenAi>(CHAT, &events)["choices"][0]["message"];
        assert_eq!(message["tool_calls"][0]["function"]["name"], "Foo");
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], arguments);
        let response = document::<OpenAi, Responses>(RESPONSES, &events);
        assert_eq!(response["output"][0]["arguments"], arguments);
        let message = document::<OpenAi, Anthropic>(MESSAGES, &events);
        assert_eq!(message["content"][0]["input"], object);
        assert_eq!(message["stop_reason"], "tool_use");
    }
}

#[test]
fn reasoning_in_parts_of_the_content_is_reasoning() {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]});
    let text = json!({"type": "text", "text": "Hi"});
    let events = chat(&[json!({"content": [thinking, text]})]);
    for text in everywhere::<OpenAi>(&events) {
        assert!(text.contains("Hm.") && text.contains("Hi"), "{text}");
        assert!(!text.contains("\"text\":\"Hm.Hi"), "{text}");
    }
}

#[test]
fn raw_reasoning_stays_raw_and_phases_stay() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [],
        "content": [{"type": "reasoning_text", "text": "raw"}]});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "phase": "commentary", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]});
    let added = |index: u64, item: &Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let delta = |index: u64, kind: &str, delta: &str| json!({"type": format!("response.{kind}.delta"), "output_index": index, "content_index": 0, "delta": delta});
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed",
        "output": [reasoning, message]}});
    let events = [
        added(
            0,
            &json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        ),
        delta(0, "reasoning_text", "raw"),
        done(0, &reasoning),
        added(1, &message),
        delta(1, "output_text", "Hi"),
        done(1, &message),
        end.clone(),
    ];
    let output = &document::<Responses, Responses>(RESPONSES, &events)["output"];
    assert_eq!(output[0]["content"], reasoning["content"]);
    assert_eq!(output[0]["summary"], json!([]));
    assert_eq!(output[1]["phase"], "commentary");
    // A text that is only in the end of its item, or of the response.
    for events in [&[done(1, &message), end.clone()][..], &[end]] {
        for text in everywhere::<Responses>(events) {
            assert_eq!(text.matches("Hi").count(), 1, "{text}");
        }
    }
}

#[test]
fn citations_are_translated_and_the_text_stays() {
    let url = "https://e.example/a";
    let of_chat = chat(&[
        json!({"content": "Hi"}),
        json!({"annotations": [{"type": "url_citation", "url_citation": {"url": url, "title": "T", "start_index": 0, "end_index": 2}}]}),
    ]);
    let mut of_messages = messages(
        &[(
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": "Hi"}),
        )],
        "end_turn",
    );
    let location = json!({"type": "web_search_result_location", "url": url, "title": "T", "cited_text": "c", "encrypted_index": "e"});
    let citation = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": location}});
    of_messages.insert(3, citation);
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}]});
    let of_responses = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}),
        json!({"type": "response.output_text.annotation.added", "output_index": 0, "annotation_index": 0,
            "annotation": {"type": "url_citation", "url": url, "title": "T", "start_index": 0, "end_index": 2}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}),
    ];
    let to_chat = |document: Value| {
        let message = &document["choices"][0]["message"];
        assert_eq!(message["content"], "Hi");
        let source = &message["annotations"][0]["url_citation"];
        assert_eq!(
            (&source["url"], &source["title"]),
            (&json!(url), &json!("T"))
        );
    };
    let to_messages = |document: Value| {
        let block = &document["content"][0];
        assert_eq!(document["content"].as_array().unwrap().len(), 1);
        assert_eq!(block["text"], "Hi");
        let source = &block["citations"][0];
        assert_eq!(
            (&source["url"], &source["title"]),
            (&json!(url), &json!("T"))
        );
    };
    let to_responses = |document: Value| {
        let part = &document["output"][0]["content"][0];
        assert_eq!(part["text"], "Hi");
        let source = &part["annotations"][0];
        assert_eq!(
            (&source["url"], &source["title"]),
            (&json!(url), &json!("T"))
        );
    };
    to_messages(document::<OpenAi, Anthropic>(MESSAGES, &of_chat));
    to_responses(document::<OpenAi, Responses>(RESPONSES, &of_chat));
    to_chat(document::<Anthropic, OpenAi>(CHAT, &of_messages));
    to_responses(document::<Anthropic, Responses>(RESPONSES, &of_messages));
    to_chat(document::<Responses, OpenAi>(CHAT, &of_responses));
    to_messages(document::<Responses, Anthropic>(MESSAGES, &of_responses));
    // In the same dialect they stay as they were.
    let block = &document::<Anthropic, Anthropic>(MESSAGES, &of_messages)["content"][0];
    assert_eq!(block["citations"], json!([location]));
}
