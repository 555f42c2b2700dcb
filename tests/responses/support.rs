//! Helpers of the Responses tests.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{AgentError, Env, Environment, EventDecoder};
use copilot_wire::responses::{Event, Model, Responses, StreamEvent};
use copilot_wire::{Agent, Body, Reply, Router, agent_fn};
use http::{Method, Response, StatusCode};

use crate::exchange;
pub(crate) use crate::exchange::whole;

/// An agent that does not look at the request.
pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<Responses>
where
    F: Fn(Reply<Responses>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(move |_, reply| answer(reply))
}

/// A fixed time, and random bytes that are counted.
pub(crate) fn fixed() -> Env {
    struct Fixed(AtomicU8);
    impl Environment for Fixed {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000)
        }
        fn random(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }
    Env::new(Fixed(AtomicU8::new(0x11)))
}

/// Mounts an agent as the model `m`.
pub(crate) fn router(agent: impl Agent<Responses> + 'static) -> Router {
    let router = Router::new().env(fixed());
    router.mount(Model::new("m"), agent).unwrap()
}

pub(crate) fn send(router: &Router, method: Method, path: &str, body: &str) -> Response<Body> {
    let request = http::Request::builder().method(method).uri(path);
    exchange::send(router, request, body)
}

pub(crate) fn post(router: &Router, body: &str) -> (StatusCode, String) {
    let response = send(router, Method::POST, "/v1/responses", body);
    (response.status(), whole(response.into_body()))
}

/// A small request for a stream, with one function on offer.
pub(crate) const HI: &str = r#"{"model":"m","stream":true,"input":"hi","tools":[{"type":"function","name":"get_tide","parameters":{"type":"object"}}]}"#;

/// Posts [`HI`] to an agent and returns the stream, whose head does not wait.
pub(crate) fn answer<F, Fut>(answer: F) -> String
where
    F: Fn(Reply<Responses>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let router = router(agent(answer)).first_output_timeout(Duration::ZERO);
    let (status, text) = post(&router, HI);
    assert_eq!(status, StatusCode::OK);
    text
}

/// Returns what a client reads of a stream.
pub(crate) fn read(bytes: &[u8]) -> Vec<StreamEvent> {
    let mut decoder = EventDecoder::<Responses>::new();
    let mut events = Vec::new();
    let mut input = bytes;
    while let Some(event) = decoder.next(&mut input).unwrap() {
        if let Event::Stream(event) = event {
            events.push(StreamEvent::clone(event));
        }
    }
    decoder.end().unwrap();
    assert!(bytes.ends_with(b"data: [DONE]\n\n"));
    events
}

pub(crate) fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/responses/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
