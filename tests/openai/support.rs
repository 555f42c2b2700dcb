//! Helpers of the OpenAI tests.

use std::time::{Duration, SystemTime};

use copilot_wire::openai::{ChatCompletion, ChatCompletionChunk, ErrorObject, Event, OpenAi};
use copilot_wire::protocol::{AgentError, Completion, Env, Environment, EventDecoder};
use copilot_wire::sse::TooLarge;
use copilot_wire::{Agent, Body, Reply, Router, agent_fn};
use http::{Method, Response, StatusCode};

use crate::exchange;
pub(crate) use crate::exchange::whole;

/// An agent that does not look at the request.
pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<OpenAi>
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(move |_, reply| answer(reply))
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

pub(crate) fn send(router: &Router, method: Method, path: &str, body: &str) -> Response<Body> {
    let request = http::Request::builder().method(method).uri(path);
    exchange::send(router, request, body)
}

pub(crate) fn post(router: &Router, body: &str) -> (StatusCode, String) {
    let response = send(router, Method::POST, "/v1/chat/completions", body);
    (response.status(), whole(response.into_body()))
}

pub(crate) fn get(router: &Router, path: &str) -> (StatusCode, String) {
    let response = send(router, Method::GET, path, "");
    (response.status(), whole(response.into_body()))
}

/// The answer that a client reads from a stream.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) chunks: Vec<ChatCompletionChunk>,
    pub(crate) error: Option<ErrorObject>,
    pub(crate) done: usize,
}

/// Adds a chunk to an answer.
pub(crate) fn push(answer: &mut Completion, chunk: &ChatCompletionChunk) -> Result<(), TooLarge> {
    answer.push_event::<OpenAi>(&Event::Chunk(chunk.clone()))
}

impl Read {
    pub(crate) fn all(bytes: &[u8]) -> Self {
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut read = Self::default();
        let mut input = bytes;
        while let Some(event) = decoder.next(&mut input).unwrap() {
            match event {
                Event::Chunk(chunk) => read.chunks.push(chunk.clone()),
                Event::Error(error) => read.error = Some(error.clone()),
                Event::Done => read.done += 1,
                _ => panic!("unknown event"),
            }
        }
        read
    }

    pub(crate) fn completion(&self) -> ChatCompletion {
        let mut whole = Completion::new();
        for chunk in &self.chunks {
            push(&mut whole, chunk).unwrap();
        }
        ChatCompletion::from(whole)
    }
}
