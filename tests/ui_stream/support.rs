//! Helpers of the tests.

use std::sync::atomic::{AtomicU8, Ordering};

use copilot_wire::protocol::{AgentError, Env, Environment, EventDecoder};
use copilot_wire::ui_stream::{Event, Mount, UiStream};
use copilot_wire::{Agent, Reply, Request, Router, agent_fn};
use copilot_wire_kit::check::recorded;
use copilot_wire_kit::kit;
use http::{Method, Response};
use serde_json::Value;

use crate::exchange::{self, whole};

pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<UiStream>
where
    F: Fn(Request<UiStream>, Reply<UiStream>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(answer)
}

/// Random bytes that count.
pub(crate) fn fixed() -> Env {
    struct Fixed(AtomicU8);
    impl Environment for Fixed {
        fn random(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }
    Env::new(Fixed(AtomicU8::new(1)))
}

pub(crate) fn router(mount: Mount, agent: impl Agent<UiStream> + 'static) -> Router {
    Router::new().env(fixed()).mount(mount, agent).unwrap()
}

pub(crate) fn send(router: &Router, method: Method, path: &str, body: &str) -> Response<String> {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("origin", "http://localhost:3000");
    exchange::send(router, request, body).map(whole)
}

/// Posts a request and returns the stream, which keeps all rules.
pub(crate) fn post(router: &Router, body: &str) -> String {
    let response = send(router, Method::POST, "/api/chat", body);
    assert_eq!(response.status(), 200, "{}", response.body());
    let stream = response.into_body();
    let report = recorded(kit::<UiStream>(), stream.as_bytes());
    assert!(report.is_clean(), "{report}\n{stream}");
    stream
}

/// One message of the user.
pub(crate) fn hello() -> String {
    fixture("req-text-5.0.0.json")
}

pub(crate) fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/ui-stream/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The chunks of a stream as JSON, without `[DONE]`, which must be its end.
pub(crate) fn chunks(stream: &str) -> Vec<Value> {
    let rest = stream.strip_suffix("data: [DONE]\n\n").unwrap();
    let frames = rest.split_terminator("\n\n");
    frames
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

/// The types of the chunks.
pub(crate) fn kinds(stream: &str) -> Vec<String> {
    let chunks = chunks(stream).into_iter();
    chunks
        .map(|chunk| chunk["type"].as_str().unwrap().to_owned())
        .collect()
}

pub(crate) fn decode(stream: &[u8]) -> Vec<Event> {
    let mut decoder = EventDecoder::<UiStream>::new();
    let mut input = stream;
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    decoder.end().unwrap();
    events
}
