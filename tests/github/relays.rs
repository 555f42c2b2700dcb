//! Relaying of a model's stream as the agent's answer.

use copilot_wire::github::{Event, Output, Relay};

use crate::events::decode;
use crate::fixtures::bytes;

fn relay(name: &str) -> (Vec<Output>, bool) {
    let mut relay = Relay::new();
    let said = decode(&bytes(name))
        .into_iter()
        .filter_map(|event| relay.next(&event))
        .collect();
    (said, relay.is_complete())
}

#[test]
fn only_what_is_said_goes_on() {
    let text = |text: &str| Output::Text(text.into());
    let cases = [
        ("chunk-basic.sse", vec![text("Hello"), text(" world")], true),
        (
            "chunk-framing.sse",
            [" crlf", " named", " two-lines"].into_iter().fold(
                vec![text("no space")],
                |mut all, it| {
                    all.push(text(it));
                    all
                },
            ),
            true,
        ),
        ("chunk-usage.sse", vec![text("Hi")], true),
        // Calls are not relayed.
        ("chunk-tool-calls.sse", vec![], true),
        ("chunk-two-choices-logprobs.sse", vec![text("A")], true),
        // Everything after the first `[DONE]` is dropped.
        (
            "sse-proxied-double-done.sse",
            vec![text(""), text("A closure"), text(" is a function")],
            true,
        ),
    ];
    for (name, expected, complete) in cases {
        assert_eq!(relay(name), (expected, complete), "{name}");
    }
}

#[test]
fn a_failure_of_the_model_is_sent() {
    let (said, complete) = relay("chunk-error-midstream.sse");
    let [Output::Text(text), Output::Errors(errors)] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(text, "Par");
    assert!(errors[0].message.starts_with("The server had an error"));
    assert!(!complete);
    let mut relay = Relay::new();
    assert_eq!(relay.next(&Event::Done), None);
    assert_eq!(relay.next(&Output::Text("late".into()).into()), None);
    assert!(!relay.is_complete());
}
