//! The emulated client and the rules of the conformance kit.

use copilot_wire::mcp::Mcp;
use copilot_wire::protocol::{Confirmation, Conversation as _};
use copilot_wire_kit::check::{Target, check, recorded};
use copilot_wire_kit::mcp::McpClient;
use copilot_wire_kit::{Harness, Next, kit};
use futures::executor::block_on;

use crate::support::agent;

#[test]
fn an_agent_keeps_all_rules() {
    block_on(async {
        let router = copilot_wire::Router::new()
            .mount(
                crate::support::mount(),
                agent(|_, reply| async move {
                    reply.status("Reading").await?;
                    Ok(reply.text("Hi").await?)
                }),
            )
            .unwrap();
        let report = check(&router, Target::new(kit::<Mcp>())).await;
        assert!(report.is_clean(), "{report}");
    });
}

#[test]
fn a_question_is_asked_and_answered() {
    block_on(async {
        let asking = agent(|request, reply| async move {
            match request.answer() {
                None => reply.confirm(Confirmation::new("go", "Go on?", "All of it."))?,
                Some(answer) if answer.accepts("go") => {
                    let prompt = request.prompt().unwrap_or_default().into_owned();
                    reply.text(format!("Done: {prompt}")).await?;
                }
                Some(_) => reply.text("Not done.").await?,
            }
            Ok(())
        });
        let mut harness = Harness::new(McpClient::new("ask"), asking);
        for (accepted, text) in [(true, "Done: work"), (false, "Not done.")] {
            let turn = harness.prompt("work").await.unwrap();
            let Next::Question(question) = turn.next() else {
                panic!("{turn:?}");
            };
            // With a title: without one it would be a question in text.
            let asked = [&*question.id, &*question.title, &*question.message];
            assert_eq!(asked, ["go", "Go on?", "All of it."]);
            let turn = harness.decide(accepted).await.unwrap();
            assert_eq!(turn.text(), text);
            assert!(turn.faults().is_empty(), "{turn:?}");
        }
    });
}

/// A stream, and the rules that it breaks.
const FAULTS: [(&str, &[&str]); 8] = [
    (
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n",
        &["mcp/result"],
    ),
    ("data: {\"a\":1}\n\n", &["mcp/frame", "mcp/result"]),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n",
        &["mcp/after-result", "mcp/text"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\",\"annotations\":null}]}}\n\n",
        &["mcp/null"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"hologram\"},{\"type\":\"text\",\"text\":\"\"}]}}\n\n",
        &["mcp/content"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"structuredContent\":{}}}\n\n",
        &["mcp/structured"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":2}}\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":2}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}}\n\n",
        &["mcp/progress"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\"}}\n\n",
        &["mcp/state"],
    ),
];

#[test]
fn faults_are_found() {
    for (stream, broken) in FAULTS {
        let report = recorded(kit::<Mcp>(), stream.as_bytes());
        let mut found: Vec<_> = report.rules().collect();
        found.sort_unstable();
        assert_eq!(found, broken, "{stream}");
    }
}
