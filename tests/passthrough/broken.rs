//! Answers that break off, or fail, end as the dialect reports a failure.

use serde_json::Value;

use crate::streams::{CHAT, MESSAGES, RESPONSES, sent, stream};
use crate::{Gateway, data, request};

/// Checks the end of a stream, or the body of an error, behind the events that were passed on.
fn check(path: &str, name: &str, status: u16, body: &str, before: &[Value]) {
    if status != 200 {
        assert_eq!(
            status,
            if path == MESSAGES { 424 } else { 400 },
            "{name}: {body}"
        );
        let body: Value = serde_json::from_str(body).unwrap();
        assert!(body["error"].is_object(), "{name}: {body}");
        return;
    }
    let events = data(body);
    let passed = events
        .iter()
        .zip(before)
        .take_while(|(ours, sent)| ours == sent)
        .count();
    let own = &events[passed..];
    let last = own
        .last()
        .unwrap_or_else(|| panic!("{name} looks complete: {body}"));
    match path {
        CHAT => {
            assert!(
                own.len() == 1 && last["error"].is_object(),
                "{name}: {body}"
            );
            assert!(!body.contains("[DONE]"), "{name}: {body}");
        }
        RESPONSES => {
            assert_eq!(own.len(), 1, "{name}: {body}");
            assert_eq!(last["type"], "response.failed");
            assert_eq!(last["response"]["id"], "resp_up");
            assert_eq!(last["response"]["prompt_cache_retention"], "24h");
            let number = events[passed - 1]["sequence_number"].as_u64().unwrap();
            assert_eq!(last["sequence_number"], number + 1);
            assert!(body.ends_with("data: [DONE]\n\n"), "{name}: {body}");
        }
        _ => {
            assert_eq!(last["type"], "error", "{name}: {body}");
            assert!(!body.contains("message_stop"), "{name}: {body}");
            let open = events[..passed]
                .iter()
                .rev()
                .find(|it| it["index"].is_u64());
            let open = open.filter(|it| it["type"] != "content_block_stop");
            let start = open.and_then(|open| {
                let is_start = |it: &&Value| {
                    it["type"] == "content_block_start" && it["index"] == open["index"]
                };
                events.iter().find(is_start)
            });
            match start.map(|it| &it["content_block"]["type"]) {
                Some(kind) if kind != "text" && kind != "thinking" => {
                    assert_eq!(own.len(), 1, "{name}: {body}");
                }
                _ => {}
            }
            let is_signed = own
                .iter()
                .any(|it| it["delta"]["type"] == "signature_delta");
            assert!(!is_signed, "{name}: {body}");
            // Indexes go on.
            let starts = events
                .iter()
                .filter(|it| it["type"] == "content_block_start");
            let indexes: Vec<_> = starts.map(|it| it["index"].as_u64().unwrap()).collect();
            assert!(
                indexes.iter().copied().eq(0..indexes.len() as u64),
                "{name}: {body}"
            );
        }
    }
    assert!(!body.contains("There is no answer."), "{name}: {body}");
}

/// Returns the number of bytes after which the answer is complete.
fn complete(path: &str, stream: &str) -> usize {
    match path {
        // The end of the chunk with the finish reason.
        CHAT => {
            let finish = stream.rfind("\"finish_reason\":\"").unwrap();
            finish + stream[finish..].find("\n\n").unwrap() + 2
        }
        _ => stream.len(),
    }
}

#[test]
fn a_stream_that_is_cut_after_any_byte_is_a_failure() {
    for sent in sent() {
        let stream = stream(&sent);
        let is_short = ["a pause", "an approval", "lists"].contains(&sent.name);
        for end in 1..complete(sent.path, &stream) {
            // Any byte of some answers, and of the others the end of any event, and one byte before and behind it.
            let around = stream.get(end.saturating_sub(3)..).unwrap_or_default();
            if !is_short && !around.get(..5).unwrap_or_default().contains("\n\n") {
                continue;
            }
            let cut = &stream.as_bytes()[..end];
            let (status, body) = Gateway::new(sent.path, cut).ask(&request(sent.path, true));
            let name = format!("{} {} {end}", sent.path, sent.name);
            check(sent.path, &name, status, &body, &sent.events);
        }
    }
}

#[test]
fn an_error_is_not_passed_on() {
    let errors = [
        (
            CHAT,
            r#"{"error":{"message":"secret","type":"server_error","code":null}}"#,
        ),
        (
            MESSAGES,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"secret"}}"#,
        ),
        (
            RESPONSES,
            r#"{"type":"error","code":"server_error","message":"secret","param":null}"#,
        ),
        (
            RESPONSES,
            r#"{"type":"response.failed","response":{"id":"resp_up","status":"failed","error":{"code":"server_error","message":"secret"}}}"#,
        ),
    ];
    for sent in sent() {
        let frames = stream(&sent);
        let frames: Vec<_> = frames.split_inclusive("\n\n").collect();
        for (_, error) in errors.iter().filter(|(path, _)| *path == sent.path) {
            for at in 0..frames.len() - 1 {
                let stream = frames[..at].concat() + &format!("data: {error}\n\n") + frames[at];
                let (status, body) = Gateway::new(sent.path, stream).ask(&request(sent.path, true));
                let name = format!("{} {} {at}", sent.path, sent.name);
                check(sent.path, &name, status, &body, &sent.events);
                assert!(!body.contains("secret"), "{name}: {body}");
            }
        }
    }
}

#[test]
fn a_failure_before_the_first_output_has_a_status() {
    for (path, count) in [(CHAT, 1), (RESPONSES, 2), (MESSAGES, 1)] {
        let sent = sent().into_iter().find(|it| it.path == path).unwrap();
        let frames = stream(&sent);
        let head: String = frames.split_inclusive("\n\n").take(count).collect();
        for piece in ["", "data: no JSON\n\n", "data: {\"half\":"] {
            let gateway = Gateway::new(path, head.clone() + piece);
            let (status, body) = gateway.ask(&request(path, true));
            assert_eq!(status, if path == MESSAGES { 424 } else { 400 }, "{body}");
            assert!(!body.contains("up"), "{body}");
        }
    }
}
