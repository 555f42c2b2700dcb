//! A protocol of another crate whose streams are lines of JSON can do what one with server-sent events can.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    missing_docs
)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{
    AgentError, AnswerFormat, Conversation, Env, EventDecoder, EventError, HistoryItem, Protocol,
    ToolCall, Usage,
};
use copilot_wire::replies::{MemoryReplyStore, Replies, Task};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait, protocols};
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError, Target, check, recorded};
use copilot_wire_kit::{Clock, Harness, ToolOutcome, kit};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::Response;
use outside_protocol::ollama::{
    ChatRequest, DoneReason, Event, Model, OLLAMA_PLAYGROUND, Ollama, OllamaClient,
};
use serde_json::{Value, json};

/// The bodies of the fuzz targets.
#[path = "../../../../fuzz/src/input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../../../../fuzz/src/protocols.rs"]
#[allow(dead_code)]
mod properties;
#[path = "../support/mod.rs"]
mod support;
mod tools;

use support::mutations;

/// Does what the prompt says, in any protocol.
struct Player(Clock);

#[async_trait]
impl<P: Protocol> Agent<P> for Player {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let results: Vec<_> = request.results().collect();
        if !results.is_empty() {
            let told = results
                .iter()
                .map(|it| format!("{}={}", it.name, it.content));
            return Ok(reply.text(told.collect::<Vec<_>>().join(" ")).await?);
        }
        match request.prompt().as_deref().unwrap_or_default() {
            "think" => {
                reply.reasoning("Two and two").await?;
                reply.reasoning(" is four.").await?;
                reply.text("Four").await?;
                reply.text("\u{2028}.").await?;
                reply.usage(Usage::new(19, 10)).await?;
            }
            "fail" => return Err(AgentError::new("gave up")),
            "fail late" => {
                reply.text("Par").await?;
                return Err(AgentError::new("gave up"));
            }
            "wait" => {
                reply.text("One").await?;
                self.0.sleep(Duration::from_secs(60)).await;
                reply.text("Two").await?;
            }
            "call" => {
                let tide = ToolCall::new("get_tide", &json!({"port": "Brest"}))?;
                let moon = ToolCall::new("get_moon", &json!({}))?;
                return Ok(reply.calls(&[tide, moon])?);
            }
            other => reply.text(format!("You said {other}")).await?,
        }
        Ok(())
    }
}

fn player() -> Player {
    Player(Clock::new())
}

fn router() -> Router {
    let scripts = protocols::scripts().into_iter().chain([OLLAMA_PLAYGROUND]);
    let router = Router::new().playground_with(scripts).unwrap();
    let router = router.mount(Model::new("agent"), player()).unwrap();
    router.mount(Model::new("other"), player()).unwrap()
}

fn send(
    router: &Router,
    request: http::request::Builder,
    body: impl Into<Bytes>,
) -> Response<Body> {
    let chunks = stream::iter([Ok::<_, std::io::Error>(body.into())]);
    let request = request.header("content-type", "application/json");
    block_on(router.handle(request.body(chunks).unwrap()))
}

fn ask(
    router: &Router,
    request: http::request::Builder,
    body: impl Into<Bytes>,
) -> Response<String> {
    let (head, body) = send(router, request, body).into_parts();
    Response::from_parts(head, text(body))
}

fn text(body: Body) -> String {
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap().to_vec()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

fn said(prompt: &str) -> Value {
    json!({"model": "agent", "messages": [{"role": "user", "content": prompt}]})
}

fn chat(prompt: &str) -> Response<String> {
    ask(
        &router(),
        http::Request::post("/api/chat"),
        said(prompt).to_string(),
    )
}

/// The lines of a stream, without times.
fn lines(stream: &str) -> Vec<Value> {
    assert!(stream.is_empty() || stream.ends_with('\n'));
    let lines = stream.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for name in ["created_at", "total_duration"] {
            line.as_object_mut().unwrap().remove(name);
        }
        line
    });
    lines.collect()
}

fn piece(content: &str) -> Value {
    json!({"model": "agent", "message": {"role": "assistant", "content": content}, "done": false})
}

fn done() -> Value {
    let message = json!({"role": "assistant", "content": ""});
    json!({"model": "agent", "message": message, "done": true, "done_reason": "stop"})
}

#[test]
fn a_stream_is_lines() {
    let reply = chat("hi");
    assert_eq!(reply.headers()["content-type"], "application/x-ndjson");
    assert_eq!(reply.headers()["cache-control"], "no-cache, no-transform");
    assert_eq!(lines(reply.body()), [piece("You said hi"), done()]);

    let reply = chat("think");
    // Readers that split at this character too must not find it.
    assert!(!reply.body().contains('\u{2028}'));
    let thought = |text: &str| {
        let mut piece = piece("");
        piece["message"]["thinking"] = text.into();
        piece
    };
    let mut end = done();
    end["prompt_eval_count"] = 19.into();
    end["eval_count"] = 10.into();
    let expected = [
        thought("Two and two"),
        thought(" is four."),
        piece("Four"),
        piece("\u{2028}."),
        end,
    ];
    assert_eq!(lines(reply.body()), expected);
}

