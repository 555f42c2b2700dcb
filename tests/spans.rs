//! The output for `tracing`: spans around the turn of an agent, the calls of its model and the runs of its tools, and an
//! event with the outcome of the turn.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::agent::execute_tool;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Profile, Relay, Upstream, chat, chat_with_contents, refused};
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{
    AgentError, Conversation, Env, Environment, ModelFault, Protocol, User,
};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

type Fields = BTreeMap<&'static str, String>;

/// Writes down spans and events, each event with the span that it is in.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    /// Each with its parent.
    spans: Vec<(Option<usize>, Fields)>,
    metadata: Vec<&'static Metadata<'static>>,
    entered: Vec<usize>,
    /// The number of handles on spans.
    handles: usize,
    events: Vec<(Level, Option<usize>, Fields)>,
}

struct Visitor<'a>(&'a mut Fields);

impl Visit for Visitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Visitor(&mut fields));
        let mut log = self.0.lock().unwrap();
        let parent = log.entered.last().copied();
        log.spans.push((parent, fields));
        log.metadata.push(span.metadata());
        log.handles += 1;
        Id::from_u64(log.spans.len() as u64)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        let span = usize::try_from(span.into_u64()).unwrap();
        values.record(&mut Visitor(&mut self.0.lock().unwrap().spans[span - 1].1));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        let mut log = self.0.lock().unwrap();
        let span = log.entered.last().copied();
        log.events.push((*event.metadata().level(), span, fields));
    }
    fn enter(&self, span: &Id) {
        let span = usize::try_from(span.into_u64()).unwrap();
        self.0.lock().unwrap().entered.push(span - 1);
    }
    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().entered.pop();
    }
    fn clone_span(&self, span: &Id) -> Id {
        self.0.lock().unwrap().handles += 1;
        span.clone()
    }
    fn try_close(&self, _: Id) -> bool {
        self.0.lock().unwrap().handles -= 1;
        false
    }
    fn current_span(&self) -> Current {
        let current = self.0.lock().unwrap().entered.last().copied();
        let span = self
            .0
            .lock()
            .unwrap()
            .metadata
            .get(current.unwrap_or(usize::MAX))
            .copied();
        match (current, span) {
            (Some(span), Some(metadata)) => Current::new(Id::from_u64(span as u64 + 1), metadata),
            _ => Current::none(),
        }
    }
}

struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        tracing::debug!(target: "agent", "before a pause");
        reply.text("one").await?;
        tokio::task::yield_now().await;
        tracing::debug!(target: "agent", "after it");
        match request.prompt().as_deref() {
            Some("fail") => Err(std::io::Error::other("the disk is full").into()),
            Some("panic") => panic!("an agent"),
            _ => Ok(()),
        }
    }
}

/// A clock that goes seven milliseconds at each look.
struct Clock(AtomicU64);

impl Environment for Clock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.fetch_add(7, Ordering::Relaxed))
    }
}

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Takes one turn, and nothing else of the subscriber's.
fn turn(log: &Log, prompt: &str, guarded: bool) {
    turn_in(TRACE, log, prompt, guarded);
}

fn turn_in(trace: &str, log: &Log, prompt: &str, guarded: bool) {
    let router = Router::new()
        .base_path("/agents")
        .env(Env::new(Clock(AtomicU64::new(0))))
        .guard(async |mut parts: http::request::Parts| {
            parts.extensions.insert(User::new("ada"));
            Ok(parts)
        })
        .mount(Descriptor::new("echo", "Echo", "Repeats"), Echo)
        .unwrap();
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
    let request = http::Request::post("/v1/query")
        .header(
            "content-type",
            if guarded {
                "text/plain"
            } else {
                "application/json"
            },
        )
        .header("traceparent", trace)
        .header("x-trace-id", "talk-1")
        .body(stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]))
        .unwrap();
    tracing::subscriber::with_default(log.clone(), || {
        let response = {
            // The server's span for the request is over when the agent runs.
            let server = tracing::info_span!("request");
            server.in_scope(|| block_on(router.handle(request)))
        };
        let mut body = response.into_body();
        let waker = futures::task::noop_waker();
        let mut cx = std::task::Context::from_waker(&waker);
        while !body.is_done() {
            drop(body.poll_next_unpin(&mut cx));
        }
    });
}

