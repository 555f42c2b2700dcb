//! The stream of another server inside a reply.

use std::sync::Arc;
use std::time::Duration;

use copilot_wire::json::Json;
use copilot_wire::models::RelayError;
use copilot_wire::openai::{FinishReason, Model, OpenAi, Relay};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::StatusCode;

use crate::rules::{End, check};
use crate::support::{Read, agent, post};

const BASIC: &[u8] = include_bytes!("../../fixtures/openai/chunk-basic.sse");
const CALLS: &[u8] = include_bytes!("../../fixtures/openai/chunk-tool-calls.sse");
const CHOICES: &[u8] = include_bytes!("../../fixtures/openai/chunk-two-choices-logprobs.sse");
const DOUBLE: &[u8] = include_bytes!("../../fixtures/openai/sse-proxied-double-done.sse");
const ERROR: &[u8] = include_bytes!("../../fixtures/openai/chunk-error-midstream.sse");
const REFUSAL: &[u8] = include_bytes!("../../fixtures/openai/chunk-refusal.sse");
const USAGE: &[u8] = include_bytes!("../../fixtures/openai/chunk-usage.sse");

const STREAM: &str = r#"{"messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true},
    "tools":[{"type":"function","function":{"name":"get_weather"}},
    {"type":"function","function":{"name":"get_tide"}},{"type":"function","function":{"name":"f"}}]}"#;

/// Returns the stream of a client when `upstream` is forwarded in pieces of `size` bytes.
fn forward(upstream: &'static [u8], size: usize) -> String {
    answer(upstream, size, STREAM)
}

fn answer(upstream: &'static [u8], size: usize, request: &str) -> String {
    let relaying = move |reply: Reply<OpenAi>| async move {
        let mut relay = Relay::new();
        for piece in upstream.chunks(size) {
            relay.pass(piece, &reply).await?;
        }
        Ok(relay.end(reply)?)
    };
    let router = Router::new().first_output_timeout(Duration::ZERO);
    let router = router.mount(Model::new("proxy"), agent(relaying)).unwrap();
    let (status, text) = post(&router, request);
    assert_eq!(status, StatusCode::OK);
    text
}

#[test]
fn a_relayed_stream_keeps_the_rules_and_what_it_says() {
    for (upstream, calls) in [
        (BASIC, 0),
        (CALLS, 2),
        (CHOICES, 0),
        (DOUBLE, 0),
        (REFUSAL, 0),
        (USAGE, 0),
    ] {
        for size in [7, 1 << 20] {
            let text = forward(upstream, size);
            check(&text, true, End::Done);
            let end = upstream
                .windows(8)
                .position(|window| window == b"[DONE]\n\n")
                .unwrap();
            let expected = Read::all(&upstream[..end + 8]).completion();
            let relayed = Read::all(text.as_bytes()).completion();
            for (said, heard) in expected.choices.iter().zip(&relayed.choices) {
                assert_eq!(said.message.content.text(), heard.message.content.text());
                assert_eq!(
                    said.message.refusal.as_deref().unwrap_or(""),
                    heard.message.refusal.as_deref().unwrap_or("")
                );
                assert_eq!(said.message.tool_calls, heard.message.tool_calls);
                assert_eq!(
                    (&said.logprobs, &said.finish_reason),
                    (&heard.logprobs, &heard.finish_reason)
                );
            }
            assert_eq!(expected.choices.len(), relayed.choices.len());
            assert_eq!(relayed.calls().len(), calls);
            assert_eq!(relayed.usage, expected.usage);
            assert_eq!(relayed.system_fingerprint, expected.system_fingerprint);
            assert_eq!(relayed.model, "proxy");
            assert_ne!(relayed.id, expected.id);
        }
    }
}

