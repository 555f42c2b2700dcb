//! Every rule of the conformance kit is broken once, and found alone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod faults;
mod pace;
mod places;
mod progress;
mod recorded;
mod script;
mod silence;
mod streams;

use std::collections::BTreeSet;

use copilot_wire_kit::check::{Severity, check};
use futures::executor::block_on;
use http::HeaderValue;
use http::header::AUTHORIZATION;

use script::{Front, Script};

const FRONTS: [Front; 7] = [
    Front::OpenBb,
    Front::GitHub,
    Front::OpenAi,
    Front::Meilisearch,
    Front::Anthropic,
    Front::AgUi,
    Front::UiStream,
];

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    for front in FRONTS {
        let script = Script::new(front, |_, answer| answer);
        let report = block_on(check(&script, script.target()));
        assert!(report.is_clean(), "{front:?}\n{report}");
    }
}

/// Breaks the rules of one front end, and expects each to be found alone.
fn every_fault_is_found(front: Front) {
    let mut missed = Vec::new();
    for (id, _, fault) in faults::all().filter(|(_, its, _)| *its == front) {
        let script = Script::new(front, fault);
        // Whoever asks for no signature is given none.
        let script = if id == "github/unsigned" {
            script.open()
        } else {
            script
        };
        let report = block_on(check(&script, script.target()));
        if report.rules().ne([id]) {
            missed.push(format!("{id}\n{report}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_fault_is_found_in_the_workspace() {
    every_fault_is_found(Front::OpenBb);
}

#[test]
fn every_fault_is_found_for_github() {
    every_fault_is_found(Front::GitHub);
}

#[test]
fn every_fault_is_found_for_openai_clients() {
    every_fault_is_found(Front::OpenAi);
}

#[test]
fn every_fault_is_found_for_meilisearch_clients() {
    every_fault_is_found(Front::Meilisearch);
}

#[test]
fn every_fault_is_found_for_anthropic_clients() {
    every_fault_is_found(Front::Anthropic);
}

#[test]
fn every_fault_is_found_for_ag_ui_apps() {
    every_fault_is_found(Front::AgUi);
}

#[test]
fn every_fault_is_found_for_pages_on_the_ai_sdk() {
    every_fault_is_found(Front::UiStream);
}

#[test]
fn every_rule_is_broken_somewhere() {
    let rules = FRONTS.into_iter().flat_map(|front| front.kit().rules());
    let rules: BTreeSet<_> = rules.map(|rule| rule.id).collect();
    let broken: BTreeSet<_> = faults::all().map(|(id, _, _)| id).collect();
    let unbroken: Vec<_> = rules.difference(&broken).collect();
    assert!(unbroken.is_empty(), "{unbroken:?}");
}

#[test]
fn every_rule_says_what_why_and_what_to_do() {
    for front in FRONTS {
        let mut ids = BTreeSet::new();
        for rule in front.kit().rules() {
            assert!(ids.insert(rule.id), "{} is there twice", rule.id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-/".contains(c);
            assert!(rule.id.chars().all(plain), "{}", rule.id);
            for text in [rule.says, rule.why, rule.fix] {
                assert!(
                    text.len() > 5 && !text.ends_with('.'),
                    "{}: {text}",
                    rule.id
                );
            }
        }
    }
}

#[test]
fn a_header_that_nginx_takes_is_not_missed() {
    let script = Script::new(Front::OpenAi, |_, answer| {
        answer
            .without("x-accel-buffering")
            .header("server", "nginx/1.22.1")
    });
    let report = block_on(check(&script, script.target()));
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn what_every_page_and_app_understands_is_no_fault() {
    let unnamed = Script::new(Front::UiStream, |_, answer| {
        answer.said("\"messageId\":\"m1\"", "\"messageMetadata\":{}")
    });
    let newer = Script::new(Front::AgUi, |asked, answer| {
        let end = "\"type\":\"RUN_FINISHED\",";
        let outcome = "\"outcome\":{\"type\":\"success\",\"pendingToolCallIds\":[\"c\"]},";
        match asked.has("\"protocolVersion\"") {
            true => answer.said(end, &format!("{end}{outcome}")),
            false => answer,
        }
    });
    for script in [unnamed, newer] {
        let report = block_on(check(&script, script.target()));
        assert!(report.is_clean(), "{report}");
    }
}

#[test]
fn a_report_hides_what_was_sent_as_a_key() {
    const KEY: &str = "sk-0123456789abcdef";
    const ADDRESS: &str = "q-0123456789";
    let told = Script::new(Front::OpenAi, |_, answer| {
        let body = format!("true, wrong key {KEY} in {ADDRESS}; {}", &KEY[..7]);
        answer.status(401).body(body)
    });
    // Over the limit of an excerpt.
    let cut = Script::new(Front::OpenAi, |_, answer| {
        let body = format!("{}{KEY}", "x".repeat(350));
        answer.status(401).body(body)
    });
    // What is too short for a key, and a part of one in the middle, stay.
    for (script, shown) in [
        (
            told,
            "true, wrong key ******************* in ************; sk-0123",
        ),
        (cut, "xxx******…"),
    ] {
        let header = HeaderValue::from_str(&format!("Bearer {KEY}")).unwrap();
        let path = format!("/v1/chat/completions?debug=true&key={ADDRESS}");
        let target = script.target().path(path).header(AUTHORIZATION, header);
        let debug = format!("{target:?}");
        assert!(debug.contains("/v1/chat/completions"), "{debug}");
        assert!(!debug.contains(KEY) && !debug.contains(ADDRESS), "{debug}");
        let report = block_on(check(&script, target)).to_string();
        assert!(report.contains(shown), "{report}");
        assert!(!report.contains("sk-01234"), "{report}");
    }
}

#[test]
fn a_report_is_readable_by_people_and_programs() {
    let script = Script::new(Front::OpenAi, |asked, answer| {
        let answer = answer
            .said("Hello", "\u{2028}\u{202e}\u{2066}\u{200f}\u{61c}")
            .without("x-accel-buffering");
        if asked.has("stream_options") {
            answer.said("data: [DONE]\n\n", "")
        } else {
            answer
        }
    });
    let report = block_on(check(&script, script.target()));
    assert!(report.has_errors());
    let [done, buffering] = &report.findings[..] else {
        panic!("{report}");
    };
    assert_eq!(done.rule.level, Severity::Error);
    assert_eq!(
        done.requests,
        ["usage", "every parameter, and one from tomorrow"]
    );
    // What is not seen cannot pass for something else on a terminal.
    let escaped = "\\u{2028}\\u{202e}\\u{2066}\\u{200f}\\u{61c}";
    assert!(done.bytes.contains(escaped), "{}", done.bytes);
    assert_eq!(buffering.rule.id, "http/accel-buffering");
    let text = report.to_string();
    assert!(
        text.starts_with("error: chunk/done: a stream ends with `[DONE]`\n    in:  usage"),
        "{text}"
    );
    assert!(text.contains("1 error, 1 warning; "), "{text}");

    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["findings"][0]["rule"], "chunk/done");
    assert_eq!(json["findings"][0]["level"], "error");
    assert_eq!(json["findings"][1]["requests"][0], "one message");
    assert!(
        json["passed"]
            .as_array()
            .unwrap()
            .contains(&"openai/whole".into())
    );
    assert!(
        json["unseen"]
            .as_array()
            .unwrap()
            .contains(&"openai/error".into())
    );
}

#[test]
fn an_endpoint_that_is_not_there_is_one_finding() {
    for front in FRONTS {
        let script = Script::new(front, |_, mut answer| {
            answer.head = script::Head::Failed;
            answer
        });
        let report = block_on(check(&script, script.target()));
        assert!(
            report.rules().eq(["http/unreachable"]),
            "{front:?}\n{report}"
        );
    }
}