#[test]
fn a_turn_is_a_span_around_its_agent() {
    let log = Log::default();
    turn(&log, "hello", false);
    let log = log.0.lock().unwrap();
    assert_eq!(log.spans.len(), 2);
    assert_eq!(log.handles, 0, "a span is left open");
    let (parent, fields) = &log.spans[1];
    assert_eq!(*parent, Some(0), "the span of the server");
    assert_eq!(fields["otel.name"], "invoke_agent Echo");
    assert_eq!(fields["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(fields["gen_ai.provider.name"], "copilot-wire");
    assert_eq!(fields["gen_ai.agent.name"], "Echo");
    assert_eq!(fields["gen_ai.conversation.id"], "talk-1");
    assert_eq!(fields["http.route"], "/agents/v1/query");
    assert_eq!(fields["user.id"], "ada");
    assert_eq!(fields["copilot_wire.protocol"], "openbb");
    assert_eq!(fields["copilot_wire.outcome"], "answered");
    assert!(!fields.contains_key("error.type"), "{fields:?}");
    assert_eq!(fields["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(fields["parent_id"], "b7ad6b7169203331");
    let events: Vec<_> = log
        .events
        .iter()
        .map(|(level, span, fields)| (*level, *span, &*fields["message"]))
        .collect();
    assert_eq!(
        events,
        [
            (Level::DEBUG, Some(1), "before a pause"),
            (Level::DEBUG, Some(1), "after it"),
            (Level::INFO, Some(1), "turn ended"),
        ]
    );
    let (_, _, end) = &log.events[2];
    assert_eq!((&*end["outcome"], &*end["events"]), ("answered", "1"));
    let time = |field: &str| end[field].parse::<u64>().unwrap();
    let (first, whole) = (time("first_output_ms"), time("duration_ms"));
    assert!(0 < first && first < whole, "{first} {whole}");
    assert_eq!((first % 7, whole % 7), (0, 0), "the time of the clock");
    let seconds = fields["gen_ai.response.time_to_first_chunk"].parse::<f64>();
    assert_eq!(
        Duration::from_secs_f64(seconds.unwrap()),
        Duration::from_millis(first)
    );
}

#[test]
fn only_a_trace_of_the_w3c_has_ids() {
    let (id, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    for trace in [
        String::new(),
        format!("00-{id}"),
        format!("00-{id}-"),
        format!("00-{}-{parent}-01", &id[1..]),
        format!("00-{id}-{parent}0-01"),
        format!("00-{id}-{}x-01", &parent[1..]),
        format!("00-x{}-{parent}-01", &id[1..]),
    ] {
        let log = Log::default();
        turn_in(&trace, &log, "hello", false);
        let log = log.0.lock().unwrap();
        let (_, fields) = &log.spans[1];
        assert_eq!(
            (fields.get("trace_id"), fields.get("parent_id")),
            (None, None),
            "{trace}"
        );
    }
}

#[test]
fn a_panic_is_an_error_of_its_span() {
    let log = Log::default();
    turn(&log, "panic", false);
    let log = log.0.lock().unwrap();
    let (level, _, fields) = log.events.last().unwrap();
    assert_eq!(
        (*level, &*fields["message"]),
        (Level::ERROR, "agent panicked")
    );
    let (_, fields) = &log.spans[1];
    assert_eq!(fields["error.type"], "panic");
    assert_eq!(fields["otel.status_code"], "ERROR");
}

#[test]
fn a_fault_is_an_error_with_its_cause() {
    let log = Log::default();
    turn(&log, "fail", false);
    let log = log.0.lock().unwrap();
    let (level, span, fields) = log.events.last().unwrap();
    assert_eq!((*level, *span), (Level::ERROR, Some(1)));
    assert_eq!(fields["error"], "the disk is full");
    assert!(fields["location"].starts_with(file!()), "{fields:?}");
    assert_eq!((&*fields["outcome"], &*fields["sent"]), ("failed", "true"));
    let (_, fields) = &log.spans[1];
    assert_eq!(fields["error.type"], "_OTHER");
    assert_eq!(fields["otel.status_code"], "ERROR");
}

#[test]
fn a_refusal_is_no_error() {
    let log = Log::default();
    turn(&log, "hello", true);
    let log = log.0.lock().unwrap();
    let [(level, _, fields)] = &log.events[..] else {
        panic!("one event");
    };
    assert_eq!(*level, Level::INFO);
    assert_eq!(
        (&*fields["outcome"], &*fields["status"]),
        ("refused", "415")
    );
    assert_eq!(
        (&*fields["path"], &*fields["user"]),
        ("/agents/v1/query", "ada")
    );
}

/// Asks a model whose server sends this, after a run of a tool.
struct Caller<U> {
    status: u16,
    sent: String,
    contents: bool,
    dialect: std::marker::PhantomData<fn() -> U>,
}

#[async_trait]
impl<P: Protocol, U: Upstream> Agent<P> for Caller<U> {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let tide = execute_tool("get_tide", Some("call_7"), async {
            tokio::task::yield_now().await;
            Ok::<_, std::num::ParseIntError>("4.1 m")
        });
        assert_eq!(tide.await?, "4.1 m");
        let failed = execute_tool("get_wind", None, async { "twelve".parse::<u8>() });
        assert!(failed.await.is_err());
        let mut prompt = Profile::default().ask::<U, P>(&request);
        "tide-1".clone_into(U::model(&mut prompt));
        let call = async {
            tokio::task::yield_now().await;
            tracing::debug!(target: "agent", "the request to the model");
            if self.status != 200 {
                let status = self.status.try_into()?;
                return Err(refused::<U>(
                    status,
                    &http::HeaderMap::new(),
                    self.sent.as_bytes(),
                ));
            }
            let mut relay = Relay::<U>::new();
            for piece in self.sent.as_bytes().chunks(7) {
                relay.pass(piece, &reply).await?;
            }
            relay.end(reply)?;
            Ok(())
        };
        match self.contents {
            true => chat_with_contents::<U, _, _>(&mut prompt, call).await,
            false => chat::<U, _, _>(&mut prompt, call).await,
        }
    }
}

/// Takes a turn in which a model is asked, and returns the fields of its spans.
fn asked<U: Upstream>(status: u16, sent: impl Into<String>, contents: bool) -> Vec<Fields> {
    let log = Log::default();
    let agent = Caller::<U> {
        status,
        sent: sent.into(),
        contents,
        dialect: std::marker::PhantomData,
    };
    let router = Router::new()
        .mount(copilot_wire::openai::Model::new("front"), agent)
        .unwrap();
    let body = r#"{"model":"front","stream":true,"messages":[{"role":"system","content":"Be brief."},
        {"role":"user","content":"How is the tide?"},
        {"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":\"Brest\"}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"high"}]}"#;
    let request = http::Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]))
        .unwrap();
    tracing::subscriber::with_default(log.clone(), || {
        let body = block_on(router.handle(request)).into_body();
        block_on(body.for_each(|_| async {}));
    });
    let log = log.0.lock().unwrap();
    assert_eq!(log.handles, 0, "a span is left open");
    assert_eq!(log.spans.len(), 4);
    // All within the turn.
    for (parent, _) in &log.spans[1..] {
        assert_eq!(*parent, Some(0));
    }
    // What happens in the call is in its span.
    let said = |(_, span, fields): &&(Level, Option<usize>, Fields)| {
        fields["message"] == "the request to the model" && *span == Some(3)
    };
    assert!(log.events.iter().any(|event| said(&event)));
    log.spans.iter().map(|(_, fields)| fields.clone()).collect()
}

fn chunks(events: &[Value]) -> String {
    let frame = |event: &Value| {
        let name = event["type"].as_str();
        let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
        format!("{name}data: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

fn completion(delta: &Value, reason: &str) -> String {
    let usage = json!({"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34,
        "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 3}});
    chunks(&[
        json!({"model": "tide-1-2026", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
        json!({"model": "tide-1-2026", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        json!({"model": "tide-1-2026", "choices": [], "usage": usage}),
    ]) + "data: [DONE]\n\n"
}

fn message(reason: &str) -> String {
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "tide-1-2026", "content": [],
        "stop_reason": null, "usage": {"input_tokens": 10, "cache_read_input_tokens": 20, "output_tokens": 1}});
    chunks(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "High."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}}),
        json!({"type": "message_stop"}),
    ])
}

fn response() -> String {
    let part = json!({"type": "output_text", "text": "High.", "annotations": []});
    let item = json!({"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [part]});
    let response = |status: &str, output: Value| {
        json!({"id": "r", "object": "response", "status": status, "model": "tide-1-2026", "output": output,
            "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 4,
                "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 34}})
    };
    chunks(&[
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", json!([item]))}),
    ])
}

#[test]
fn a_call_of_a_model_and_runs_of_tools_are_spans() {
    for (provider, spans) in [
        (
            "openai",
            asked::<OpenAi>(200, completion(&json!({"content": "High."}), "stop"), false),
        ),
        ("openai", asked::<Responses>(200, response(), false)),
        (
            "anthropic",
            asked::<Anthropic>(200, message("end_turn"), false),
        ),
    ] {
        let [turn, tide, wind, call] = &spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!(turn["otel.name"], "invoke_agent front");
        for (name, value) in [
            ("otel.name", "execute_tool get_tide"),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "get_tide"),
            ("gen_ai.tool.call.id", "call_7"),
        ] {
            assert_eq!(tide[name], value);
        }
        assert!(!tide.contains_key("error.type") && !wind.contains_key("gen_ai.tool.call.id"));
        assert_eq!(
            (&*wind["error.type"], &*wind["otel.status_code"]),
            ("tool_error", "ERROR")
        );
        for (name, value) in [
            ("otel.name", "chat tide-1"),
            ("otel.kind", "client"),
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", provider),
            ("gen_ai.request.model", "tide-1"),
            ("gen_ai.request.stream", "true"),
            ("gen_ai.response.model", "tide-1-2026"),
            ("gen_ai.response.finish_reasons", r#"["stop"]"#),
            ("gen_ai.usage.input_tokens", "30"),
            ("gen_ai.usage.output_tokens", "4"),
            ("gen_ai.usage.cache_read.input_tokens", "20"),
        ] {
            assert_eq!(call[name], value, "{provider} {name}");
        }
        // Those of the turn: the sum of its calls.
        assert_eq!(turn["gen_ai.usage.input_tokens"], "30");
        assert!(!call.contains_key("error.type"));
        let all = format!("{spans:?}");
        for said in ["High.", "Be brief.", "How is", "Brest", "4.1 m", "twelve"] {
            assert!(!all.contains(said), "{said}: {all}");
        }
    }
}

#[test]
fn the_reason_of_an_end_has_one_name_in_all_dialects() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    for (sent, reason) in [
        (completion(&json!({"content": "High"}), "length"), "length"),
        (
            completion(&json!({"content": "High"}), "content_filter"),
            "content_filter",
        ),
        (completion(&call, "tool_calls"), "tool_call"),
    ] {
        let spans = asked::<OpenAi>(200, sent, false);
        assert_eq!(
            spans[3]["gen_ai.response.finish_reasons"],
            format!("[{reason:?}]")
        );
    }
    let spans = asked::<Anthropic>(200, message("max_tokens"), false);
    assert_eq!(spans[3]["gen_ai.response.finish_reasons"], r#"["length"]"#);
}

#[test]
fn a_failed_call_has_the_class_of_its_error() {
    let secret =
        r#"{"error":{"message":"the key sk-secret is wrong","type":"authentication_error"}}"#;
    let long = r#"{"error":{"message":"sk-secret","code":"context_length_exceeded"}}"#;
    let broken = completion(&json!({"content": "High"}), "stop");
    let broken = broken
        .split("data: ")
        .take(2)
        .collect::<Vec<_>>()
        .join("data: ");
    for (status, sent, class) in [
        (401, secret, "key"),
        (429, secret, "busy"),
        (500, "<html>", "failed"),
        (400, long, "context_too_long"),
        (200, "<html>", "not_an_answer"),
        (200, &broken, "truncated"),
        (
            200,
            "data: {\"choices\":[{\"delta\":}]}\n\n",
            "not_an_answer",
        ),
    ] {
        let spans = asked::<OpenAi>(status, sent, true);
        for span in [&spans[3], &spans[0]] {
            assert_eq!(span["error.type"], class, "{sent}");
            assert_eq!(span["otel.status_code"], "ERROR");
        }
        assert!(!format!("{spans:?}").contains("sk-secret"), "{spans:?}");
    }
    assert_eq!(AgentError::from(ModelFault::NoAnswer).class(), "no_answer");
}

#[test]
fn contents_are_recorded_where_they_are_wanted() {
    let parsed = |span: &Fields, name: &str| serde_json::from_str::<Value>(&span[name]).unwrap();
    for spans in [
        asked::<OpenAi>(200, completion(&json!({"content": "High."}), "stop"), true),
        asked::<Responses>(200, response(), true),
        asked::<Anthropic>(200, message("end_turn"), true),
    ] {
        let [turn, .., call] = &spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!(
            parsed(call, "gen_ai.system_instructions"),
            json!([{"type": "text", "content": "Be brief."}])
        );
        let asked = parsed(call, "gen_ai.input.messages");
        assert_eq!(
            asked[0],
            json!({"role": "user", "parts": [{"type": "text", "content": "How is the tide?"}]})
        );
        let said = &asked[1]["parts"];
        assert_eq!(
            said.as_array().unwrap().last().unwrap(),
            &json!({"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "Brest"}})
        );
        assert_eq!(
            asked[2],
            json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "high"}]})
        );
        assert_eq!(
            parsed(call, "gen_ai.output.messages"),
            json!([{"role": "assistant", "parts": [{"type": "text", "content": "High."}], "finish_reason": "stop"}])
        );
        assert!(!format!("{turn:?}").contains("Brest"));
    }
}