#[test]
fn unknown_members_come_through_at_every_level() {
    const UPSTREAM: &[u8] = b"data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n\
        data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":\"r\"},\"content_filter_results\":{\"hate\":1.50},\"finish_reason\":\"\"}],\"x_groq\":{\"id\":\"1\"}}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"A\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},\"extra_content\":{\"s\":1}}]},\"finish_reason\":\"tool_calls\"}]}\n\n\
        data: [DONE]\n\n";
    let text = forward(UPSTREAM, 11);
    let chunks = check(&text, true, End::Done);
    assert_eq!(chunks[1]["prompt_filter_results"][0]["prompt_index"], 0);
    assert_eq!(chunks[1]["x_groq"]["id"], "1");
    assert_eq!(chunks[1]["choices"][0]["delta"]["reasoning_content"], "r");
    assert!(text.contains("\"content_filter_results\":{\"hate\":1.50}"));
    assert_eq!(
        chunks[2]["choices"][0]["delta"]["tool_calls"][0]["extra_content"]["s"],
        1
    );
}

/// Azure begins with a chunk whose members are empty.
#[test]
fn the_kind_of_a_chunk_is_not_that_of_the_answer() {
    const UPSTREAM: &[u8] = b"data: {\"id\":\"\",\"object\":\"\",\"created\":0,\"model\":\"\",\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n\
        data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";
    let document = answer(UPSTREAM, 11, &STREAM.replace("true", "false"));
    assert!(
        document.contains("\"object\":\"chat.completion\""),
        "{document}"
    );
    assert!(!document.contains("\"object\":\"\""), "{document}");
    assert!(document.contains("prompt_filter_results"), "{document}");
}

#[test]
fn an_upstream_failure_is_a_failure() {
    check(&forward(ERROR, 9), true, End::Error);
    // Cut before the finish reason, with and without `[DONE]`.
    let cut = &BASIC[..BASIC.len() / 2];
    check(&forward(cut, 9), true, End::Error);
    const NO_REASON: &[u8] =
        b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    check(&forward(NO_REASON, 9), true, End::Error);
    check(&forward(b"data: nonsense\n\n", 9), true, End::Error);
    check(&forward(b"", 9), true, End::Error);
    // `[DONE]` alone may be missing: the answer is whole.
    let no_done = BASIC.strip_suffix(b"data: [DONE]\n\n").unwrap();
    check(&forward(no_done, 9), true, End::Done);

    let mut relay = Relay::new();
    match relay.read(ERROR) {
        Err(RelayError::Upstream(error)) => {
            assert_eq!(error.code.as_deref(), Some("server_error"));
            // What another server says stays out of logs.
            assert!(!format!("{error:?}").contains("Sorry"));
        }
        other => panic!("{other:?}"),
    }
}

/// Says upstream text and makes upstream calls, in any protocol.
struct Generic(&'static [u8]);

#[async_trait]
impl<P: Protocol> Agent<P> for Generic {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut relay = Relay::new();
        for piece in self.0.chunks(13) {
            relay.pass(piece, &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}

#[test]
fn a_generic_agent_says_upstream_text_and_makes_upstream_calls() {
    let answer = |upstream| {
        let router = Router::new()
            .mount(Model::new("m"), Arc::new(Generic(upstream)))
            .unwrap();
        let (_, text) = post(&router, STREAM);
        check(&text, true, End::Done);
        Read::all(text.as_bytes()).completion()
    };
    assert_eq!(
        answer(DOUBLE).message().unwrap().content.text(),
        "A closure is a function"
    );
    let refusal = answer(REFUSAL).message().unwrap().refusal.clone();
    assert_eq!(refusal.as_deref(), Some("I can't help."));
    let called = answer(CALLS);
    let names = called.calls().iter().map(|call| &*call.function.name);
    assert_eq!(names.collect::<Vec<_>>(), ["get_weather", "get_tide"]);
    assert_eq!(
        called.calls()[0].function.json().unwrap(),
        Json::parse("{\"city\":\"Brest\"}").unwrap()
    );
    assert_eq!(
        called.choices[0].finish_reason,
        Some(FinishReason::ToolCalls)
    );
}
