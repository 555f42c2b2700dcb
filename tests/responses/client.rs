//! The client role: streams of other servers, whole, cut and hostile.

use copilot_wire::Router;
use copilot_wire::json::Wire as _;
use copilot_wire::models::RelayError;
use copilot_wire::protocol::{
    AgentError, CallDelta, Completion, Cut, Delta, EventDecoder, EventError,
};
use copilot_wire::responses::{Event, EventKind, Model, Relay, Responses, StreamEvent};
use proptest::prelude::*;

use crate::rules::{End, check};
use crate::support::{HI, agent, answer, fixture, post, read};

/// Reads `bytes` cut into pieces of `size`; each event or error as text.
fn cut(bytes: &[u8], size: usize) -> Vec<String> {
    let mut decoder = EventDecoder::<Responses>::new();
    let mut all = Vec::new();
    for mut piece in bytes.chunks(size.max(1)) {
        loop {
            match decoder.next(&mut piece) {
                Ok(Some(Event::Stream(event))) => {
                    all.push(String::from_utf8(event.to_json().to_vec()).unwrap());
                }
                Ok(Some(event)) => all.push(format!("{event:?}")),
                Ok(None) => break,
                Err(EventError::Stream(error)) => {
                    all.push(error.to_string());
                    return all;
                }
                Err(error) => all.push(error.to_string()),
            }
        }
    }
    all.push(format!("{:?}", decoder.end().is_ok()));
    all
}

#[test]
fn every_chunking_reads_the_same() {
    for name in ["text.sse", "words.sse", "call.sse", "failed.sse"] {
        let stream = fixture(name);
        let whole = cut(stream.as_bytes(), usize::MAX);
        assert_eq!(whole.last().unwrap(), "true");
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(cut(stream.as_bytes(), size), whole, "{name} {size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_do_not_affect_others(
        pieces in prop::collection::vec("data: |event: response.completed\n|\n\n|\\[DONE\\]|\\{\"type\":|\"response.output_text.delta\"|,\"delta\":\"a\"|,\"output_index\":1e99|\\}|\\PC{0,4}", 0..24),
        size in 1_usize..9,
    ) {
        let stream = pieces.concat();
        prop_assert_eq!(cut(stream.as_bytes(), size), cut(stream.as_bytes(), usize::MAX));
    }
}

/// Numbers of events are right at every number of digits.
#[test]
fn numbers_follow_each_other() {
    let stream = answer(|reply| async move {
        for _ in 0..1_100 {
            reply.text("a ").await?;
        }
        Ok(())
    });
    assert!(stream.contains("\"sequence_number\":1099,"));
    check(&stream, End::Completed);
}

/// The smallest stream that Codex accepts: the item is whole, the response says nothing of it.
const SMALLEST: &str = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n\
    data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}}\n\n\
    data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"total_tokens\":3}}}\n\n";

fn completed(stream: &str) -> Completion {
    let mut decoder = EventDecoder::<Responses>::new();
    let mut answer = Completion::new();
    let mut input = stream.as_bytes();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        answer.push_event::<Responses>(event).unwrap();
    }
    assert_eq!(decoder.end().is_ok(), answer.is_complete());
    answer
}

#[test]
fn the_smallest_stream_is_a_whole_response() {
    let answer = completed(SMALLEST);
    assert!(answer.is_complete());
    assert_eq!(answer.text(), "Hi");
    assert_eq!(answer.usage().unwrap().total_tokens(), 3);
}

