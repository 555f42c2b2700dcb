//! Turns in OpenTelemetry and Prometheus, to copy.
//!
//! `tests/observe.rs` starts the server, asks it, and looks at what was exported.

pub mod metrics;
pub mod traces;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;

/// Returns the routes of a server: the agents, and `/metrics` for Prometheus.
pub fn app(agents: copilot_wire::Router, prometheus: PrometheusHandle) -> Router {
    let agents = agents.observe(metrics::count);
    Router::new()
        .fallback_service(agents)
        .layer(from_fn(traces::continue_trace))
        .route("/metrics", get(async move || metrics::render(&prometheus)))
}
