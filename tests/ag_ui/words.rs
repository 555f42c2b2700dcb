//! Every part of the shared vocabulary, as apps get it.

use copilot_wire::ag_ui::Mount;
use copilot_wire::protocol::{
    Chart, ChartKind, Citation, Confirmation, Notice, Status, Table, ToolCall, ToolRun, Usage,
};
use serde_json::json;

use crate::support::{mounted, read, stream_of};

#[test]
fn text_is_one_message_that_its_first_piece_opens() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Hel").await?;
        reply.text("").await?;
        // A character whose bytes come apart is held back until it is whole.
        reply.text("lo \u{2028}\r\n\u{1F980}").await?;
        Ok(())
    }));
    assert_eq!(
        answer.types(),
        [
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(answer.texts(), ["Hello \u{2028}\r\n\u{1F980}"]);
    let started = answer.one("RUN_STARTED");
    assert_eq!(
        started,
        &json!({"type": "RUN_STARTED", "threadId": "th1", "runId": "r1"})
    );
    let end = answer.one("RUN_FINISHED");
    assert_eq!(
        end,
        &json!({"type": "RUN_FINISHED", "threadId": "th1", "runId": "r1"})
    );
    assert_eq!(answer.one("TEXT_MESSAGE_START")["role"], "assistant");
}

#[test]
fn an_answer_of_nothing_is_no_message() {
    let answer = read(&stream_of(|_| async { Ok(()) }));
    assert_eq!(answer.types(), ["RUN_STARTED", "RUN_FINISHED"]);
}

#[test]
fn a_status_is_a_step_until_the_next_one() {
    let answer = read(&stream_of(|reply| async move {
        reply.status("Looking").await?;
        reply.text("A").await?;
        reply.status("Looking").await?;
        reply.text("B").await?;
        reply
            .status(Status::warning("Slow").detail("host", "a"))
            .await?;
        Ok(())
    }));
    let steps = ["STEP_STARTED", "STEP_FINISHED"].map(|kind| {
        let steps = answer.all(kind).into_iter();
        steps
            .map(|step| step["stepName"].as_str().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(
        steps,
        [
            ["Looking", "Looking", "Slow"],
            ["Looking", "Looking", "Slow"]
        ]
    );
    // The text is not interrupted.
    assert_eq!(answer.texts(), ["AB"]);
    let started = answer.all("STEP_STARTED");
    assert!(started[0].get("metadata").is_none());
    let metadata = json!({"level": "warning", "details": [{"name": "host", "value": "a"}]});
    assert_eq!(started[2]["metadata"], metadata);
}

#[test]
fn reasoning_is_a_span_of_its_own() {
    let answer = read(&stream_of(|reply| async move {
        reply.reasoning("Let me ").await?;
        reply.reasoning("see.").await?;
        reply.text("Yes.").await?;
        reply.reasoning("Or no?").await?;
        reply.text("No.").await?;
        Ok(())
    }));
    assert_eq!(answer.texts(), ["Yes.", "No."]);
    assert_eq!(
        answer.types()[1..7],
        [
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_END",
        ]
    );
    let starts = answer.all("REASONING_MESSAGE_START");
    assert_eq!(starts[0]["role"], "reasoning");
    assert_ne!(starts[0]["messageId"], starts[1]["messageId"]);
    let ids = answer.all("TEXT_MESSAGE_START");
    assert_ne!(ids[0]["messageId"], ids[1]["messageId"]);
}

#[test]
fn sources_are_at_the_end_as_data_and_as_text() {
    let cited = |mount| {
        read(&mounted(mount, |reply| async move {
            let citation = Citation::new("Report")
                .url("https://a.example")
                .excerpt("Up.");
            reply.cite(citation).await?;
            reply.text("It is up.").await?;
            reply.cite(Citation::new("notes.md").document("d1")).await?;
            Ok(())
        }))
    };
    let value = json!([
        {"title": "Report", "url": "https://a.example", "excerpt": "Up."},
        {"title": "notes.md", "document": "d1"},
    ]);
    let answer = cited(Mount::new());
    let custom = answer.one("CUSTOM");
    assert_eq!(
        (&custom["name"], &custom["value"]),
        (&json!("citations"), &value)
    );
    let list = "\n\n**Sources**\n\n- [Report](https://a.example): Up.\n- notes.md\n";
    assert_eq!(answer.texts(), [format!("It is up.{list}")]);
    let answer = cited(Mount::new().markdown(false));
    assert_eq!(answer.one("CUSTOM")["value"], value);
    assert_eq!(answer.texts(), ["It is up."]);
}

#[test]
fn rows_are_an_activity_and_a_table_in_text() {
    let shown = |mount| {
        read(&mounted(mount, |reply| async move {
            let rows = json!([{"day": "Mon", "price": 1}]);
            reply.text("Here:").await?;
            let table = Table::new("Prices", &rows)?.description("In euro");
            reply.table(table).await?;
            let (x, y) = ("day".to_owned(), vec!["price".to_owned()]);
            for kind in [
                ChartKind::Bar {
                    x: x.clone(),
                    y: y.clone(),
                },
                ChartKind::Line {
                    x: x.clone(),
                    y: y.clone(),
                },
                ChartKind::Scatter { x: x.clone(), y },
                ChartKind::Pie {
                    angle: "price".into(),
                    label: x.clone(),
                },
                ChartKind::Donut {
                    angle: "price".into(),
                    label: x,
                },
            ] {
                reply.chart(Chart::new("Prices", kind, &rows)?).await?;
            }
            reply.text("There.").await?;
            Ok(())
        }))
    };
    let answer = shown(Mount::new().markdown(false));
    let activities = answer.all("ACTIVITY_SNAPSHOT");
    assert_eq!(activities[0]["activityType"], "table");
    let rows = json!([{"day": "Mon", "price": 1}]);
    let table = json!({"name": "Prices", "description": "In euro", "rows": rows});
    assert_eq!(activities[0]["content"], table);
    let bar = json!({"name": "Prices", "kind": "bar", "x": "day", "y": ["price"], "rows": rows});
    assert_eq!(activities[1]["activityType"], "chart");
    assert_eq!(activities[1]["content"], bar);
    let kinds = activities[1..].iter();
    let kinds: Vec<_> = kinds
        .map(|chart| chart["content"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["bar", "line", "scatter", "pie", "donut"]);
    assert_eq!(activities[5]["content"]["angle"], "price");
    assert_eq!(activities[5]["content"]["label"], "day");
    // What comes after an activity is a message below it.
    assert_eq!(answer.texts(), ["Here:", "There."]);
    let answer = shown(Mount::new());
    let markdown = "**Prices**: In euro\n\n| day | price |\n| --- | --- |\n| Mon | 1 |\n\n";
    assert_eq!(answer.texts()[1], markdown);
    assert!(
        answer.texts()[6].ends_with("| Mon | 1 |\n\nThere."),
        "{:?}",
        answer.texts()
    );
}

#[test]
fn a_notice_is_text_and_the_run_goes_on() {
    let answer = read(&stream_of(|reply| async move {
        reply
            .error(Notice::new("No data").code("c").identifier("i"))
            .await?;
        reply.text("But this.").await?;
        Ok(())
    }));
    assert_eq!(answer.texts(), ["**Error:** No data\n\nBut this."]);
    assert!(answer.all("RUN_ERROR").is_empty());
}

#[test]
fn usage_is_sent_at_the_end() {
    let answer = read(&stream_of(|reply| async move {
        reply.usage(Usage::new(1, 1)).await?;
        let usage = Usage::new(10, u64::MAX)
            .cached_input_tokens(4)
            .reasoning_tokens(2);
        reply.usage(usage).await?;
        Ok(())
    }));
    // Clients take no number beyond 2^53 - 1.
    let most = 9_007_199_254_740_991_u64;
    let usage = json!([{
        "inputTokens": 11, "outputTokens": most, "totalTokens": most,
        "reasoningTokens": 2, "cachedInputTokens": 4,
    }]);
    assert_eq!(answer.one("RUN_FINISHED")["usage"], usage);
}

#[test]
fn tools_that_the_agent_ran_are_calls_with_results() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Let me look.").await?;
        reply
            .tool_run(ToolRun::new("search", &json!({"q": "x"}), &json!([1]))?)
            .await?;
        reply
            .tool_run(ToolRun::new("name", &json!({}), "text")?)
            .await?;
        reply
            .tool_run(ToolRun::failed("search", &json!({}), "no index")?)
            .await?;
        reply.text("There.").await?;
        Ok(())
    }));
    assert_eq!(answer.texts(), ["Let me look.", "There."]);
    let results = answer.all("TOOL_CALL_RESULT");
    let contents: Vec<_> = results
        .iter()
        .map(|result| result["content"].as_str().unwrap())
        .collect();
    assert_eq!(contents, ["[1]", "text", "no index"]);
    assert_eq!(results[0]["role"], "tool");
    assert!(results[0].get("metadata").is_none());
    assert_eq!(results[2]["metadata"], json!({"failed": true}));
    let starts = answer.all("TOOL_CALL_START");
    // The first call belongs to the text before it, the next ones to messages behind the results.
    let message = &answer.all("TEXT_MESSAGE_START")[0]["messageId"];
    assert_eq!(&starts[0]["parentMessageId"], message);
    let parents = starts
        .iter()
        .map(|start| start["parentMessageId"].as_str().unwrap());
    assert_eq!(parents.collect::<std::collections::HashSet<_>>().len(), 3);
    for (start, result) in starts.iter().zip(results) {
        assert_eq!(start["toolCallId"], result["toolCallId"]);
    }
    assert_eq!(answer.all("TOOL_CALL_ARGS")[0]["delta"], r#"{"q":"x"}"#);
}

#[test]
fn calls_end_the_run_and_belong_to_the_text_before_them() {
    let answer = read(&stream_of(|reply| async move {
        reply.cite(Citation::new("Report")).await?;
        reply.text("One moment.").await?;
        Ok(reply.calls(&[
            ToolCall::new("get_tide", &json!({"port": "Brest"}))?,
            ToolCall::new("get_wind", &json!({}))?,
        ])?)
    }));
    let starts = answer.all("TOOL_CALL_START");
    let names: Vec<_> = starts
        .iter()
        .map(|start| start["toolCallName"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["get_tide", "get_wind"]);
    let message = &answer.one("TEXT_MESSAGE_START")["messageId"];
    assert!(
        starts
            .iter()
            .all(|start| &start["parentMessageId"] == message)
    );
    assert_ne!(starts[0]["toolCallId"], starts[1]["toolCallId"]);
    assert_eq!(
        answer.all("TOOL_CALL_ARGS")[0]["delta"],
        r#"{"port":"Brest"}"#
    );
    assert!(answer.all("TOOL_CALL_RESULT").is_empty());
    // Neither a pending call nor another outcome: 0.0.59 fails at them.
    assert!(answer.one("RUN_FINISHED").get("outcome").is_none());
    // Without a text, both calls still belong to one message.
    let answer = read(&stream_of(|reply| async move {
        let call = ToolCall::new("get_wind", &json!({}))?;
        Ok(reply.calls(&[call.clone(), call])?)
    }));
    let starts = answer.all("TOOL_CALL_START");
    assert_eq!(starts[0]["parentMessageId"], starts[1]["parentMessageId"]);
}

#[test]
fn a_tool_that_nobody_offered_is_not_called() {
    let answer = read(&stream_of(|reply| async move {
        let calls = [
            ToolCall::new("get_tide", &json!({}))?,
            ToolCall::new("get_gold", &json!({}))?,
        ];
        Ok(reply.calls(&calls)?)
    }));
    assert!(answer.all("TOOL_CALL_START").is_empty());
    assert!(answer.types().contains(&"RUN_ERROR"));
    let answer = read(&stream_of(|reply| async move {
        Ok(reply.call(ToolCall::new("get_tide", &json!([1]))?)?)
    }));
    assert!(answer.all("TOOL_CALL_START").is_empty());
}

fn question() -> Confirmation {
    let data = copilot_wire::json::Json::encode(&json!({"page": 7})).unwrap();
    Confirmation::new("del-1", "Delete?", "All of it.").data(data)
}

#[test]
fn a_question_is_the_end_of_the_text() {
    let answer = read(&stream_of(|reply| async move {
        reply.cite(Citation::new("Report")).await?;
        reply.text("```\nrm").await?;
        Ok(reply.confirm(question())?)
    }));
    let text = answer.texts().concat();
    let (before, question) = text.rsplit_once("\n\n").unwrap();
    assert!(
        question.starts_with("Question: Delete? All of it. To agree, reply: yes "),
        "{text}"
    );
    assert!(before.contains("- Report"), "{text}");
    assert!(answer.one("RUN_FINISHED").get("outcome").is_none());
}

#[test]
fn a_question_is_an_interrupt_where_the_app_answers_those() {
    let answer = read(&mounted(
        Mount::new().interrupts(true),
        |reply| async move {
            reply.usage(Usage::new(1, 2)).await?;
            reply.text("Well.").await?;
            Ok(reply.confirm(question())?)
        },
    ));
    assert_eq!(answer.texts(), ["Well."]);
    let end = answer.one("RUN_FINISHED");
    let outcome = json!({"type": "interrupt", "interrupts": [{
        "id": "del-1", "reason": "confirm", "message": "Delete?\n\nAll of it.",
        "responseSchema": {
            "type": "object", "properties": {"accepted": {"type": "boolean"}}, "required": ["accepted"],
        },
        "metadata": {"title": "Delete?", "message": "All of it.", "data": {"page": 7}},
    }]});
    assert_eq!(end["outcome"], outcome);
    assert_eq!(end["usage"][0]["totalTokens"], 3);
}