#[test]
fn a_cut_stream_keeps_what_came() {
    let stream = fixture("call.sse");
    let end = stream
        .find("event: response.function_call_arguments.done")
        .unwrap();
    let answer = completed(&stream[..end]);
    assert!(!answer.is_complete());
    assert!(answer.text().starts_with("Let me look."));
    assert_eq!(answer.cut(), Some(Cut::Other), "the call is not complete");
    let call = answer.calls().remove(0);
    assert_eq!(call.arguments.text(), r#"{"port":"Br\"est"}"#);
}

#[test]
fn a_completion_has_a_limit() {
    let mut answer = Completion::new().limit(2_000);
    let text = "x".repeat(100);
    for _ in 0..10 {
        answer.push(&Delta::Text(&text)).unwrap();
    }
    let far = CallDelta::new(u64::MAX, "", "", "x");
    answer.push(&Delta::Call(far)).unwrap();
    let large = "x".repeat(1_000);
    let refused = answer.push(&Delta::Text(&large)).unwrap_err();
    assert_eq!(refused.limit, 2_000, "an index is never a size");
    assert_eq!(answer.text().len(), 1_000);
}

#[test]
fn events_are_read_leniently() {
    let stream = "event: response.output_text.delta\ndata: {\"delta\":\"a\",\"obfuscation\":\"xyz\"}\n\n\
        data: {\"type\":\"response.from_tomorrow\",\"output_index\":\"odd\",\"x\":[1]}\n\n\
        data: {\"type\":\"response.completed\",\"response\":null}\n\ndata: [DONE]\n\n";
    let events = read(stream.as_bytes());
    assert_eq!(events[0].kind, EventKind::TextDelta);
    assert_eq!(events[0].said(), Some("a"));
    assert_eq!(events[1].kind.as_str(), "response.from_tomorrow");
    assert_eq!(
        events[1].unknown.get("output_index").unwrap().text(),
        "\"odd\""
    );
    let shown = format!("{:?}", StreamEvent::text("S3CRET"));
    assert!(!shown.contains("S3CRET"), "{shown}");
}

/// Answers with what `upstream` says, as text.
fn relay(upstream: &'static str) -> String {
    answer(move |reply| async move {
        let mut relay = Relay::new();
        for piece in upstream.as_bytes().chunks(11) {
            relay.pass(piece, &reply).await?;
        }
        Ok(relay.end(reply)?)
    })
}

#[test]
fn a_stream_is_passed_on_as_text_or_as_it_is() {
    let stream: &'static str = fixture("call.sse").leak();
    let checked = check(&relay(stream), End::Completed);
    assert!(checked.text.starts_with("Let me look."));
    assert_eq!(checked.items[1]["name"], "get_tide");

    for upstream in ["call.sse", "words.sse", "text.sse"] {
        let stream = fixture(upstream);
        let router = Router::new().mount(
            Model::new("m"),
            agent(move |reply| {
                let stream = stream.clone();
                async move {
                    let mut relay = Relay::new();
                    for piece in stream.as_bytes().chunks(11) {
                        relay.pass(piece, &reply).await?;
                    }
                    Ok(relay.end(reply)?)
                }
            }),
        );
        let checked = check(&post(&router.unwrap(), HI).1, End::Completed);
        let first = check(&fixture(upstream), End::Completed);
        assert_eq!(checked.text, first.text);
        assert_eq!(checked.kinds(), first.kinds());
        assert_ne!(checked.response["id"], first.response["id"]);
    }
}

#[test]
fn a_relayed_text_has_its_reasoning_and_usage() {
    let checked = check(&relay(fixture("words.sse").leak()), End::Completed);
    let first = check(&fixture("words.sse"), End::Completed);
    assert_eq!(checked.text, first.text);
    assert_eq!(checked.items[0]["summary"], first.items[0]["summary"]);
    assert_eq!(checked.response["usage"], first.response["usage"]);
}

#[test]
fn a_relay_fails_as_its_upstream_does() {
    let failed = fixture("failed.sse");
    let cut = failed
        .split("event: response.failed")
        .next()
        .unwrap()
        .to_owned();
    for (stream, expected) in [
        (failed, "upstream failed: server_error"),
        (cut, "upstream ended early"),
    ] {
        let checked = check(
            &answer(move |reply| {
                let stream = stream.clone();
                async move {
                    let mut relay = Relay::new();
                    let relayed = relay.pass(stream.as_bytes(), &reply).await;
                    let error = relayed.err().or_else(|| relay.finish().err()).unwrap();
                    assert_eq!(error.to_string(), expected);
                    if let RelayError::Upstream(error) = &error {
                        assert_eq!(error.message, "Away.");
                    }
                    Err(AgentError::from(error))
                }
            }),
            End::Failed,
        );
        assert_eq!(checked.text, "Half");
    }
}
