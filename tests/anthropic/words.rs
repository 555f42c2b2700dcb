//! The shared vocabulary, as clients read it.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Notice, SendError, Status,
    Table, ToolCall, ToolRun, Usage, Verdict,
};
use copilot_wire::{Reply, Request};
use serde_json::{Value, json};

use crate::strict::{Read, read};
use crate::support::{agent, ask, post, router, stream_of};

#[test]
fn text_is_one_block() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Hel").await?;
        reply.text("lo \"world\"\n\u{2028}").await?;
        Ok(())
    }));
    assert_eq!(answer.kinds(), ["text"]);
    assert_eq!(answer.text(), "Hello \"world\"\n\u{2028}");
    assert_eq!(answer.stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(answer.message["model"], "analyst");
}

#[test]
fn a_status_is_thinking_before_the_text_and_nothing_behind_it() {
    let answer = read(&stream_of(|reply| async move {
        reply.status("Looking").await?;
        let step = Status::new("it\nup")
            .detail("symbol", "AAPL")
            .detail("rows", "4");
        reply.status(step).await?;
        reply.text("One ").await?;
        reply.status("Too late").await?;
        reply.text("text.").await?;
        Ok(())
    }));
    assert_eq!(answer.kinds(), ["thinking", "text"]);
    assert_eq!(
        answer.blocks[0].text,
        "Looking\nit up (symbol: AAPL, rows: 4)\n"
    );
    assert_eq!(answer.text(), "One text.");
}

#[test]
fn reasoning_and_runs_of_tools_share_the_thinking() {
    let answer = read(&stream_of(|reply| async move {
        reply.reasoning("I should ").await?;
        reply.reasoning("look.").await?;
        reply
            .tool_run(ToolRun::new("search", &json!({"q": 1}), &json!([2]))?)
            .await?;
        reply.reasoning("Found.").await?;
        reply.text("High.").await?;
        reply.reasoning("Too late.").await?;
        reply
            .usage(Usage::new(30, 4).cached_input_tokens(10))
            .await?;
        Ok(())
    }));
    assert_eq!(answer.kinds(), ["thinking", "text"]);
    assert_eq!(
        answer.blocks[0].text,
        "I should look.\nRan search (Arguments: {\"q\":1}, Result: [2])\nFound."
    );
    assert_eq!(
        answer.usage,
        json!({"input_tokens": 20, "cache_read_input_tokens": 10, "output_tokens": 4})
    );
}

#[test]
fn a_source_is_a_citation_and_a_list_item() {
    let answer = read(&stream_of(|reply| async move {
        let report = Citation::new("Report").url("https://a.example");
        reply.cite(report.excerpt("Sales rose.")).await?;
        reply.text("Up.").await?;
        reply.cite(Citation::new("A friend")).await?;
        Ok(())
    }));
    assert_eq!(answer.kinds(), ["text"]);
    assert_eq!(
        answer.text(),
        "Up.\n\n**Sources**\n\n- [Report](https://a.example): Sales rose.\n- A friend\n"
    );
    assert_eq!(
        answer.blocks[0].citations,
        [json!({
            "type": "web_search_result_location", "url": "https://a.example", "title": "Report",
            "cited_text": "Sales rose.", "encrypted_index": "",
        })]
    );
}

#[test]
fn tables_charts_and_errors_are_markdown() {
    let answer = read(&stream_of(|reply| async move {
        let rows = json!([{"day": "Mon", "price": 1}]);
        let kind = ChartKind::Bar {
            x: "day".into(),
            y: vec!["price".into()],
        };
        reply.table(Table::new("T", &rows)?).await?;
        reply.chart(Chart::new("C", kind, &rows)?).await?;
        reply.error(Notice::new("half of it")).await?;
        Ok(())
    }));
    assert_eq!(answer.kinds(), ["text"]);
    for part in ["**T**", "**C**", "| Mon | 1 |", "**Error:** half of it"] {
        assert!(answer.text().contains(part), "{}", answer.text());
    }
}

#[test]
fn an_agent_that_says_nothing_ends_with_a_sentence() {
    for status in [false, true] {
        let answer = read(&stream_of(move |reply| async move {
            if status {
                reply.status("Thinking").await?;
            }
            Ok(())
        }));
        assert_eq!(answer.text(), "There is no answer.");
        assert_eq!(answer.stop_reason.as_deref(), Some("end_turn"));
    }
}

