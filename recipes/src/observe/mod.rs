//! Turns, calls of models and runs of tools in OpenTelemetry, to copy.
//!
//! `tests/observe.rs` starts the server and a collector, asks, and looks at what the collector receives.

pub mod agent;
pub mod metrics;
pub mod traces;

use axum::Router;
use axum::middleware::from_fn;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;

/// Sends traces and metrics to a collector.
pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
}

impl Telemetry {
    /// Starts to send to the collector at a base URL, such as `http://127.0.0.1:4318`.
    ///
    /// # Errors
    ///
    /// When the URL is not valid.
    pub fn new(collector: &str, service: &'static str) -> Result<Self, ExporterBuildError> {
        let resource = Resource::builder().with_service_name(service).build();
        let spans = SpanExporter::builder().with_http();
        let spans = spans
            .with_endpoint(format!("{collector}/v1/traces"))
            .build()?;
        let metrics = MetricExporter::builder().with_http();
        let metrics = metrics
            .with_endpoint(format!("{collector}/v1/metrics"))
            .build()?;
        Ok(Self {
            traces: SdkTracerProvider::builder()
                .with_resource(resource.clone())
                .with_batch_exporter(traces::Lists(spans))
                .build(),
            metrics: SdkMeterProvider::builder()
                .with_resource(resource)
                .with_periodic_exporter(metrics)
                .build(),
        })
    }

    /// Returns the subscriber that the program sets as the global one.
    pub fn subscriber(&self) -> impl Subscriber + Send + Sync + use<> {
        let meter = self.metrics.meter_with_scope(traces::scope());
        tracing_subscriber::registry()
            .with(traces::layer(&self.traces))
            .with(metrics::Metrics::new(&meter))
    }

    /// Sends what was not sent yet. It blocks.
    ///
    /// # Errors
    ///
    /// When the collector does not take it.
    pub fn flush(&self) -> OTelSdkResult {
        self.traces.force_flush()?;
        self.metrics.force_flush()
    }
}

/// Returns the routes of a server: the agents, whose turns continue the traces of their callers.
pub fn app(agents: copilot_wire::Router) -> Router {
    Router::new()
        .fallback_service(agents)
        .layer(from_fn(traces::continue_trace))
}
