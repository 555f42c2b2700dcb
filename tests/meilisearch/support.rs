//! Helpers of the Meilisearch tests.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ChatRequest, Event, Meilisearch, Message, Output, Reply, SearchFailure, StreamOutcome, Tools,
    Unknown,
};
use copilot_wire::protocol::{Env, Environment, EventDecoder, Protocol, Session};
use copilot_wire::{Body, Router};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::{Method, Response};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/meilisearch")
        .join(name)
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn fixture_json(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

/// Returns the names of the recorded streams.
pub(crate) fn recordings() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(path("recorded"))
        .unwrap()
        .filter_map(|entry| {
            let exchange = entry.unwrap();
            let streamed = exchange.path().join("stream.sse").exists();
            streamed.then(|| exchange.file_name().into_string().unwrap())
        })
        .collect();
    names.sort();
    names
}

/// The result of decoding a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) events: Vec<Event>,
    pub(crate) rounds: Vec<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) outcome: StreamOutcome,
    pub(crate) done: bool,
    pub(crate) retry: Option<u64>,
}

/// Decodes with the given chunk sizes, repeated.
pub(crate) fn decode(mut stream: &[u8], sizes: &[usize]) -> Read {
    let mut decoder = EventDecoder::<Meilisearch>::new();
    let mut sizes = sizes.iter().copied().cycle();
    let (mut events, mut rounds, mut errors) = (Vec::new(), Vec::<String>::new(), Vec::new());
    while !stream.is_empty() {
        let size = sizes.next().unwrap_or(stream.len()).min(stream.len());
        let (mut chunk, rest) = stream.split_at(size);
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(event)) => events.push(event.clone()),
                Ok(None) => break,
                Err(error) => errors.push(error.to_string()),
            }
        }
        // A round may start without an event.
        if let Some(round) = decoder.decoder().round() {
            if rounds.last().is_none_or(|last| last != round) {
                rounds.push(round.to_owned());
            }
        }
        stream = rest;
    }
    Read {
        events,
        rounds,
        errors,
        outcome: decoder.decoder().outcome(),
        done: decoder.decoder().is_done(),
        retry: decoder.retry().map(|time| time.as_millis() as u64),
    }
}

pub(crate) fn whole(stream: &[u8]) -> Read {
    decode(stream, &[stream.len().max(1)])
}

pub(crate) fn text(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Returns an environment with a constant time, and ids from a counter.
pub(crate) fn counting() -> Env {
    struct Counting(AtomicU64);
    impl Environment for Counting {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_760_000_000)
        }
        fn random(&self, bytes: &mut [u8]) {
            let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            bytes.fill(0);
            let start = bytes.len() - count.len();
            bytes[start..].copy_from_slice(&count);
        }
    }
    Env::new(Counting(AtomicU64::new(1)))
}

pub(crate) fn request(model: &str, tools: Tools) -> ChatRequest {
    ChatRequest::new(model, [Message::user("hi")]).tools(tools)
}

/// Writes events as this crate's server does.
pub(crate) fn encode(model: &str, tools: Tools, events: &[Event]) -> Vec<u8> {
    let mut session = Meilisearch::session(&request(model, tools), &(), &counting());
    let mut out = Vec::new();
    for event in events {
        send(&mut session, event.clone(), &mut out);
    }
    out
}

/// Writes an event as a server that relays it.
pub(crate) fn send(session: &mut Session<Reply>, event: Event, out: &mut Vec<u8>) {
    let output = match event {
        Event::Text(text) => Output::Text(text),
        Event::Refusal(text) => Output::Refusal(text),
        Event::Progress(progress) => progress.into(),
        Event::Append(append) => append.into(),
        Event::Sources(sources) => sources.into(),
        Event::RoundBreak => Output::RoundBreak,
        Event::Provider(provider) => Output::Provider(provider),
        Event::Logprobs(logprobs) => Output::Logprobs(logprobs),
        Event::Unknown(Unknown::Call(call)) => Output::Call(call),
        Event::Error(failure) => match SearchFailure::try_from(failure) {
            Ok(failure) => failure.into(),
            Err(failure) => return session.ending(&failure.into(), out).unwrap(),
        },
        Event::Finish(reason) => return session.ending(&reason.into(), out).unwrap(),
        Event::Done => return session.finish(out),
        event => panic!("{event:?}"),
    };
    session.output(&output, out).unwrap();
}

pub(crate) fn post(
    router: &Router,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response<Body> {
    let chunk = Ok::<_, Infallible>(Bytes::copy_from_slice(body));
    let mut request = http::Request::builder().method(Method::POST).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    block_on(router.handle(request.body(stream::iter([chunk])).unwrap()))
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

pub(crate) fn body(response: Response<Body>) -> Vec<u8> {
    let frames: Vec<Bytes> = block_on(response.into_body().map(Result::unwrap).collect());
    frames.concat()
}
