//! Turns as a collector receives them: it decodes OTLP over HTTP.
// The names of generative AI have moved to a repository of their own.
#![allow(deprecated)]

mod collector;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use collector::Collector;
use copilot_wire::openbb::Descriptor;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{HistogramDataPoint, Metric};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as Code;
use opentelemetry_semantic_conventions::{attribute, metric};
use prost::Message;
use recipes::observe::agent::Sailor;
use recipes::observe::{Telemetry, app};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const KEY: &str = "sk-secret";

/// The names of the conventions that are used.
const KNOWN: [&str; 23] = [
    attribute::ERROR_TYPE,
    attribute::GEN_AI_AGENT_NAME,
    attribute::GEN_AI_CONVERSATION_ID,
    attribute::GEN_AI_INPUT_MESSAGES,
    attribute::GEN_AI_OPERATION_NAME,
    attribute::GEN_AI_OUTPUT_MESSAGES,
    attribute::GEN_AI_PROVIDER_NAME,
    attribute::GEN_AI_REQUEST_MODEL,
    attribute::GEN_AI_REQUEST_STREAM,
    attribute::GEN_AI_RESPONSE_FINISH_REASONS,
    attribute::GEN_AI_RESPONSE_MODEL,
    attribute::GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK,
    attribute::GEN_AI_SYSTEM_INSTRUCTIONS,
    attribute::GEN_AI_TOKEN_TYPE,
    attribute::GEN_AI_TOOL_CALL_ID,
    attribute::GEN_AI_TOOL_NAME,
    attribute::GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
    attribute::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
    attribute::GEN_AI_USAGE_INPUT_TOKENS,
    attribute::GEN_AI_USAGE_OUTPUT_TOKENS,
    attribute::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
    attribute::HTTP_ROUTE,
    attribute::USER_ID,
];

/// The names of this crate's own, and the ids of the caller's trace.
const OWN: [&str; 4] = [
    "copilot_wire.outcome",
    "copilot_wire.protocol",
    "parent_id",
    "trace_id",
];

/// The exports that were received.
#[derive(Default)]
struct Received {
    spans: Vec<Span>,
    /// The latest ones: they are cumulative.
    metrics: Vec<Metric>,
    scopes: Vec<(InstrumentationScope, String)>,
    resources: Vec<KeyValue>,
    /// All bytes.
    raw: Vec<u8>,
    /// The headers of requests to the model.
    asked: Vec<HeaderMap>,
}

type Log = Arc<Mutex<Received>>;

/// Returns the bytes of a request, which a collector may have compressed.
fn plain(headers: &HeaderMap, body: Bytes) -> Bytes {
    match headers.get("content-encoding") {
        Some(encoding) => {
            assert_eq!(encoding, "gzip");
            let mut plain = Vec::new();
            GzDecoder::new(&*body).read_to_end(&mut plain).unwrap();
            plain.into()
        }
        None => body,
    }
}

async fn take_spans(
    State(log): State<Log>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let body = plain(&headers, body);
    let mut log = log.lock().unwrap();
    log.raw.extend_from_slice(&body);
    for spans in ExportTraceServiceRequest::decode(body)
        .unwrap()
        .resource_spans
    {
        log.resources.extend(spans.resource.unwrap().attributes);
        for spans in spans.scope_spans {
            log.scopes.push((spans.scope.unwrap(), spans.schema_url));
            log.spans.extend(spans.spans);
        }
    }
    (StatusCode::OK, "")
}

async fn take_metrics(
    State(log): State<Log>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let body = plain(&headers, body);
    let mut log = log.lock().unwrap();
    log.raw.extend_from_slice(&body);
    log.metrics.clear();
    for metrics in ExportMetricsServiceRequest::decode(body)
        .unwrap()
        .resource_metrics
    {
        log.resources.extend(metrics.resource.unwrap().attributes);
        for metrics in metrics.scope_metrics {
            log.scopes
                .push((metrics.scope.unwrap(), metrics.schema_url));
            log.metrics.extend(metrics.metrics);
        }
    }
    (StatusCode::OK, "")
}

