//! The played app, on a harness.

use copilot_wire::ag_ui::{RunAgentInput, StateDelta, StateSnapshot, Tool};
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    Citation, Confirmation, Conversation, HistoryItem, Notice, ToolCall, ToolRun, Usage,
};
use copilot_wire_kit::ag_ui::App;
use copilot_wire_kit::{FrontEnd, Harness, Next, ToolOutcome};
use futures::executor::block_on;
use serde_json::json;

use crate::support::agent;

fn app() -> App {
    let mut input = RunAgentInput::new("t", "", []);
    let schema = Json::encode(&json!({"type": "object"})).unwrap();
    input.tools.push(Tool::new("get_tide", "The tide.", schema));
    App::continuing(input)
}

#[test]
fn every_part_is_received() {
    let says = agent(|_, reply| async move {
        reply.reasoning("Hm.").await?;
        reply.status("Looking").await?;
        reply
            .tool_run(ToolRun::new("search", &json!({"q": "x"}), &json!([1]))?)
            .await?;
        reply
            .tool_run(ToolRun::failed("search", &json!({}), "no index")?)
            .await?;
        reply.text("It is up.").await?;
        reply.error(Notice::new("No chart")).await?;
        reply
            .cite(Citation::new("Report").url("https://a.example"))
            .await?;
        reply.usage(Usage::new(1, 2)).await?;
        Ok(())
    });
    let mut harness = Harness::new(app(), says);
    let turn = block_on(harness.prompt("Hi")).unwrap();
    assert_eq!(
        turn.to_string(),
        "reasoning: Hm.\n\
         status: Looking\n\
         ran: search {\"q\":\"x\"} -> [1]\n\
         ran: search {} failed: no index\n\
         text: It is up.\\n\\n**Error:** No chart\\n\\n\n\
         citation: Report <https://a.example>\n\
         text: \\n\\n**Sources**\\n\\n- [Report](https://a.example)\\n\n\
         usage: 1 in, 2 out\n"
    );
    assert!(turn.faults().is_empty());
}

#[test]
fn calls_go_there_and_back() {
    let asks = agent(|request, reply| async move {
        let results: Vec<_> = request
            .results()
            .map(|result| result.content.into_owned())
            .collect();
        if results.is_empty() {
            reply.text("One moment.").await?;
            let call = |port: &str| ToolCall::new("get_tide", &json!({"port": port}));
            return Ok(reply.calls(&[call("Brest")?, call("Calais")?])?);
        }
        let calls = request
            .history()
            .filter(|item| matches!(item, HistoryItem::Call(_)));
        assert_eq!(calls.count(), 2);
        Ok(reply.text(results.join(" and ")).await?)
    });
    let mut harness = Harness::new(app(), asks);
    let turn = block_on(harness.prompt("Tides?")).unwrap();
    let ports = turn.calls().iter().map(|call| call.arguments.text());
    assert_eq!(
        ports.collect::<String>(),
        r#"{"port":"Brest"}{"port":"Calais"}"#
    );
    let answers = [ToolOutcome::text("4.2"), ToolOutcome::failed("no gauge")];
    let turn = block_on(harness.answer(answers)).unwrap();
    assert_eq!(turn.text(), "4.2 and no gauge");
}

#[test]
fn a_question_is_answered() {
    for accepted in [true, false] {
        let asks = agent(|request, reply| async move {
            match request.decision() {
                Some(answer) => {
                    assert_eq!(answer.id, "q1");
                    Ok(reply.text(format!("{}", answer.accepts("q1"))).await?)
                }
                None => Ok(reply.confirm(Confirmation::new("q1", "Sure?", "Really?"))?),
            }
        });
        let mut harness = Harness::new(app(), asks);
        let turn = block_on(harness.prompt("Delete it")).unwrap();
        assert!(
            turn.to_string().contains("To refuse, reply: no. (q1 "),
            "{turn}"
        );
        let turn = block_on(harness.decide(accepted)).unwrap();
        assert_eq!(turn.text(), accepted.to_string());
    }
}

/// The events of a body, heard by an app.
fn receive(app: &mut App, frames: &[&str]) -> Next {
    let body: String = frames
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    let mut input = body.as_bytes();
    while let Some(event) = app.decode(&mut input).unwrap() {
        app.receive(&event);
    }
    app.next()
}

const START: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISH: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

#[test]
fn state_comes_back_with_the_next_request() {
    let shares = agent(|_, reply| async move {
        reply
            .send(StateSnapshot::new(
                &json!({"count": 1, "list": [1, 2], "old": 0}),
            )?)
            .await?;
        let patch = json!([
            {"op": "replace", "path": "/count", "value": 2},
            {"op": "add", "path": "/list/1", "value": 9},
            {"op": "add", "path": "/list/-", "value": 3},
            {"op": "remove", "path": "/list/0"},
            {"op": "move", "from": "/old", "path": "/a~1b"},
            {"op": "copy", "from": "/count", "path": "/twice"},
            {"op": "test", "path": "/twice", "value": 2},
        ]);
        reply.send(StateDelta::new(&patch)?).await?;
        Ok(())
    });
    let mut harness = Harness::new(app(), shares);
    block_on(harness.prompt("Hi")).unwrap();
    let state: serde_json::Value = harness.front_end().input().state.decode().unwrap();
    assert_eq!(
        state,
        json!({"count": 2, "list": [9, 2, 3], "a/b": 0, "twice": 2})
    );
    let mut app = app();
    let odd = r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/none"}]}"#;
    assert!(matches!(
        receive(&mut app, &[START, odd, FINISH]),
        Next::Broken(_)
    ));
}

#[test]
fn an_interrupt_is_answered_or_passed_over() {
    let interrupt = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt",
        "interrupts":[{"id":"q1","reason":"confirm","message":"Sure?","metadata":{"title":"T","message":"M","data":{"a":1}}}]}}"#
        .replace('\n', " ");
    let asked = |app: &mut App| match receive(app, &[START, &interrupt]) {
        Next::Question(question) => question,
        next => panic!("{next:?}"),
    };
    let mut first = app();
    let question = asked(&mut first);
    assert_eq!(
        (&*question.id, &*question.title, &*question.message),
        ("q1", "T", "M")
    );
    first.decide(&question, true);
    let answer = first.input().dialog_decision().unwrap();
    assert!(answer.accepts("q1"));
    assert_eq!(answer.data.unwrap().text(), r#"{"a":1}"#);
    assert_eq!(first.input().run_id, "run-2");
    assert_eq!(receive(&mut first, &[START, FINISH]), Next::Nothing);
    assert!(first.input().resume.is_empty());
    let mut second = app();
    let _ = asked(&mut second);
    second.prompt("Something else");
    assert!(!second.input().dialog_decision().unwrap().accepts("q1"));
}

#[test]
fn what_real_apps_fail_at_is_broken() {
    let text = r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#;
    let step = r#"{"type":"STEP_STARTED","stepName":"s"}"#;
    for frames in [
        &[START][..],
        &[text, FINISH],
        &[START, text, FINISH],
        &[START, step, FINISH],
        &[START, text, text, FINISH],
        &[START, START, FINISH],
        &[
            START,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            FINISH,
        ],
        &[START, FINISH, text],
        &[START, r#"{"type":"TOMORROW"}"#, FINISH],
    ] {
        assert!(
            matches!(receive(&mut app(), frames), Next::Broken(_)),
            "{frames:?}"
        );
    }
    let failed = [START, text, r#"{"type":"RUN_ERROR","message":"m"}"#];
    assert_eq!(receive(&mut app(), &failed), Next::Nothing);
}
