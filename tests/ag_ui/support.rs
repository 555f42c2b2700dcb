//! Helpers of the AG-UI tests.

use copilot_wire::ag_ui::{AgUi, Event, Mount};
use copilot_wire::protocol::{AgentError, Env, Environment, EventDecoder};
use copilot_wire::{Agent, Reply, Request, Router, agent_fn};
use copilot_wire_kit::check::recorded;
use copilot_wire_kit::kit;
use http::Method;
use serde_json::{Value, json};

pub(crate) use crate::exchange::{send, whole};

pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<AgUi> + 'static
where
    F: Fn(Request<AgUi>, Reply<AgUi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(answer)
}

/// Random bytes that are not.
pub(crate) fn fixed() -> Env {
    struct Fixed;
    impl Environment for Fixed {
        fn random(&self, bytes: &mut [u8]) {
            bytes.fill(0x2a);
        }
    }
    Env::new(Fixed)
}

pub(crate) fn router(mount: Mount, agent: impl Agent<AgUi> + 'static) -> Router {
    Router::new().env(fixed()).mount(mount, agent).unwrap()
}

/// Posts a request and returns the status, the headers and the body.
pub(crate) fn post(router: &Router, body: &str) -> (http::response::Parts, String) {
    let request = http::Request::builder().method(Method::POST).uri("/agui");
    let (head, response) = send(router, request, body).into_parts();
    (head, whole(response))
}

/// A request with two tools.
pub(crate) fn ask(prompt: &str) -> String {
    json!({
        "threadId": "th1", "runId": "r1", "state": {"count": 1}, "context": [], "forwardedProps": {},
        "messages": [{"id": "u1", "role": "user", "content": prompt}],
        "tools": [
            {"name": "get_tide", "description": "The tide.", "parameters": {"type": "object"}},
            {"name": "get_wind", "description": ""},
        ],
    })
    .to_string()
}

/// The stream of an agent behind a mount.
pub(crate) fn mounted<F, Fut>(mount: Mount, answer: F) -> String
where
    F: Fn(Reply<AgUi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let router = router(mount, agent(move |_, reply| answer(reply)));
    let (head, text) = post(&router, &ask("Hi"));
    assert_eq!(head.status, 200, "{text}");
    text
}

/// The stream of an agent.
pub(crate) fn stream_of<F, Fut>(answer: F) -> String
where
    F: Fn(Reply<AgUi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    mounted(Mount::new(), answer)
}

/// The state of a client after a valid stream.
pub(crate) struct Read {
    pub(crate) events: Vec<Value>,
}

/// Reads a stream as the strictest client does.
pub(crate) fn read(stream: &str) -> Read {
    let report = recorded(kit::<AgUi>(), stream.as_bytes());
    assert!(report.findings.is_empty(), "{report}\n{stream}");
    let mut decoder = EventDecoder::<AgUi>::new();
    let mut input = stream.as_bytes();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        assert!(!matches!(event, Event::Unknown(_)), "{event:?}");
    }
    decoder.end().unwrap();
    let frames = stream.split("\n\n").filter(|frame| !frame.is_empty());
    let frames = frames.filter(|frame| !frame.starts_with(':'));
    let data = frames.map(|frame| frame.strip_prefix("data: ").unwrap());
    Read {
        events: data
            .map(|data| serde_json::from_str(data).unwrap())
            .collect(),
    }
}

impl Read {
    pub(crate) fn types(&self) -> Vec<&str> {
        let types = self.events.iter();
        types.map(|event| event["type"].as_str().unwrap()).collect()
    }

    /// The events of a type.
    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        let events = self.events.iter();
        events.filter(|event| event["type"] == kind).collect()
    }

    /// The only event of a type.
    pub(crate) fn one(&self, kind: &str) -> &Value {
        let all = self.all(kind);
        assert_eq!(all.len(), 1, "{kind}: {:?}", self.types());
        all[0]
    }

    /// The texts of the assistant, one for each message.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for event in &self.events {
            match event["type"].as_str().unwrap() {
                "TEXT_MESSAGE_START" => texts.push(String::new()),
                "TEXT_MESSAGE_CONTENT" => {
                    let text = texts.last_mut().unwrap();
                    text.push_str(event["delta"].as_str().unwrap());
                }
                _ => {}
            }
        }
        texts
    }
}
