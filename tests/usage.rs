//! The tokens of a turn: the sum over all calls of models, each of which counts once.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "exchange/mod.rs"]
mod exchange;

use std::sync::{Arc, Mutex};

use copilot_wire::models::{Relay, Upstream};
use copilot_wire::protocol::{AgentError, Protocol, Usage};
use copilot_wire::{Agent, Reply, Request, Router, anthropic, async_trait, openai, responses};
use exchange::{send, whole};
use serde_json::{Value, json};

/// Relays every stream into one reply.
struct Loop<U: Upstream>(Vec<String>, std::marker::PhantomData<fn() -> U>);

#[async_trait]
impl<P: Protocol, U: Upstream> Agent<P> for Loop<U> {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for stream in &self.0 {
            let mut relay = Relay::<U>::new();
            let relayed = relay.pass(stream.as_bytes(), &reply).await;
            relayed.map_err(|_| AgentError::new("the upstream failed"))?;
        }
        Ok(())
    }
}

fn frames(events: &[Value]) -> String {
    let frames = events.iter().map(|event| {
        let name = event["type"].as_str();
        let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
        format!("{name}data: {event}\n\n")
    });
    frames.collect()
}

/// A stream that has its figures twice, the first time in part, as some servers send them with every chunk.
fn chat(input: u64, output: u64) -> String {
    let chunk = |output: u64, reason: Value| {
        json!({
            "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": input / 10},
                "completion_tokens_details": {"reasoning_tokens": output / 5},
            },
        })
    };
    let part = frames(&[chunk(output / 2, json!(null)), chunk(output, json!("stop"))]);
    format!("{part}data: [DONE]\n\n")
}

fn messages(input: u64, output: u64) -> String {
    let delta = |output: u64| json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}});
    let usage = json!({
        "input_tokens": input - input / 10, "cache_read_input_tokens": input / 10, "output_tokens": 1,
    });
    frames(&[
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage,
        }}),
        delta(output / 2),
        delta(output),
        json!({"type": "message_stop"}),
    ])
}

fn response(input: u64, output: u64) -> String {
    let event = |kind: &str, status: &str| {
        json!({"type": kind, "sequence_number": 0, "response": {
            "id": "resp_1", "object": "response", "status": status, "output": [],
            "usage": {
                "input_tokens": input, "input_tokens_details": {"cached_tokens": input / 10},
                "output_tokens": output, "output_tokens_details": {"reasoning_tokens": output / 5},
                "total_tokens": input + output,
            },
        }})
    };
    frames(&[
        event("response.in_progress", "in_progress"),
        event("response.completed", "completed"),
    ])
}

/// Returns what observers and the client of chat completions get.
fn spent<U: Upstream>(streams: [String; 2]) -> (Usage, Value) {
    let seen = Arc::new(Mutex::new(None));
    let log = Arc::clone(&seen);
    let router = Router::new()
        .observe(move |turn| *log.lock().unwrap() = turn.usage)
        .mount(
            openai::Model::new("m"),
            Loop::<U>(streams.into(), std::marker::PhantomData),
        )
        .unwrap();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let request = http::Request::post("/v1/chat/completions");
    let answer = whole(send(&router, request, body.to_string()).into_body());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let seen = seen.lock().unwrap();
    (seen.unwrap(), answer["usage"].clone())
}

#[test]
fn the_calls_of_a_turn_add_up_and_repeated_figures_do_not() {
    let full = Usage::new(300, 30)
        .cached_input_tokens(30)
        .reasoning_tokens(6);
    for (name, (seen, sent)) in [
        (
            "chat",
            spent::<openai::OpenAi>([chat(100, 10), chat(200, 20)]),
        ),
        (
            "responses",
            spent::<responses::Responses>([response(100, 10), response(200, 20)]),
        ),
        (
            "messages",
            spent::<anthropic::Anthropic>([messages(100, 10), messages(200, 20)]),
        ),
    ] {
        // Messages do not tell reasoning apart.
        let reasoning = if name == "messages" { 0 } else { 6 };
        assert_eq!(seen, full.reasoning_tokens(reasoning), "{name}");
        assert_eq!(
            (&sent["prompt_tokens"], &sent["completion_tokens"]),
            (&json!(300), &json!(30)),
            "{name}: {sent}"
        );
        assert_eq!(sent["prompt_tokens_details"]["cached_tokens"], 30, "{name}");
    }
}

/// Reports tokens twice while the client reads nothing; the later report is sent first.
struct Twice;

#[async_trait]
impl<P: Protocol> Agent<P> for Twice {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        reply.text("x".repeat(20_000)).await?;
        let mut first = std::pin::pin!(reply.usage(Usage::new(1, 0)));
        assert!(futures::poll!(first.as_mut()).is_pending());
        reply.usage(Usage::new(2, 0)).await?;
        Ok(first.await?)
    }
}

#[test]
fn the_last_figures_of_a_stream_are_the_sum() {
    let router = Router::new().mount(openai::Model::new("m"), Twice).unwrap();
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}],
        "stream": true, "stream_options": {"include_usage": true},
    });
    let request = http::Request::post("/v1/chat/completions");
    let stream = whole(send(&router, request, body.to_string()).into_body());
    let (_, figures) = stream.rsplit_once(r#""prompt_tokens":"#).unwrap();
    assert!(figures.starts_with("3,"), "{figures}");
}
