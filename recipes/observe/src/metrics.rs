//! Metrics: counters and histograms of turns, for Prometheus.

use copilot_wire::protocol::Turn;
use metrics::{counter, histogram};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

/// The upper bounds of histograms, in seconds.
const SECONDS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// Collects metrics from here on.
///
/// # Errors
///
/// When something else collects them already.
pub fn collect() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new()
        .set_buckets(&SECONDS)?
        .install_recorder()
}

/// Adds a turn that is over. Labels are of few values: neither conversations nor users.
pub fn count(turn: &Turn<'_>) {
    let labels = [
        ("protocol", turn.protocol.to_owned()),
        ("path", turn.path.to_owned()),
        ("outcome", turn.outcome.as_str().to_owned()),
    ];
    counter!("agent_turns_total", &labels).increment(1);
    counter!("agent_sent_bytes_total", &labels).increment(turn.bytes);
    histogram!("agent_turn_seconds", &labels).record(turn.duration);
    if let Some(first_output) = turn.first_output {
        histogram!("agent_first_output_seconds", &labels).record(first_output);
    }
    if let Some(usage) = turn.usage {
        counter!("agent_input_tokens_total", &labels).increment(usage.input_tokens);
        counter!("agent_output_tokens_total", &labels).increment(usage.output_tokens);
    }
}

/// Returns the metrics in the text format of Prometheus.
pub fn render(prometheus: &PrometheusHandle) -> String {
    // Moves what histograms have collected into their buckets.
    prometheus.run_upkeep();
    prometheus.render()
}
