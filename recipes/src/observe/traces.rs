//! Traces. With its feature `tracing`, copilot-wire opens the spans, and `tracing-opentelemetry` exports them. What is left
//! to do is to say where a trace comes from and where it goes on.

use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::context::FutureExt;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Array, InstrumentationScope, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter, Tracer};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// The version of the conventions that the names of copilot-wire are from.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// Returns the scope of spans and metrics.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("copilot-wire")
        .with_schema_url(SCHEMA)
        .build()
}

/// Returns the layer of a subscriber that exports spans through `provider`: with the attributes of the conventions, and
/// none for threads, files and lines.
pub fn layer<S>(provider: &SdkTracerProvider) -> OpenTelemetryLayer<S, Tracer>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer_with_scope(scope()))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
}

/// Makes the span that the header `traceparent` names the parent of the turn's span. It is current
/// when the router opens that span, which is before the response's head.
pub async fn continue_trace(request: Request, next: Next) -> Response {
    let headers = Headers(request.headers());
    let parent = TraceContextPropagator::new().extract(&headers);
    next.run(request).with_context(parent).await
}

/// Adds `traceparent` to the headers of a request that an agent sends, to a model for instance: the current span is the
/// parent of what the other server does.
pub fn pass_on(headers: &mut HeaderMap) {
    TraceContextPropagator::new().inject(&mut Headers(headers));
}

/// Exports the reasons of ends as lists, as the conventions have them. Values of `tracing` are no lists: they come as JSON.
#[derive(Debug)]
pub struct Lists<E>(pub E);

impl<E: SpanExporter> SpanExporter for Lists<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes {
            if attribute.key.as_str() == "gen_ai.response.finish_reasons" {
                let list = serde_json::from_str::<Vec<String>>(&attribute.value.as_str());
                let list = list.unwrap_or_default().into_iter().map(Into::into);
                attribute.value = Value::Array(Array::String(list.collect()));
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

struct Headers<T>(T);

impl Extractor for Headers<&HeaderMap> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

impl Injector for Headers<&mut HeaderMap> {
    fn set(&mut self, key: &str, value: String) {
        let name = HeaderName::from_bytes(key.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            self.0.insert(name, value);
        }
    }
}
