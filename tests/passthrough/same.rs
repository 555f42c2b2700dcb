//! In the same dialect an answer arrives as it was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::{Value, json};

use crate::streams::{CHAT, MESSAGES, RESPONSES, sent, stream};
use crate::{Gateway, ask, data, request};

#[test]
fn every_event_arrives_as_it_was_sent() {
    for sent in sent() {
        for size in [1, 7, usize::MAX] {
            let gateway = Gateway::pieces(sent.path, stream(&sent), size);
            let (status, body) = gateway.ask(&request(sent.path, true));
            assert_eq!(status, 200, "{}: {body}", sent.name);
            assert_eq!(data(&body), sent.events, "{}", sent.name);
            let ends = body.ends_with("data: [DONE]\n\n");
            assert_eq!(ends, sent.path != MESSAGES, "{}: {body}", sent.name);
            // The members of a frame's name are those of the type.
            let names = body.lines().filter_map(|line| line.strip_prefix("event: "));
            let types = sent
                .events
                .iter()
                .filter_map(|event| event["type"].as_str());
            assert!(names.eq(types), "{}: {body}", sent.name);
        }
    }
}

/// Texts as they stand in an event: with escapes, separators, no characters, and halves of a pair.
const TEXTS: [&str; 14] = [
    "a", " b", "c", "\\n", "", "\u{2028}", "\u{e9}", "\\u2028", "\\ud83d", "\\ude00", "d", "e\\\"",
    "f", "g",
];

#[test]
fn texts_that_arrive_together_are_passed_on_one_by_one() {
    for (path, event) in [
        (
            CHAT,
            r#"data: {"id":"c1","choices":[{"index":0,"delta":{"content":"TEXT"}}],"x":"\u0085"}"#,
        ),
        (
            RESPONSES,
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":NUMBER,\"output_index\":0,\"delta\":\"TEXT\"}",
        ),
        (
            MESSAGES,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"TEXT\"}}",
        ),
    ] {
        let sent = sent().into_iter().find(|it| it.path == path).unwrap();
        let all = stream(&sent);
        let (first, rest) = all.split_at(all.find("\n\n").unwrap() + 2);
        let events = (8..).step_by(3).zip(TEXTS).map(|(number, text)| {
            event
                .replace("NUMBER", &number.to_string())
                .replace("TEXT", text)
                + "\n\n"
        });
        let events: String = events.collect();
        // Complete, and cut off: the failure has the next number.
        for rest in [rest, ""] {
            let seen = [1, 300, usize::MAX].map(|size| {
                let counted = Arc::new(AtomicU64::new(0));
                let count = Arc::clone(&counted);
                let gateway = Gateway::pieces(path, format!("{first}{events}{rest}"), size);
                let router = gateway
                    .router()
                    .observe(move |turn| count.store(turn.events, Relaxed));
                let (_, body) = ask(&router, path, &request(path, true));
                (body, counted.load(Relaxed))
            });
            assert!(
                seen[0].0.contains(&events.replace('\u{2028}', "\\u2028")),
                "{}",
                seen[0].0
            );
            assert_eq!(seen[1], seen[0]);
            assert_eq!(seen[2], seen[0]);
        }
    }
}

#[test]
fn usage_that_was_not_asked_for_is_not_sent() {
    for sent in sent().iter().filter(|sent| sent.path == CHAT) {
        let gateway = Gateway::new(sent.path, stream(sent));
        let mut request = request(sent.path, true);
        request["stream_options"] = Value::Null;
        let (_, body) = gateway.ask(&request);
        let expected = &sent.events[..sent.events.len() - 1];
        assert_eq!(data(&body), expected, "{}", sent.name);
        let asked = gateway.asked.lock().unwrap();
        assert_eq!(asked[0]["stream_options"]["include_usage"], true);
    }
}

#[test]
fn nothing_after_the_end_is_sent() {
    for sent in sent() {
        let twice = stream(&sent).repeat(2) + "data: no JSON\n\n";
        let (status, body) = Gateway::new(sent.path, twice).ask(&request(sent.path, true));
        assert_eq!((status, data(&body)), (200, sent.events), "{}", sent.name);
    }
}

#[test]
fn a_chat_completion_without_done_is_complete() {
    for sent in sent().iter().filter(|sent| sent.path == CHAT) {
        let stream = stream(sent).replace("data: [DONE]\n\n", "");
        let (_, body) = Gateway::new(CHAT, stream).ask(&request(CHAT, true));
        assert_eq!(data(&body), sent.events);
        assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
    }
}

#[test]
fn in_another_dialect_the_answer_is_relayed() {
    let sent = sent()
        .into_iter()
        .find(|sent| sent.path == RESPONSES)
        .unwrap();
    let gateway = Gateway::new(RESPONSES, stream(&sent));
    let tools = json!([{"name": "Other", "input_schema": {"type": "object"}}]);
    let mut request = request(MESSAGES, true);
    request["tools"] = tools;
    let (_, body) = crate::ask(&gateway.router(), MESSAGES, &request);
    assert!(
        body.contains("message_start") && !body.contains("resp_up"),
        "{body}"
    );
}