/// A model: it looks at the tide once, and then says how it is.
async fn model(State(log): State<Log>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    log.lock().unwrap().asked.push(headers);
    if body.contains("Refuse") {
        let error =
            format!(r#"{{"error":{{"message":"{KEY} is wrong","code":"invalid_api_key"}}}}"#);
        return (StatusCode::UNAUTHORIZED, error);
    }
    let (delta, reason, [input, output]) = match body.contains(r#""role":"tool""#) {
        false => (
            r#"{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_tide","arguments":"{\"at\":\"Brest\"}"}}]}"#,
            "tool_calls",
            [100, 10],
        ),
        true => (r#"{"content":"It is high."}"#, "stop", [200, 20]),
    };
    let answer = [
        format!(
            r#"{{"model":"tide-1-2026","choices":[{{"index":0,"delta":{delta},"finish_reason":"{reason}"}}]}}"#
        ),
        format!(
            r#"{{"model":"tide-1-2026","choices":[],"usage":{{"prompt_tokens":{input},"completion_tokens":{output},"total_tokens":0,"prompt_tokens_details":{{"cached_tokens":40}}}}}}"#
        ),
        "[DONE]".to_owned(),
    ];
    (
        StatusCode::OK,
        answer.map(|event| format!("data: {event}\n\n")).concat(),
    )
}

async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn ask(address: &str, agent: &str, prompt: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
    let length = body.len();
    let request = format!(
        "POST /{agent}/query HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\
         content-type: application/json\r\nx-trace-id: talk-1\r\ntraceparent: 00-{TRACE}-{CALLER}-01\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    response
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns attributes as text, by their names.
fn values(attributes: &[KeyValue]) -> BTreeMap<&str, String> {
    fn text(value: &Value) -> String {
        match value {
            Value::StringValue(text) => text.clone(),
            Value::IntValue(number) => number.to_string(),
            Value::BoolValue(value) => value.to_string(),
            Value::DoubleValue(number) => format!("{number:?}"),
            Value::ArrayValue(list) => {
                let values = list.values.iter().filter_map(|it| it.value.as_ref());
                format!("{:?}", values.map(text).collect::<Vec<_>>())
            }
            other => format!("{other:?}"),
        }
    }
    let value = |it: &KeyValue| text(it.value.as_ref().unwrap().value.as_ref().unwrap());
    attributes
        .iter()
        .map(|it| (it.key.as_str(), value(it)))
        .collect()
}

/// Takes the spans of the turn that was taken last: its own, and those in it by their ends.
fn turn(log: &Log) -> (Span, Vec<Span>) {
    let mut spans = std::mem::take(&mut log.lock().unwrap().spans);
    let at = spans
        .iter()
        .position(|span| span.name.starts_with("invoke_agent"));
    let turn = spans.remove(at.unwrap());
    assert_eq!(
        (hex(&turn.trace_id), hex(&turn.parent_span_id)),
        (TRACE.into(), CALLER.into())
    );
    spans.retain(|span| span.parent_span_id == turn.span_id);
    for span in &spans {
        assert_eq!(span.trace_id, turn.trace_id);
    }
    (turn, spans)
}

/// Returns the points of a metric, after a look at its unit and its buckets.
fn points<'a>(
    metrics: &'a [Metric],
    name: &str,
    unit: &str,
    [first, last]: [f64; 2],
    buckets: usize,
) -> &'a [HistogramDataPoint] {
    let metric = metrics.iter().find(|metric| metric.name == name);
    let metric = metric.unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(metric.unit, unit);
    let Some(Data::Histogram(histogram)) = &metric.data else {
        panic!("{metric:?}");
    };
    for point in &histogram.data_points {
        let bounds = &point.explicit_bounds;
        assert_eq!(
            (bounds[0], bounds[bounds.len() - 1], bounds.len()),
            (first, last, buckets)
        );
    }
    &histogram.data_points
}

fn has(span: &Span, expected: &[(&str, &str)]) {
    let values = values(&span.attributes);
    for (name, value) in expected {
        assert_eq!(
            values.get(name).map(String::as_str),
            Some(*value),
            "{name}: {values:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_receives_turns_calls_and_runs() {
    let log = Log::default();
    let collector = Router::new()
        .route("/v1/traces", post(take_spans))
        .route("/v1/metrics", post(take_metrics))
        .with_state(Arc::clone(&log));
    let collector = Collector::before(&serve(collector).await);
    let model = Router::new().route("/v1/chat/completions", post(model));
    let base = format!(
        "http://{}/v1",
        serve(model.with_state(Arc::clone(&log))).await
    );

    let telemetry = Arc::new(Telemetry::new(&collector.url, "harbour").unwrap());
    tracing::subscriber::set_global_default(telemetry.subscriber()).unwrap();
    let mut agents = copilot_wire::Router::new();
    for (id, name, contents) in [("sailor", "Sailor", false), ("open", "Open Sailor", true)] {
        let descriptor = Descriptor::new(id, name, "Knows the tide").path(format!("/{id}/query"));
        let sailor = Sailor::new(&base, KEY, "tide-1", contents).unwrap();
        agents = agents.mount(descriptor, sailor).unwrap();
    }
    let address = serve(app(agents)).await;
    // Until the turn has ended: its client may be done before.
    let flush = async || {
        let has_turn = || {
            let spans = &log.lock().unwrap().spans;
            spans
                .iter()
                .any(|span| span.name.starts_with("invoke_agent"))
        };
        for _ in 0..1000 {
            let seen = has_turn();
            let telemetry = Arc::clone(&telemetry);
            let flushed = tokio::task::spawn_blocking(move || telemetry.flush());
            flushed.await.unwrap().unwrap();
            if seen {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };

    let answer = ask(&address, "sailor", "How is the sea at Brest?").await;
    assert!(answer.contains("It is high."), "{answer}");
    flush().await;
    let (span, inner) = turn(&log);
    assert_eq!(
        (&*span.name, span.kind()),
        ("invoke_agent Sailor", SpanKind::Internal)
    );
    has(
        &span,
        &[
            (attribute::GEN_AI_OPERATION_NAME, "invoke_agent"),
            (attribute::GEN_AI_PROVIDER_NAME, "copilot-wire"),
            (attribute::GEN_AI_AGENT_NAME, "Sailor"),
            (attribute::GEN_AI_CONVERSATION_ID, "talk-1"),
            (attribute::GEN_AI_USAGE_INPUT_TOKENS, "300"),
            (attribute::GEN_AI_USAGE_OUTPUT_TOKENS, "30"),
            (attribute::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, "80"),
            (attribute::HTTP_ROUTE, "/sailor/query"),
            ("copilot_wire.protocol", "openbb"),
            ("copilot_wire.outcome", "answered"),
        ],
    );
    let attributes = values(&span.attributes);
    let first: f64 = attributes[attribute::GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]
        .parse()
        .unwrap();
    assert!(first > 0.0);
    assert!(
        !attributes.contains_key(attribute::ERROR_TYPE)
            && span
                .status
                .as_ref()
                .is_none_or(|it| it.code() == Code::Unset)
    );
    let [first, run, second] = &inner[..] else {
        panic!("{inner:#?}");
    };
    for (call, reason, tokens) in [
        (first, r#"["tool_call"]"#, "10"),
        (second, r#"["stop"]"#, "20"),
    ] {
        assert_eq!(
            (&*call.name, call.kind()),
            ("chat tide-1", SpanKind::Client)
        );
        has(
            call,
            &[
                (attribute::GEN_AI_OPERATION_NAME, "chat"),
                (attribute::GEN_AI_PROVIDER_NAME, "openai"),
                (attribute::GEN_AI_REQUEST_MODEL, "tide-1"),
                (attribute::GEN_AI_REQUEST_STREAM, "true"),
                (attribute::GEN_AI_RESPONSE_MODEL, "tide-1-2026"),
                (attribute::GEN_AI_RESPONSE_FINISH_REASONS, reason),
                (attribute::GEN_AI_USAGE_OUTPUT_TOKENS, tokens),
                (attribute::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, "40"),
                (attribute::GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS, "0"),
                (attribute::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS, "0"),
            ],
        );
        let reasons = call
            .attributes
            .iter()
            .find(|it| it.key == attribute::GEN_AI_RESPONSE_FINISH_REASONS);
        let reasons = reasons.unwrap().value.as_ref().unwrap().value.as_ref();
        assert!(matches!(reasons, Some(Value::ArrayValue(_))), "{reasons:?}");
    }
    assert_eq!(
        (&*run.name, run.kind()),
        ("execute_tool get_tide", SpanKind::Internal)
    );
    has(
        run,
        &[
            (attribute::GEN_AI_OPERATION_NAME, "execute_tool"),
            (attribute::GEN_AI_TOOL_NAME, "get_tide"),
            (attribute::GEN_AI_TOOL_CALL_ID, "call_1"),
        ],
    );
    // The trace goes on in the model's server, as a part of each call.
    {
        let log = log.lock().unwrap();
        let passed: Vec<_> = log
            .asked
            .iter()
            .map(|it| it["traceparent"].to_str().unwrap())
            .collect();
        let expected = [first, second].map(|call| format!("00-{TRACE}-{}-01", hex(&call.span_id)));
        assert_eq!(passed, expected);
        assert_eq!(log.asked[0]["authorization"], format!("Bearer {KEY}"));
        for (scope, schema) in &log.scopes {
            assert_eq!(
                (&*scope.name, &**schema),
                ("copilot-wire", "https://opentelemetry.io/schemas/1.41.0")
            );
        }
        assert_eq!(values(&log.resources)["service.name"], "harbour");
    }

    for attribute in [&span, first, run].iter().flat_map(|span| &span.attributes) {
        let name = attribute.key.as_str();
        assert!(KNOWN.contains(&name) || OWN.contains(&name), "{name}");
    }

    ask(&address, "sailor", "Refuse").await;
    flush().await;
    let (span, inner) = turn(&log);
    for span in [&span, &inner[0]] {
        has(span, &[(attribute::ERROR_TYPE, "key")]);
        assert_eq!(span.status.as_ref().unwrap().code(), Code::Error);
    }
    has(&span, &[("copilot_wire.outcome", "failed")]);

    let raw = String::from_utf8_lossy(&log.lock().unwrap().raw).into_owned();
    for secret in [KEY, "How is", "Brest", "It is high.", "4.1 m"] {
        assert!(!raw.contains(secret), "{secret}");
    }

    // Where contents are switched on.
    ask(&address, "open", "How is the sea at Brest?").await;
    flush().await;
    let (_, inner) = turn(&log);
    let call = values(&inner[2].attributes);
    let json = |name| -> serde_json::Value { serde_json::from_str(&call[name]).unwrap() };
    let asked = json(attribute::GEN_AI_INPUT_MESSAGES);
    assert_eq!(asked[0]["parts"][0]["content"], "How is the sea at Brest?");
    assert_eq!(asked[1]["parts"][0]["name"], "get_tide");
    assert_eq!(asked[2]["parts"][0]["response"], "4.1 m");
    let said = json(attribute::GEN_AI_OUTPUT_MESSAGES);
    assert_eq!(
        (&said[0]["parts"][0]["content"], &said[0]["finish_reason"]),
        (&"It is high.".into(), &"stop".into())
    );
    assert!(!String::from_utf8_lossy(&log.lock().unwrap().raw).contains(KEY));

    // Metrics may come after traces.
    let turns = |metrics: &[Metric]| -> u64 {
        let duration = metrics
            .iter()
            .find(|it| it.name == metric::GEN_AI_SERVER_REQUEST_DURATION);
        match duration.and_then(|it| it.data.as_ref()) {
            Some(Data::Histogram(it)) => it.data_points.iter().map(|point| point.count).sum(),
            _ => 0,
        }
    };
    for _ in 0..1000 {
        if turns(&log.lock().unwrap().metrics) == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let metrics = std::mem::take(&mut log.lock().unwrap().metrics);
    let counts = |points: &[HistogramDataPoint], label: &str| -> BTreeMap<String, u64> {
        let key = |point: &HistogramDataPoint| {
            values(&point.attributes).remove(label).unwrap_or_default()
        };
        points.iter().fold(BTreeMap::new(), |mut counts, point| {
            *counts.entry(key(point)).or_default() += point.count;
            counts
        })
    };
    let seconds = [0.01, 81.92];
    let turns = points(
        &metrics,
        metric::GEN_AI_SERVER_REQUEST_DURATION,
        "s",
        seconds,
        14,
    );
    assert_eq!(
        counts(turns, attribute::GEN_AI_AGENT_NAME),
        [("Open Sailor".into(), 1), ("Sailor".into(), 2)].into()
    );
    assert_eq!(
        counts(turns, attribute::ERROR_TYPE),
        [(String::new(), 2), ("key".into(), 1)].into()
    );
    assert_eq!(
        counts(turns, attribute::GEN_AI_PROVIDER_NAME),
        [("copilot-wire".into(), 3)].into()
    );
    // The turn that failed has said nothing.
    let first = points(
        &metrics,
        metric::GEN_AI_SERVER_TIME_TO_FIRST_TOKEN,
        "s",
        [0.001, 10.0],
        16,
    );
    assert_eq!(
        counts(first, attribute::GEN_AI_OPERATION_NAME),
        [("invoke_agent".into(), 2)].into()
    );
    let calls = points(
        &metrics,
        metric::GEN_AI_CLIENT_OPERATION_DURATION,
        "s",
        seconds,
        14,
    );
    assert_eq!(
        counts(calls, attribute::GEN_AI_OPERATION_NAME),
        [("chat".into(), 5), ("execute_tool".into(), 2)].into()
    );
    assert_eq!(
        counts(calls, attribute::ERROR_TYPE),
        [(String::new(), 6), ("key".into(), 1)].into()
    );
    let tokens = points(
        &metrics,
        metric::GEN_AI_CLIENT_TOKEN_USAGE,
        "{token}",
        [1.0, 67108864.0],
        14,
    );
    for (kind, sum) in [("input", 600.0), ("output", 60.0)] {
        let of_kind = tokens
            .iter()
            .filter(|it| values(&it.attributes)[attribute::GEN_AI_TOKEN_TYPE] == kind);
        let sums = of_kind.map(|point| (point.count, point.sum.unwrap()));
        assert_eq!(sums.collect::<Vec<_>>(), [(4, sum)], "{kind}");
    }
    for point in [turns, first, calls, tokens].into_iter().flatten() {
        let labels = values(&point.attributes);
        assert!(labels.keys().all(|name| KNOWN.contains(name)), "{labels:?}");
    }
    assert_eq!(metrics.len(), 4);
}