#[test]
fn a_call_is_a_block_with_its_arguments_as_a_delta() {
    let answer = read(&stream_of(|reply| async move {
        reply.status("Looking").await?;
        reply.text("One moment.").await?;
        reply.cite(Citation::new("A friend")).await?;
        Ok(reply.call(ToolCall::new("get_tide", &json!({"port": "Brest"}))?)?)
    }));
    assert_eq!(answer.kinds(), ["thinking", "text", "tool_use"]);
    assert_eq!(answer.blocks[2].start["name"], "get_tide");
    assert_eq!(answer.blocks[2].text, r#"{"port":"Brest"}"#);
    assert_eq!(answer.stop_reason.as_deref(), Some("tool_use"));
    assert!(answer.text().ends_with("- A friend\n"));
}

#[test]
fn a_call_without_text_and_arguments_is_enough() {
    let answer = read(&stream_of(|reply| async move {
        Ok(reply.call(ToolCall::new("get_wind", &json!({}))?)?)
    }));
    assert_eq!(answer.kinds(), ["tool_use"]);
    assert_eq!(answer.blocks[0].text, "{}");
}

#[test]
fn a_call_that_the_client_cannot_make_is_an_error() {
    let fails = |call: fn() -> ToolCall| {
        let answer = read(&stream_of(move |reply| async move {
            match reply.call(call()) {
                Err(SendError::Unsupported(_)) => Err(AgentError::new("unsupported")),
                Err(SendError::Invalid(_)) => Err(AgentError::new("invalid")),
                other => panic!("{other:?}"),
            }
        }));
        answer.error.unwrap()["message"].clone()
    };
    assert_eq!(
        fails(|| ToolCall::new("rm", &json!({})).unwrap()),
        "unsupported"
    );
    assert_eq!(
        fails(|| ToolCall::new("get_tide", &[1]).unwrap()),
        "invalid"
    );
}

#[test]
fn no_tool_is_offered_under_the_choice_none() {
    let counts = agent(
        |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
            let names: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
            Ok(reply.text(format!("{names:?}")).await?)
        },
    );
    let router = router(counts);
    let said = |body: &Value| read(&post(&router, body).1).text();
    let mut body = ask("Hi");
    assert_eq!(said(&body), r#"["get_tide", "get_wind"]"#);
    body["tools"][0]["type"] = json!("custom");
    body["tools"][1]["type"] = json!("web_search_20250305");
    assert_eq!(said(&body), r#"["get_tide"]"#);
    body["tool_choice"] = json!({"type": "none"});
    assert_eq!(said(&body), "[]");
}

/// Asks before it deletes, and reads the answer in the next turn.
async fn careful(request: Request<Anthropic>, reply: Reply<Anthropic>) -> Result<(), AgentError> {
    match request.decision() {
        Some(answer) if answer.accepts("delete `7`") => reply.text("Deleted.").await?,
        Some(answer) if answer.verdict == Verdict::Refused => reply.text("Kept.").await?,
        _ => {
            let message = "This cannot be undone.";
            reply.confirm(Confirmation::new("delete `7`", "Delete it?", message))?;
        }
    }
    Ok(())
}

#[test]
fn a_question_is_answered_in_the_next_turn() {
    let router = router(agent(careful));
    let said = |messages: Value| -> Read {
        let mut body = ask("");
        body["messages"] = messages;
        read(&post(&router, &body).1)
    };
    let asked = || {
        let asked = said(json!([{"role": "user", "content": "Delete it"}]));
        assert_eq!(asked.stop_reason.as_deref(), Some("end_turn"));
        asked.text()
    };
    let question = asked();
    assert!(question.contains("Question: Delete it? This cannot be undone. To agree"));
    let turn = |question: &str, answer: Value| {
        json!([
            {"role": "user", "content": "Delete it"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "text", "text": question},
            ]},
            {"role": "user", "content": answer},
            // Claude Code's first turn ends like this.
            {"role": "system", "content": "Be brief."},
        ])
    };
    let yes = |question: &str| {
        let (_, code) = question.rsplit_once("reply: yes ").unwrap();
        format!("yes {}", &code[..6])
    };
    let agreed = yes(&question);
    assert_eq!(said(turn(&question, json!(agreed))).text(), "Deleted.");
    assert_eq!(said(turn(&asked(), json!("no."))).text(), "Kept.");
    let question = asked();
    let reminded = json!([
        {"type": "text", "text": "<system-reminder>Today is Sunday.</system-reminder>"},
        {"type": "text", "text": yes(&question)},
    ]);
    assert_eq!(said(turn(&question, reminded)).text(), "Deleted.");
    // Neither an answer nor the newest question.
    let answer = said(turn(&question, json!("Yes, but why?")));
    assert!(answer.text().contains("To agree"));
    let later = json!([
        {"role": "assistant", "content": question}, {"role": "user", "content": "hm"},
        {"role": "assistant", "content": "So?"}, {"role": "user", "content": "yes"},
    ]);
    assert!(said(later).text().contains("To agree"));
}
