//! Metrics, made of the spans of copilot-wire when they end: also of those that a sampler leaves out of the traces.

use std::fmt;
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The fields that label metrics. Each has few values: neither users nor conversations.
const LABELS: [&str; 8] = [
    "error.type",
    "gen_ai.agent.name",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.tool.name",
    "http.route",
];

/// The buckets of the conventions: seconds of operations, seconds to the first token, and tokens.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const FIRST_SECONDS: [f64; 16] = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
const TOKENS: [f64; 14] = [
    1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0,
    16777216.0, 67108864.0,
];

/// A layer of a subscriber that records the metrics of OpenTelemetry's conventions for generative AI: of turns those of a
/// server, of calls of models and runs of tools those of a client.
pub struct Metrics {
    request: Histogram<f64>,
    first_token: Histogram<f64>,
    operation: Histogram<f64>,
    tokens: Histogram<u64>,
}

/// The fields of a span.
struct Operation {
    start: Instant,
    kind: String,
    labels: Vec<KeyValue>,
    first_token: Option<f64>,
    tokens: [Option<u64>; 2],
}

impl Metrics {
    /// Creates the metrics.
    pub fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, buckets: &[f64]| {
            let metric = meter.f64_histogram(name).with_unit("s");
            metric.with_boundaries(buckets.to_vec()).build()
        };
        let tokens = meter.u64_histogram("gen_ai.client.token.usage");
        Self {
            request: seconds("gen_ai.server.request.duration", &SECONDS),
            first_token: seconds("gen_ai.server.time_to_first_token", &FIRST_SECONDS),
            operation: seconds("gen_ai.client.operation.duration", &SECONDS),
            tokens: tokens
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
        }
    }

    fn add(&self, operation: &Operation) {
        let seconds = operation.start.elapsed().as_secs_f64();
        let labels = &operation.labels;
        if operation.kind == "invoke_agent" {
            self.request.record(seconds, labels);
            if let Some(seconds) = operation.first_token {
                self.first_token.record(seconds, labels);
            }
            return;
        }
        self.operation.record(seconds, labels);
        for (kind, tokens) in ["input", "output"].into_iter().zip(operation.tokens) {
            let kind = [KeyValue::new("gen_ai.token.type", kind)];
            if let Some(tokens) = tokens {
                self.tokens.record(tokens, &[&labels[..], &kind].concat());
            }
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Metrics {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        if attributes.metadata().target() != "copilot_wire" {
            return;
        }
        let mut operation = Operation {
            start: Instant::now(),
            kind: String::new(),
            labels: Vec::new(),
            first_token: None,
            tokens: [None; 2],
        };
        attributes.record(&mut operation);
        span.extensions_mut().insert(operation);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        if let Some(operation) = span.extensions_mut().get_mut::<Operation>() {
            values.record(operation);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id);
        if let Some(operation) = span.and_then(|span| span.extensions_mut().remove()) {
            self.add(&operation);
        }
    }
}

impl Visit for Operation {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "gen_ai.operation.name" {
            value.clone_into(&mut self.kind);
        }
        if LABELS.contains(&field.name()) {
            self.labels
                .push(KeyValue::new(field.name(), value.to_owned()));
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "gen_ai.response.time_to_first_chunk" {
            self.first_token = Some(value);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "gen_ai.usage.input_tokens" => self.tokens[0] = Some(value),
            "gen_ai.usage.output_tokens" => self.tokens[1] = Some(value),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
