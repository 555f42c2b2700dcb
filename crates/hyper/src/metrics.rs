//! Metrics, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use copilot_wire::protocol::Turn;
use copilot_wire::replies::StoreHealth;

/// Counters and histograms over all turns. An observer of a [`Router`](copilot_wire::Router). `Display` writes them for
/// Prometheus.
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
    bytes: u64,
    input_tokens: u64,
    output_tokens: u64,
    turn: Histogram,
    first_output: Histogram,
}

/// The upper bounds of the buckets of histograms, in seconds.
const BOUNDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// Times by their length.
#[derive(Clone, Copy, Debug, Default)]
struct Histogram {
    /// For each bound the number of times up to it.
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Histogram {
    fn add(&mut self, time: Duration) {
        for (count, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *count += u64::from(time.as_secs_f64() <= bound);
        }
        self.count += 1;
        self.sum += time;
    }
}

/// Returns the value of one metric.
type Value<T> = fn(&Sums) -> T;

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
        sums.bytes += turn.bytes;
        sums.input_tokens += usage.input_tokens;
        sums.output_tokens += usage.output_tokens;
        sums.turn.add(turn.duration);
        if let Some(time) = turn.first_output {
            sums.first_output.add(time);
        }
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            protocol,
            path,
            model,
            outcome,
        } = self;
        // Escaped as Prometheus wants it: the paths of routes are plain text.
        write!(f, "protocol={protocol:?},path={path:?},outcome={outcome:?}")?;
        match model.is_empty() {
            true => Ok(()),
            false => write!(f, ",model={model:?}"),
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let counters: [(&str, Value<u64>); 4] = [
            ("agent_turns_total", |sums| sums.turns),
            ("agent_sent_bytes_total", |sums| sums.bytes),
            ("agent_input_tokens_total", |sums| sums.input_tokens),
            ("agent_output_tokens_total", |sums| sums.output_tokens),
        ];
        for (name, value) in counters {
            writeln!(f, "# TYPE {name} counter")?;
            for (labels, sums) in &all {
                writeln!(f, "{name}{{{labels}}} {}", value(sums))?;
            }
        }
        let histograms: [(&str, Value<Histogram>); 2] = [
            ("agent_turn_seconds", |sums| sums.turn),
            ("agent_first_output_seconds", |sums| sums.first_output),
        ];
        for (name, value) in histograms {
            writeln!(f, "# TYPE {name} histogram")?;
            for (labels, sums) in &all {
                let times = value(sums);
                for (bound, count) in BOUNDS.iter().zip(times.buckets) {
                    writeln!(f, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
                }
                let (count, sum) = (times.count, times.sum.as_secs_f64());
                writeln!(f, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}")?;
                writeln!(f, "{name}_sum{{{labels}}} {sum}")?;
                writeln!(f, "{name}_count{{{labels}}} {count}")?;
            }
        }
        Ok(())
    }
}

/// Returns the metrics of the store of replies.
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
