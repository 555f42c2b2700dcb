//! The rules of the kit: each is broken once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use copilot_wire_acp::{Acp, OnePrompt, Program, Server};
use copilot_wire_kit::check::{Report, Severity, Target, check, recorded};
use copilot_wire_kit::{Effect, Harness, kit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{Caller, Player, block_on};

/// Changes a message of the agent to the lines that arrive.
type Change = fn(Value) -> Vec<String>;

/// Checks an agent whose messages are changed, and that goes on at the end of its input if it `stays`.
async fn judged(change: Change, stays: bool) -> Report {
    let (own, its) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(its);
    tokio::spawn(async move { Server::new(Caller).connect(input, output).await });
    let (output, input) = tokio::io::split(own);
    let (changed, mut to) = tokio::io::duplex(1 << 20);
    let ended = Arc::new(AtomicBool::new(false));
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            for line in change(serde_json::from_str(&line).unwrap()) {
                let line = format!("{line}\n");
                // The check may have ended.
                let _ = to.write_all(line.as_bytes()).await;
            }
        }
        while stays && !ended.load(Ordering::Relaxed) {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
    });
    check(&Program::new(input, changed), Target::new(kit::<Acp>())).await
}

fn same(message: Value) -> Vec<String> {
    vec![message.to_string()]
}

/// Replaces a member of messages that have one.
fn set(mut message: Value, path: &str, value: Value) -> Vec<String> {
    if let Some(member) = message.pointer_mut(path) {
        *member = value;
    }
    same(message)
}

#[test]
fn an_agent_of_this_crate_breaks_no_rule() {
    let report = block_on(judged(same, false));
    assert!(report.is_clean(), "{report}");
    let own = report.passed.iter().filter(|rule| rule.starts_with("acp/"));
    assert_eq!(own.count(), 17, "{:?}", report.unseen);
}

#[test]
fn every_rule_is_broken_alone() {
    let table: [(&str, Change); 15] = [
        ("acp/message", |message| {
            let mut lines = same(message);
            lines.insert(0, "a log".to_owned());
            lines
        }),
        ("acp/update", |message| {
            set(message, "/params/update/content", json!(7))
        }),
        ("acp/tool", |message| {
            let mut lines = same(message.clone());
            if message["params"]["update"]["status"] == "completed" {
                let mut other = message;
                other["params"]["update"]["toolCallId"] = json!("other");
                lines.push(other.to_string());
            }
            lines
        }),
        ("acp/open-tool", |message| {
            let update = &message["params"]["update"];
            let is_end = update["sessionUpdate"] == "tool_call_update";
            if is_end { Vec::new() } else { same(message) }
        }),
        ("acp/permission", |message| {
            set(message, "/params/options", json!([]))
        }),
        ("acp/initialize", |message| {
            let is_second = message["id"] == 2;
            if is_second {
                return set(message, "/result/protocolVersion", json!("1"));
            }
            same(message)
        }),
        ("acp/version", |message| {
            let is_first = message["id"] == 1 && message.get("method").is_none();
            if is_first {
                return same(
                    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "version"}}),
                );
            }
            same(message)
        }),
        ("acp/method", |message| {
            if message["id"] == 3 && message.get("method").is_none() {
                return set(message, "/error/code", json!(-32603));
            }
            same(message)
        }),
        ("acp/notification", |message| {
            let mut lines = same(message.clone());
            if message["id"] == 4 && message.get("method").is_none() {
                lines.insert(0, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown"}}).to_string());
            }
            lines
        }),
        ("acp/json", |message| {
            if message["id"].is_null() && message.get("method").is_none() {
                return set(message, "/error/code", json!(-32603));
            }
            same(message)
        }),
        ("acp/path", |message| {
            if message["id"] == 5 && message.get("method").is_none() {
                return same(json!({"jsonrpc": "2.0", "id": 5, "result": {"sessionId": "x"}}));
            }
            same(message)
        }),
        ("acp/session", |message| {
            set(message, "/result/sessionId", json!(7))
        }),
        ("acp/unknown-session", |message| {
            if message["id"] == 6 && message.get("method").is_none() {
                return same(
                    json!({"jsonrpc": "2.0", "id": 6, "result": {"stopReason": "end_turn"}}),
                );
            }
            same(message)
        }),
        ("acp/stop", |message| {
            set(message, "/result/stopReason", json!("done"))
        }),
        ("acp/load", |message| {
            let update = &message["params"]["update"];
            let is_user = update["sessionUpdate"] == "user_message_chunk";
            if is_user { Vec::new() } else { same(message) }
        }),
    ];
    block_on(async {
        for (rule, change) in table {
            let report = judged(change, false).await;
            let found: Vec<_> = report.rules().collect();
            assert_eq!(found, [rule], "{report}");
        }
        let cancelled: Change = |message| {
            let result = &message["result"];
            if result["stopReason"] == "cancelled" {
                return same(
                    json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "stopped"}}),
                );
            }
            same(message)
        };
        let report = judged(cancelled, false).await;
        assert_eq!(
            report.rules().collect::<Vec<_>>(),
            ["acp/cancel"],
            "{report}"
        );
        tokio::time::pause();
        let report = judged(same, true).await;
        assert_eq!(report.rules().collect::<Vec<_>>(), ["acp/end"], "{report}");
    });
}

#[test]
fn a_harness_shows_one_turn() {
    block_on(async {
        for (prompt, text) in [("everything", "Hello, world"), ("hi", "You said: hi")] {
            let mut harness = Harness::new(OnePrompt::default(), Player);
            let turn = harness.prompt(prompt).await.unwrap();
            assert!(turn.text().starts_with(text), "{}", turn.text());
            assert!(turn.faults().is_empty());
        }
        let mut harness = Harness::new(OnePrompt::default(), Player);
        let turn = harness.prompt("fail").await.unwrap();
        let (_, effect) = turn.effects().last().unwrap();
        let Effect::Error(error) = effect else {
            panic!("{effect:?}");
        };
        assert_eq!(error.message, "The market is closed.");
    });
}

#[test]
fn a_transcript_is_judged() {
    let golden = include_bytes!("golden.jsonl");
    let report = recorded(kit::<Acp>(), golden);
    assert!(report.is_clean(), "{report}");
    let log = [golden, b"a log\n".as_slice()].concat();
    let report = recorded(kit::<Acp>(), &log);
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|it| (it.rule.id, it.rule.level))
        .collect();
    assert_eq!(
        found,
        [
            ("acp/message", Severity::Error),
            ("lines/object", Severity::Error)
        ]
    );
}
