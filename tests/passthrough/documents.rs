//! Clients without a stream get the document of the server.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::Json;
use copilot_wire::models::Upstream;
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{Blocks as _, Completion, EventDecoder};
use copilot_wire::responses::Responses;
use serde_json::{Value, json};

use crate::streams::{CHAT, MESSAGES, RESPONSES, Sent, blocks, sent, stream};
use crate::{Gateway, data, request};

pub(crate) fn documents() -> [(&'static str, Value); 3] {
    [
        (
            CHAT,
            json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "up", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hi", "reasoning_details": [{"a": 1}, {"b": 2}]}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, "new": {"x": [1]}}),
        ),
        (
            MESSAGES,
            json!({"id": "msg_up", "type": "message", "role": "assistant", "model": "up", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
            {"type": "compaction", "content": "all"}, {"type": "text", "text": "Hi", "citations": null}],
            "stop_reason": "pause_turn", "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5}}),
        ),
        (
            RESPONSES,
            json!({"id": "resp_up", "object": "response", "created_at": 1, "model": "up", "status": "completed", "error": null,
            "output": [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "phase": "final_answer",
                "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}],
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}),
        ),
    ]
}

#[test]
fn a_document_arrives_as_it_was_sent() {
    for (path, document) in documents() {
        let spaced = serde_json::to_string_pretty(&document).unwrap();
        for size in [1, 5, usize::MAX] {
            let gateway = Gateway::pieces(path, format!("\u{feff} \r\n{spaced}\n"), size);
            let (status, body) = gateway.ask(&request(path, false));
            assert_eq!((status, &*body), (200, &*spaced));
            let asked = gateway.asked.lock().unwrap();
            assert_eq!(asked[0]["stream"], false);
            assert!(asked[0]["stream_options"].is_null());
        }
    }
}

#[test]
fn the_server_answers_requests_for_a_single_token() {
    for (path, document) in documents() {
        let mut request = request(path, false);
        request["max_tokens"] = json!(1);
        let (status, body) = Gateway::new(path, document.to_string()).ask(&request);
        assert_eq!((status, body), (200, document.to_string()));
    }
}

#[test]
fn a_document_that_is_no_answer_is_a_failure() {
    for (path, document) in documents() {
        let half = document.to_string();
        let half = &half[..half.len() - 1];
        let error = json!({"error": {"message": "secret", "type": "x"}}).to_string();
        for bad in [
            half,
            &error,
            "",
            "{}",
            "{\"detail\": \"secret\"}",
            "<html>secret",
            "null",
        ] {
            for is_stream in [false, true] {
                let (status, body) = Gateway::new(path, bad).ask(&request(path, is_stream));
                assert_eq!(
                    status,
                    if path == MESSAGES { 424 } else { 400 },
                    "{bad}: {body}"
                );
                assert!(!body.contains("secret"), "{body}");
            }
        }
    }
}

#[test]
fn the_other_form_says_the_same() {
    for (path, document) in documents() {
        let gateway = Gateway::new(path, document.to_string());
        let (status, body) = gateway.ask(&request(path, true));
        let events = data(&body);
        assert!(
            status == 200 && events.len() > 2 && body.contains("Hi"),
            "{body}"
        );
    }
    for sent in sent() {
        let gateway = Gateway::pieces(sent.path, stream(&sent), 9);
        let (status, body) = gateway.ask(&request(sent.path, false));
        assert_eq!(status, 200, "{body}");
        check(&sent, &serde_json::from_str(&body).unwrap());
        let half = stream(&sent);
        let half = half.split_at(half.len() / 2).0;
        let (status, _) = Gateway::new(sent.path, half).ask(&request(sent.path, false));
        assert_ne!(status, 200, "{}", sent.name);
    }
}

/// Returns the document of a stream that arrives in pieces of this size.
pub(crate) fn assembled<U: Upstream>(stream: &str, size: usize) -> Value {
    let (mut decoder, mut answer) = (EventDecoder::<U>::new(), Completion::new());
    for mut piece in stream.as_bytes().chunks(size) {
        while let Some(event) = decoder.next(&mut piece).unwrap() {
            answer.push_event::<U>(event).unwrap();
        }
    }
    let render = |answer| {
        let mut document = Vec::new();
        U::Blocks::document(answer, &mut document);
        document
    };
    let written = render(answer);
    // A document says what the stream says.
    let mut again = Completion::new();
    for event in U::document(&Json::parse(written.clone()).unwrap()).unwrap() {
        again.push_event::<U>(&event).unwrap();
    }
    let document: Value = serde_json::from_slice(&written).unwrap();
    let again: Value = serde_json::from_slice(&render(again)).unwrap();
    assert_eq!(again, document);
    document
}

/// Returns the message of a completion.
pub(crate) fn message(sent: &Sent) -> Value {
    match sent.name {
        "lists" => json!({"role": "assistant", "content": "", "audio": {"data": "BBBB"},
                    "images": [{"type": "image_url", "index": 0, "image_url": {"url": "data:image/png;base64,AAA"}}],
                    "reasoning_details": [{"type": "reasoning.text", "text": "Let", "signature": "SIG", "index": 0}]}),
        "an id with each piece" => json!({"role": "assistant", "content": null,
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "get_tide", "arguments": "{}"}}]}),
        "a tool that was not offered" => json!({"role": "assistant", "content": "Now.",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "Other", "arguments": "null"}}]}),
        _ => json!({"role": "assistant", "content": "A", "reasoning_content": "hm"}),
    }
}

/// The parts of an answer that its document must have.
fn check(sent: &Sent, document: &Value) {
    match sent.path {
        MESSAGES => {
            assert_eq!(document["content"], blocks(sent), "{}", sent.name);
            let end = &sent.events[sent.events.len() - 2];
            assert_eq!(document["stop_reason"], end["delta"]["stop_reason"]);
            assert_eq!(
                document["usage"]["server_tool_use"],
                end["usage"]["server_tool_use"]
            );
            assert_eq!(document["usage"]["input_tokens"], 10);
            assert_eq!(document["context_management"], end["context_management"]);
            assert_eq!(document["id"], "msg_up");
        }
        RESPONSES => {
            let end = sent.events.last().unwrap();
            assert_eq!(
                document["output"], end["response"]["output"],
                "{}",
                sent.name
            );
            assert_eq!(document["id"], "resp_up");
        }
        _ => {
            let choice = &document["choices"][0];
            assert_eq!(choice["message"], message(sent), "{}", sent.name);
            assert_eq!(document["usage"]["total_tokens"], 15);
            assert_eq!(
                (&document["id"], &document["model"]),
                (&json!("c1"), &json!("up"))
            );
        }
    }
}

#[test]
fn documents_and_streams_say_the_same_in_any_pieces() {
    for sent in sent() {
        for size in (1..20).chain([64, usize::MAX]) {
            let stream = stream(&sent);
            let document = match sent.path {
                CHAT => assembled::<OpenAi>(&stream, size),
                RESPONSES => {
                    let bare = crate::stored::without_output(&sent);
                    check(&sent, &assembled::<Responses>(&bare, size));
                    assembled::<Responses>(&stream, size)
                }
                _ => assembled::<Anthropic>(&stream, size),
            };
            check(&sent, &document);
        }
    }
}
