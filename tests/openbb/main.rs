//! The OpenBB Workspace protocol, against the recorded requests and streams in `fixtures/openbb`.

#![cfg(feature = "openbb")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod byte_equality;
mod calls;
mod checks;
mod depth;
mod descriptor;
mod events;
#[path = "../exchange/mod.rs"]
mod exchange;
mod facts;
mod interop;
mod members;
mod mutation;
mod properties;
mod reader;
mod refusals;
mod results;
mod router;
mod sdk;
mod state;
mod tree;
mod vocabulary;
mod workspace;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openbb::{Event, FunctionCall, OpenBb, Output, QueryRequest, Reply};
use copilot_wire::protocol::{
    Env, Environment, EventDecoder, EventError, Protocol, SendError, Session,
};

/// A source of random bytes that are the same in every run.
#[derive(Default)]
struct Fixed(AtomicU64);

impl Environment for Fixed {
    fn random(&self, bytes: &mut [u8]) {
        let word = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes
            .iter_mut()
            .rev()
            .zip(word.iter().rev())
            .for_each(|(to, from)| *to = *from);
    }
}

fn env() -> Env {
    Env::new(Fixed::default())
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/openbb")
}

fn fixture(name: &str) -> Bytes {
    Bytes::from(std::fs::read(folder().join(name)).unwrap())
}

/// Returns the paths of all fixtures whose path starts with `start` and ends with `end`.
fn fixtures(start: &str, end: &str) -> Vec<String> {
    let (parent, _) = start.split_at(start.find('/').map_or(0, |slash| slash + 1));
    let mut names: Vec<String> = std::fs::read_dir(folder().join(parent))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("{parent}{name}"))
        .filter(|path| path.starts_with(start) && path.ends_with(end))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn read(body: impl Into<Bytes>) -> QueryRequest {
    QueryRequest::from_json(body.into()).unwrap()
}

fn request(name: &str) -> QueryRequest {
    read(fixture(&format!("req_{name}.json")))
}

/// Returns a request with one short message.
fn plain() -> QueryRequest {
    read(r#"{"messages":[{"role":"human","content":"hi"}]}"#)
}

fn json(text: &str) -> Json {
    Json::parse(text.to_owned()).unwrap()
}

/// Writes an event as its agent sends it.
fn send(session: &mut Session<Reply>, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
    match event {
        Event::Output(output) => session.output(output, out),
        Event::FunctionCall(call) => session.ending(call, out),
        other => panic!("{other:?}"),
    }
}

/// Encodes events in reply to a request, and checks that the Workspace accepts the result.
fn encode(
    request: &QueryRequest,
    events: impl IntoIterator<Item = Event>,
) -> Result<Vec<u8>, SendError> {
    let mut session = OpenBb::session(request, &(), &env());
    let mut out = Vec::new();
    for event in events {
        send(&mut session, &event, &mut out)?;
    }
    workspace::read(&out).unwrap();
    Ok(out)
}

/// Returns the data of the only event of a reply.
fn data(request: &QueryRequest, event: impl Into<Event>) -> Result<String, SendError> {
    let out = encode(request, [event.into()])?;
    let text = String::from_utf8(out).unwrap();
    let (_, data) = text.split_once("\ndata: ").unwrap();
    Ok(data.trim_end().to_owned())
}

fn output_event(output: impl Into<Output>) -> Event {
    Event::Output(output.into())
}

/// Returns the arguments and the state of a call as written.
fn called(request: &QueryRequest, call: impl Into<FunctionCall>) -> Result<Json, SendError> {
    let data = data(request, call.into())?;
    Ok(json(&data))
}

fn decode(stream: &[u8]) -> Result<Vec<Event>, EventError> {
    let mut decoder = EventDecoder::<OpenBb>::new();
    let mut input = stream;
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input)? {
        events.push(event.clone());
    }
    Ok(events)
}
