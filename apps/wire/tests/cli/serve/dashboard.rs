//! The dashboard for Grafana, beside what `/metrics` has.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Gateway, hello};
use crate::upstream::Upstream;

/// Returns the words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
}

fn is_metric(word: &&str) -> bool {
    ["agent_", "reply_", "replies_"]
        .iter()
        .any(|prefix| word.starts_with(prefix))
}

#[test]
fn the_dashboard_shows_every_metric_and_no_other() {
    let upstream = Upstream::new([hello()]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    gateway.ask("m", &[]);
    // A turn counts once it is reported.
    gateway.line();
    let (_, metrics) = gateway.get("/metrics");
    let samples = metrics.lines().filter(|line| !line.starts_with('#'));
    let names: BTreeSet<&str> = samples.filter_map(|line| words(line).next()).collect();
    assert!(names.len() > 10, "{metrics}");

    let file = include_str!("../../../dashboard.json");
    let dashboard: Value = serde_json::from_str(file).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut queries: Vec<_> = targets
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    queries.extend(variables.filter_map(|variable| variable["query"]["query"].as_str()));
    let used: BTreeSet<&str> = queries
        .iter()
        .flat_map(|query| words(query))
        .filter(is_metric)
        .collect();
    assert_eq!(used, names);

    // Every label too.
    for query in queries {
        let lists = query.split("by (").skip(1);
        let grouped = lists.flat_map(|rest| words(rest.split(')').next().unwrap()));
        let selected = query.split('{').skip(1).flat_map(|rest| {
            let inside = rest.split('}').next().unwrap();
            inside.split(',').filter_map(|pair| words(pair).next())
        });
        for label in grouped.chain(selected).filter(|label| !label.is_empty()) {
            let label = format!("{label}=\"");
            assert!(metrics.contains(&label), "{label} of {query}");
        }
    }
}

#[test]
fn times_are_histograms() {
    let upstream = Upstream::new([hello()]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    gateway.ask("m", &[]);
    gateway.line();
    // It says nothing, so it has no first output.
    gateway.ask("other", &[]);
    gateway.line();
    let (_, metrics) = gateway.get("/metrics");
    let answered = r#"protocol="openai",path="/v1/chat/completions",outcome="answered",model="m""#;
    let refused = r#"protocol="openai",path="/v1/chat/completions",outcome="refused""#;
    for line in [
        "# TYPE agent_turn_seconds histogram".to_owned(),
        format!(r#"agent_turn_seconds_bucket{{{answered},le="81.92"}} 1"#),
        format!(r#"agent_turn_seconds_bucket{{{answered},le="+Inf"}} 1"#),
        format!("agent_turn_seconds_count{{{answered}}} 1"),
        format!("agent_first_output_seconds_count{{{answered}}} 1"),
        format!("agent_turn_seconds_count{{{refused}}} 1"),
        format!("agent_first_output_seconds_count{{{refused}}} 0"),
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    let sum = metrics.lines().find_map(|line| {
        let value = line.strip_prefix(&format!("agent_turn_seconds_sum{{{answered}}} "))?;
        value.parse::<f64>().ok()
    });
    assert!(sum.is_some_and(|sum| sum > 0.0 && sum < 60.0), "{metrics}");
    // Counts of buckets never fall.
    let bucket = format!("agent_turn_seconds_bucket{{{answered}");
    let counts = metrics.lines().filter(|line| line.starts_with(&bucket));
    let counts: Vec<u64> = counts
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(counts.len() == 15 && counts.is_sorted(), "{counts:?}");
}