#[test]
fn an_answer_without_a_stream_is_one_line() {
    let mut request = said("think");
    request["stream"] = false.into();
    let reply = ask(
        &router(),
        http::Request::post("/api/chat"),
        request.to_string(),
    );
    assert_eq!(reply.headers()["content-type"], "application/json");
    let whole: Value = serde_json::from_str(reply.body()).unwrap();
    assert_eq!(whole["message"]["thinking"], "Two and two is four.");
    assert_eq!(whole["message"]["content"], "Four\u{2028}.");
    assert_eq!(
        (&whole["done"], &whole["eval_count"]),
        (&json!(true), &json!(10))
    );

    request["think"] = false.into();
    let reply = ask(
        &router(),
        http::Request::post("/api/chat"),
        request.to_string(),
    );
    assert!(!reply.body().contains("Two and two"), "{}", reply.body());
}

#[test]
fn a_failure_is_a_status_or_the_last_line() {
    let reply = chat("fail");
    assert_eq!(reply.status(), 400);
    assert_eq!(reply.headers()["content-type"], "application/json");
    assert_eq!(reply.body(), r#"{"error":"gave up"}"#);
    let reply = chat("fail late");
    assert_eq!(reply.status(), 200);
    assert_eq!(
        lines(reply.body()),
        [piece("Par"), json!({"error": "gave up"})]
    );
    let mut request = said("fail late");
    request["stream"] = false.into();
    let reply = ask(
        &router(),
        http::Request::post("/api/chat"),
        request.to_string(),
    );
    assert_eq!(
        (reply.status().as_u16(), &**reply.body()),
        (400, r#"{"error":"gave up"}"#)
    );
}

#[test]
fn a_failure_without_a_stream_has_its_status() {
    let agent = async |request: Request<Ollama>, _| {
        let failed = AgentError::new("gave up");
        Err(match request.prompt().as_deref() {
            Some("again") => failed.retryable(),
            Some("busy") => failed.status(http::StatusCode::TOO_MANY_REQUESTS),
            _ => failed,
        })
    };
    let router = Router::new().mount_fn(Model::new("agent"), agent).unwrap();
    for (prompt, status) in [("hi", 400), ("again", 503), ("busy", 429)] {
        let mut request = said(prompt);
        request["stream"] = false.into();
        let post = http::Request::post("/api/chat");
        let reply = ask(&router, post, request.to_string());
        assert_eq!(reply.status(), status, "{prompt}");
        let may_retry = !reply.headers().contains_key("x-should-retry");
        assert_eq!(may_retry, prompt == "again");
        assert_eq!(reply.body(), r#"{"error":"gave up"}"#);
    }
}

#[test]
fn models_are_found_and_described() {
    let router = router();
    let get = |path: &str| -> Value {
        let reply = ask(&router, http::Request::get(path), "");
        serde_json::from_str(reply.body()).unwrap()
    };
    let tags = get("/api/tags");
    let names: Vec<_> = tags["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["agent", "other"]);
    assert_eq!(tags["models"][0]["modified_at"], "1970-01-01T00:00:00Z");
    assert!(get("/api/version")["version"].is_string());
    let show = |name: &str| {
        ask(
            &router,
            http::Request::post("/api/show"),
            json!({"model": name}).to_string(),
        )
    };
    assert_eq!(show("other:latest").status(), 200);
    let mut request = said("hi");
    request["model"] = "nobody".into();
    let refused = ask(
        &router,
        http::Request::post("/api/chat"),
        request.to_string(),
    );
    for refused in [refused, show("nobody")] {
        assert_eq!(refused.status(), 404);
        assert_eq!(refused.body(), r#"{"error":"model: no such model"}"#);
    }
}

#[test]
fn a_request_is_a_conversation() {
    let request = json!({
        "model": "agent",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Tides?", "images": ["aGk="]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "get_tide", "arguments": {"port": "Brest"}}},
                {"function": {"name": "get_moon", "arguments": {}}},
                {"function": {"name": "get_tide", "arguments": {"port": "Faro"}}},
            ]},
            {"role": "tool", "content": "full", "tool_name": "get_moon"},
            {"role": "tool", "content": "4.2", "tool_name": "get_tide"},
            {"role": "tool", "content": "3.1", "tool_name": "get_tide"},
        ],
        "tools": [{"type": "function", "function": {"name": "get_tide", "parameters": {"type": "object"}}}],
        "format": {"type": "object"},
        "options": {"temperature": 0},
    });
    let request = ChatRequest::from_json(request.to_string()).unwrap();
    let kinds: Vec<_> = request
        .history()
        .map(|item| match item {
            HistoryItem::Message(message) => message.text.into_owned(),
            HistoryItem::Attachment(_) => "image".to_owned(),
            HistoryItem::Call(call) => format!("call {}", call.arguments),
            HistoryItem::Result(result) => format!("result {}", result.content),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "Be brief.",
        "Tides?",
        "image",
        r#"call {"port":"Brest"}"#,
        "call {}",
        r#"call {"port":"Faro"}"#,
        "result full",
        "result 4.2",
        "result 3.1",
    ];
    assert_eq!(kinds, expected);
    // Without ids, the results are those of the calls of their tool, in order.
    let ports: Vec<_> = request
        .results()
        .map(|result| result.arguments.unwrap().text().to_owned())
        .collect();
    assert_eq!(ports, ["{}", r#"{"port":"Brest"}"#, r#"{"port":"Faro"}"#]);
    assert_eq!(request.tools().count(), 1);
    assert!(matches!(
        request.answer_format(),
        Some(AnswerFormat::Schema(_))
    ));
}

#[test]
fn tools_are_called_and_answered() {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    let mut request = said("call");
    request["tools"] = json!([tool("get_tide"), tool("get_moon")]);
    request["messages"] = json!([]);
    let client = OllamaClient::continuing(ChatRequest::from_json(request.to_string()).unwrap());
    let mut harness = Harness::new(client, player());
    let turn = block_on(harness.prompt("call")).unwrap();
    let names: Vec<_> = turn.calls().iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["get_tide", "get_moon"]);
    let turn =
        block_on(harness.answer([ToolOutcome::text("4.2"), ToolOutcome::text("full")])).unwrap();
    assert_eq!(turn.text(), "get_tide=4.2 get_moon=full");
    // One that was not offered is not called.
    let mut harness = Harness::new(OllamaClient::new("agent"), player());
    let turn = block_on(harness.prompt("call")).unwrap();
    assert!(turn.calls().is_empty());
    assert_eq!(turn.faults().len(), 1, "{turn}");
}

#[test]
fn an_agent_of_this_protocol_says_why_it_ended() {
    let router = Router::new();
    let agent = async |_: Request<Ollama>, reply: Reply<Ollama>| {
        reply.text("cut off").await?;
        Ok(reply.end(DoneReason("length".into()))?)
    };
    let router = router.mount_fn(Model::new("agent"), agent).unwrap();
    let reply = ask(
        &router,
        http::Request::post("/api/chat"),
        said("hi").to_string(),
    );
    assert_eq!(lines(reply.body()).last().unwrap()["done_reason"], "length");
}

/// Reads a stream in chunks of a size.
fn decode(stream: &[u8], size: usize) -> (Vec<Event>, Result<(), EventError>) {
    let mut decoder = EventDecoder::<Ollama>::new().limit(1000);
    let mut events = Vec::new();
    for mut chunk in stream.chunks(size) {
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(event)) => events.push(event.clone()),
                Ok(None) => break,
                Err(error) => return (events, Err(error)),
            }
        }
    }
    let end = decoder.end();
    while let Some(event) = decoder.next(&mut &b""[..]).unwrap() {
        events.push(event.clone());
    }
    (events, end)
}

#[test]
fn a_stream_is_read_wherever_it_is_cut_into_chunks() {
    let stream = chat("think").into_body();
    let bare = stream.trim_end();
    let blank = stream.replace('\n', "\r\n\n");
    let whole = decode(stream.as_bytes(), usize::MAX);
    assert_eq!((whole.0.len(), &whole.1), (5, &Ok(())));
    for stream in [&stream, bare, &blank] {
        for size in 1..stream.len() + 1 {
            assert_eq!(decode(stream.as_bytes(), size), whole, "{size}");
        }
    }
    // A line that was cut in two is no fault of its own: the stream is not complete.
    let last = bare.rfind('\n').unwrap() + 1;
    for end in [last, last + 1, bare.len() - 1] {
        for size in [1, 7, usize::MAX] {
            let (events, end) = decode(&stream.as_bytes()[..end], size);
            assert_eq!(events, whole.0[..4]);
            assert!(matches!(end, Err(EventError::Truncated(_))), "{end:?}");
        }
    }
    let long = format!("{}\n", json!({"error": "x".repeat(1000)}));
    for size in [1, 100, usize::MAX] {
        assert!(matches!(
            decode(long.as_bytes(), size).1,
            Err(EventError::Stream(_))
        ));
    }
}

#[test]
fn silence_has_empty_pieces() {
    let clock = Clock::new();
    let mut harness = Harness::new(OllamaClient::new("agent"), Player(clock.clone())).clock(&clock);
    let turn = block_on(harness.prompt("wait")).unwrap();
    assert_eq!(turn.text(), "OneTwo");
    let is_empty = |event: &Event| event.done == Some(false) && event.message.content.is_empty();
    let empty = turn.events().iter().filter(|(_, event)| is_empty(event));
    assert!(empty.count() > 1);
}
