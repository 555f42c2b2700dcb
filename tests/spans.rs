//! The output for `tracing`: spans around the turn of an agent, the calls of its model and the runs of its tools, and an
//! event with the outcome of the turn.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol, User};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::executor::block_on;
use futures::{StreamExt, stream};
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
            _ => Ok(()),
        }
    }
}

/// Takes one turn, and nothing else of the subscriber's.
fn turn(log: &Log, prompt: &str, guarded: bool) {
    let router = Router::new()
        .base_path("/agents")
        .guard(async |mut parts: http::request::Parts| {
            parts.extensions.insert(User::new("ada"));
            Ok(parts)
        })
        .mount(Descriptor::new("echo", "Echo", "Repeats"), Echo)
        .unwrap();
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
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
    assert!(fields.contains_key("gen_ai.response.time_to_first_chunk"));
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
