//! Metrics, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use copilot_wire::protocol::Turn;
use copilot_wire::replies::StoreHealth;

/// Sums over all turns. An observer of a [`Router`](copilot_wire::Router). `Display` writes them for Prometheus.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<BTreeMap<Labels, Sums>>);

/// All are one of a few: users are in the log and not here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    protocol: &'static str,
    path: String,
    /// Empty, as Prometheus sees a label that is not there, if there is one model only.
    model: String,
    outcome: &'static str,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    turns: u64,
    seconds: f64,
    first_byte_seconds: f64,
    bytes: u64,
    input_tokens: u64,
    output_tokens: u64,
}

/// Returns the value of one metric.
type Value = fn(&Sums) -> f64;

impl Metrics {
    /// Adds a turn that is over, of this model if it is one of several.
    pub fn add(&self, turn: &Turn<'_>, model: Option<&str>) {
        let labels = Labels {
            protocol: turn.protocol,
            path: turn.path.to_owned(),
            model: model.unwrap_or_default().to_owned(),
            outcome: turn.outcome.as_str(),
        };
        let usage = turn.usage.unwrap_or_default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sums = all.entry(labels).or_default();
        sums.turns += 1;
        sums.seconds += turn.duration.as_secs_f64();
        sums.first_byte_seconds += turn.first_byte.unwrap_or_default().as_secs_f64();
        sums.bytes += turn.bytes;
        sums.input_tokens += usage.input_tokens;
        sums.output_tokens += usage.output_tokens;
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let metrics: [(&str, Value); 6] = [
            ("agent_turns_total", |sums| sums.turns as f64),
            ("agent_turn_seconds_total", |sums| sums.seconds),
            ("agent_first_byte_seconds_total", |sums| {
                sums.first_byte_seconds
            }),
            ("agent_sent_bytes_total", |sums| sums.bytes as f64),
            ("agent_input_tokens_total", |sums| sums.input_tokens as f64),
            ("agent_output_tokens_total", |sums| {
                sums.output_tokens as f64
            }),
        ];
        for (name, value) in metrics {
            writeln!(f, "# TYPE {name} counter")?;
            for (labels, sums) in &all {
                let Labels {
                    protocol,
                    path,
                    model,
                    outcome,
                } = labels;
                // Escaped as Prometheus wants it: the paths of routes are plain text.
                let mut labels = format!("protocol={protocol:?},path={path:?},outcome={outcome:?}");
                if !model.is_empty() {
                    labels.push_str(&format!(",model={model:?}"));
                }
                writeln!(f, "{name}{{{labels}}} {}", value(sums))?;
            }
        }
        Ok(())
    }
}

/// Returns the metrics of the store of replies.
#[must_use]
pub fn store(health: &StoreHealth) -> String {
    let metrics = [
        ("reply_store_up", "gauge", u64::from(health.reachable)),
        ("reply_store_calls_total", "counter", health.calls),
        ("reply_store_failures_total", "counter", health.failures),
        ("replies_running", "gauge", health.running as u64),
        ("replies_unstored_total", "counter", health.unstored),
    ];
    let lines =
        metrics.map(|(name, kind, value)| format!("# TYPE {name} {kind}\n{name} {value}\n"));
    lines.concat()
}
