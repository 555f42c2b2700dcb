//! In the same dialect an answer arrives as it was sent.

use serde_json::{Value, json};

use crate::streams::{CHAT, MESSAGES, RESPONSES, sent, stream};
use crate::{Gateway, data, request};

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
