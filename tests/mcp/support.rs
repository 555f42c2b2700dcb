//! Helpers of the tests.

use std::convert::Infallible;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use copilot_wire::mcp::{Event, Mcp, Mount};
use copilot_wire::protocol::{AgentError, Env, Environment, EventDecoder, Refusal, User};
use copilot_wire::{Agent, Body, Reply, Request, Router, agent_fn};
use futures::StreamExt as _;
use futures::stream;
use http::{Method, Response};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// The version without sessions.
pub(crate) const NEW: &str = "2026-07-28";

/// The time of the runtime, which is virtual.
struct Paused(Instant);

impl Environment for Paused {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_767_225_600) + self.0.elapsed()
    }
}

pub(crate) fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}

pub(crate) async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

pub(crate) fn agent<F, Fut>(answer: F) -> impl Agent<Mcp>
where
    F: Fn(Request<Mcp>, Reply<Mcp>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    agent_fn(answer)
}

pub(crate) fn mount() -> Mount {
    Mount::new("ask", "Asks the analyst one question.")
}

/// A router in virtual time whose users are in a header.
pub(crate) fn empty() -> Router {
    Router::new()
        .env(Env::new(Paused(Instant::now())))
        .guard(identify)
}

pub(crate) fn router(agent: impl Agent<Mcp> + 'static) -> Router {
    empty().mount(mount(), agent).unwrap()
}

/// An agent that says one word.
pub(crate) fn quiet() -> Router {
    router(agent(|_, reply| async move { Ok(reply.text("Hi").await?) }))
}

async fn identify(mut parts: http::request::Parts) -> Result<http::request::Parts, Refusal> {
    let user = parts.headers.get("x-user");
    if let Some(user) = user.and_then(|user| user.to_str().ok()).map(User::new) {
        parts.extensions.insert(user);
    }
    Ok(parts)
}

pub(crate) async fn send(
    router: &Router,
    method: Method,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Body> {
    let mut request = http::Request::builder().method(method).uri("/mcp");
    if !headers.iter().any(|(name, _)| *name == "accept") {
        request = request.header("accept", "application/json, text/event-stream");
    }
    request = request.header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = Bytes::from(body.to_owned());
    let body = stream::iter([Ok::<_, Infallible>(body)]);
    router.handle(request.body(body).unwrap()).await
}

pub(crate) async fn post(
    router: &Router,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response<Body> {
    send(router, Method::POST, headers, &body.to_string()).await
}

/// Posts a message of the version without sessions, with its headers.
pub(crate) async fn post_new(
    router: &Router,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response<Body> {
    let method = body["method"].as_str().unwrap_or_default();
    let mut all = vec![("mcp-protocol-version", NEW), ("mcp-method", method)];
    if let Some(name) = body["params"]["name"].as_str() {
        all.push(("mcp-name", name));
    }
    all.extend(headers);
    post(router, &all, body).await
}

pub(crate) async fn read(body: Body) -> String {
    let frames: Vec<Bytes> = body.map(Result::unwrap).collect().await;
    String::from_utf8(frames.concat()).unwrap()
}

/// Reads frames until one has this text.
pub(crate) async fn read_until(body: &mut Body, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        let Some(Ok(frame)) = body.next().await else {
            panic!("no {text} in {all}");
        };
        all.push_str(std::str::from_utf8(&frame).unwrap());
    }
    all
}

pub(crate) async fn json_of(response: Response<Body>) -> Value {
    let body = read(response.into_body()).await;
    serde_json::from_str(&body).unwrap_or_else(|_| panic!("no JSON: {body}"))
}

/// A call in a session.
pub(crate) fn call(question: &str) -> Value {
    let meta = json!({"progressToken": 7});
    let params = json!({"name": "ask", "arguments": {"question": question}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// A message of the version without sessions.
pub(crate) fn new(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "progressToken": "t",
    });
    json!({"jsonrpc": "2.0", "id": "c1", "method": method, "params": params})
}

pub(crate) fn new_call(question: &str) -> Value {
    new(
        "tools/call",
        json!({"name": "ask", "arguments": {"question": question}}),
    )
}

/// The messages of a stream.
pub(crate) fn messages(stream: &str) -> Vec<Value> {
    let lines = stream.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The result of a stream, which is its last message.
pub(crate) fn result(stream: &str) -> Value {
    let last = messages(stream).pop();
    let last = last.unwrap_or_else(|| panic!("no message: {stream}"));
    assert!(last["result"].is_object(), "{stream}");
    last["result"].clone()
}

pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

pub(crate) fn decode(stream: &[u8]) -> Vec<Event> {
    let mut decoder = EventDecoder::<Mcp>::new();
    let mut input = stream;
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    decoder.end().unwrap();
    events
}

pub(crate) fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/mcp/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
