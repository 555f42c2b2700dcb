//! Turns as collectors receive them.

use std::time::Duration;

use axum::http::HeaderMap;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol, Usage};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use observe::{app, metrics, traces};
use opentelemetry::Value;
use opentelemetry::trace::Status;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing::{Instrument, info, info_span};
use tracing_subscriber::layer::SubscriberExt;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Tells where the trace goes on, or fails.
struct Traced;

#[async_trait]
impl<P: Protocol> Agent<P> for Traced {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if request.prompt().unwrap_or_default() == "fail" {
            return Err(AgentError::new("no model is there"));
        }
        tokio::task::yield_now().await;
        let mut headers = HeaderMap::new();
        async {
            info!("asking the model");
            traces::pass_on(&mut headers);
        }
        .instrument(info_span!("model"))
        .await;
        reply.usage(Usage::new(30, 4)).await?;
        let next = headers.get("traceparent");
        let next = next.map_or(Ok("none"), |next| next.to_str())?;
        Ok(reply.text(next).await?)
    }
}

async fn exchange(address: &str, head: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\
         content-type: application/json\r\ntraceparent: 00-{TRACE}-{CALLER}-01\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    response
}

async fn ask(address: &str, prompt: &str) -> String {
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
    exchange(address, "POST /v1/query", &body).await
}

fn attribute<'a>(span: &'a SpanData, key: &str) -> Option<&'a Value> {
    let mut attributes = span.attributes.iter();
    Some(&attributes.find(|pair| pair.key.as_str() == key)?.value)
}

/// Returns the spans of a name once there are so many.
async fn spans(exporter: &InMemorySpanExporter, name: &str, count: usize) -> Vec<SpanData> {
    for _ in 0..1000 {
        let mut spans = exporter.get_finished_spans().unwrap();
        spans.retain(|span| span.name == name);
        if spans.len() == count {
            return spans;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {count} spans {name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_are_traced_and_counted() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let subscriber = tracing_subscriber::registry().with(traces::layer(&provider));
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let descriptor = Descriptor::new("traced", "Traced", "Tells where its trace goes on");
    let router = Router::new().mount(descriptor, Traced).unwrap();
    let app = app(router, metrics::collect().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(listener, app).await });

    let answer = ask(&address, "hello").await;
    let turn = spans(&exporter, "turn", 1).await.remove(0);
    // The caller's trace goes on, through the agent to what it calls.
    assert_eq!(turn.span_context.trace_id().to_string(), TRACE);
    assert_eq!(turn.parent_span_id.to_string(), CALLER);
    let model = spans(&exporter, "model", 1).await.remove(0);
    assert_eq!(model.parent_span_id, turn.span_context.span_id());
    let next = format!("00-{TRACE}-{}-01", model.span_context.span_id());
    assert!(answer.contains(&next), "{answer}");
    assert_eq!(attribute(&turn, "protocol"), Some(&Value::from("openbb")));
    assert_eq!(attribute(&turn, "path"), Some(&Value::from("/v1/query")));
    let ended = turn.events.iter().find(|event| event.name == "turn ended");
    let mut attributes = ended.unwrap().attributes.iter();
    assert!(attributes.any(|pair| pair.key.as_str() == "outcome"));
    assert_eq!(turn.status, Status::Unset);

    ask(&address, "fail").await;
    let failed = spans(&exporter, "turn", 2).await.remove(1);
    assert!(matches!(failed.status, Status::Error { .. }), "{failed:?}");
    assert_eq!(failed.parent_span_id.to_string(), CALLER);

    let metrics = exchange(&address, "GET /metrics", "").await;
    let labels = r#"protocol="openbb",path="/v1/query",outcome"#;
    for line in [
        format!(r#"agent_turns_total{{{labels}="answered"}} 1"#),
        format!(r#"agent_turns_total{{{labels}="failed"}} 1"#),
        format!(r#"agent_input_tokens_total{{{labels}="answered"}} 30"#),
        format!(r#"agent_output_tokens_total{{{labels}="answered"}} 4"#),
        format!(r#"agent_turn_seconds_bucket{{{labels}="answered",le="120"}} 1"#),
        format!(r#"agent_turn_seconds_count{{{labels}="answered"}} 1"#),
        format!(r#"agent_first_output_seconds_count{{{labels}="answered"}} 1"#),
    ] {
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
}
