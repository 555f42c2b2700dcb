//! Helpers of the Anthropic tests.

use std::time::{Duration, SystemTime};

use copilot_wire::anthropic::{Anthropic, Model};
use copilot_wire::protocol::{AgentError, Env, Environment};
use copilot_wire::{Agent, Reply, Request, Router, agent_fn};
use http::Method;
use serde_json::{Value, json};

pub(crate) use crate::exchange::{send, whole};

pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<Anthropic> + 'static
where
    F: Fn(Request<Anthropic>, Reply<Anthropic>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(answer)
}

/// A fixed time, and random bytes that are not.
pub(crate) fn fixed() -> Env {
    struct Fixed;
    impl Environment for Fixed {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000)
        }
        fn random(&self, bytes: &mut [u8]) {
            bytes.fill(0x2a);
        }
    }
    Env::new(Fixed)
}

/// A router with one agent, mounted as `analyst`.
pub(crate) fn router(agent: impl Agent<Anthropic> + 'static) -> Router {
    let router = Router::new().env(fixed());
    router.mount(Model::new("analyst"), agent).unwrap()
}

/// Posts a request and returns the status, the headers and the body.
pub(crate) fn post(router: &Router, body: &Value) -> (http::response::Parts, String) {
    let request = http::Request::builder()
        .method(Method::POST)
        .uri("/v1/messages");
    let (head, response) = send(router, request, body.to_string()).into_parts();
    (head, whole(response))
}

/// A request for a stream, with two tools.
pub(crate) fn ask(prompt: &str) -> Value {
    json!({
        "model": "analyst", "max_tokens": 1024, "stream": true,
        "messages": [{"role": "user", "content": prompt}],
        "tools": [
            {"name": "get_tide", "description": "The tide.", "input_schema": {"type": "object"}},
            {"name": "get_wind"},
        ],
    })
}

/// The stream of an agent, whose head does not wait.
pub(crate) fn stream_of<F, Fut>(answer: F) -> String
where
    F: Fn(Reply<Anthropic>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let router = router(agent(move |_, reply| answer(reply)));
    let (head, text) = post(&router.first_output_timeout(Duration::ZERO), &ask("Hi"));
    assert_eq!(head.status, 200, "{text}");
    text
}
