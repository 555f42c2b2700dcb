//! Traces. With its feature `tracing`, copilot-wire opens a span around each turn, and
//! `tracing-opentelemetry` exports it. What is left to do is to say where a trace comes from and where
//! it goes on.

use axum::extract::Request;
use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::context::FutureExt;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// Returns the layer of a subscriber that exports spans through `provider`.
pub fn layer<S>(provider: &SdkTracerProvider) -> OpenTelemetryLayer<S, Tracer>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_opentelemetry::layer().with_tracer(provider.tracer("agents"))
}

/// Makes the span that the header `traceparent` names the parent of the turn's span. It is current
/// when the router opens that span, which is before the response's head.
pub async fn continue_trace(request: Request, next: Next) -> Response {
    let headers = Headers(request.headers());
    let parent = TraceContextPropagator::new().extract(&headers);
    next.run(request).with_context(parent).await
}

/// Adds `traceparent` to the headers of a request that an agent sends, to a model for instance.
pub fn pass_on(headers: &mut HeaderMap) {
    TraceContextPropagator::new().inject(&mut Headers(headers));
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
