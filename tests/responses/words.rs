//! The shared vocabulary on Responses, through the router.

use copilot_wire::agent_fn;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Notice, SendError, Status,
    Table, ToolCall, ToolRun, Usage,
};
use copilot_wire::responses::{Ending, ErrorObject, Item, Responses};
use serde_json::json;

use crate::rules::{End, check};
use crate::support::{HI, answer, fixture, post, router};

#[test]
fn a_text_reply_has_the_documented_order() {
    let stream = answer(|reply| async move {
        reply.text("Hel").await?;
        Ok(reply.text("lo").await?)
    });
    let checked = check(&stream, End::Completed);
    assert_eq!(
        checked.kinds(),
        [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ]
    );
    assert_eq!(checked.text, "Hello");
    assert_eq!(stream, fixture("text.sse"));
}

#[test]
fn an_answer_without_a_word_gets_a_sentence() {
    let checked = check(&answer(|_| async { Ok(()) }), End::Completed);
    assert_eq!(checked.text, "There is no answer.");
    let thinks = answer(|reply| async move { Ok(reply.reasoning("hm").await?) });
    let checked = check(&thinks, End::Completed);
    assert_eq!(checked.text, "There is no answer.");
    assert_eq!(checked.items[0]["type"], "reasoning");
}

#[test]
fn every_part_has_an_equivalent() {
    let rows = || json!([{"height": 4.2, "port": "Brest"}]);
    let stream = answer(move |reply| async move {
        reply
            .cite(Citation::new("Tide tables").url("https://tides.example/brest"))
            .await?;
        reply
            .status(Status::warning("looking").detail("port", "Brest"))
            .await?;
        reply.text("High water.").await?;
        reply.table(Table::new("Tides", &rows())?).await?;
        let kind = ChartKind::Bar {
            x: "port".into(),
            y: vec!["height".into()],
        };
        reply.chart(Chart::new("Heights", kind, &rows())?).await?;
        reply.error(Notice::new("no wind data")).await?;
        reply.cite(Citation::new("notes.md")).await?;
        reply
            .cite(Citation::new("").url("http://b.example"))
            .await?;
        reply
            .cite(Citation::new("a trap").url("javascript:x()"))
            .await?;
        reply.usage(Usage::new(3, 4).reasoning_tokens(1)).await?;
        Ok(())
    });
    let checked = check(&stream, End::Completed);
    let kinds: Vec<_> = checked.items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "message"]);
    assert_eq!(
        checked.items[0]["summary"],
        json!([{"type": "summary_text", "text": "Warning: looking\nport: Brest"}])
    );
    let table = "| height | port |\n| --- | --- |\n| 4.2 | Brest |\n\n";
    assert_eq!(
        checked.text,
        format!(
            "High water.\n\n**Tides**\n\n{table}\n\n**Heights**\n\n{table}\n\n**Error:** no wind data\n\n\
             \n\n**Sources**\n\n- [Tide tables](https://tides.example/brest)\n- notes.md\n\
             - [http://b.example](http://b.example)\n- a trap (javascript:x())\n"
        )
    );
    // Only addresses of web pages are annotations, and each has a name and a place.
    let place = checked
        .text
        .split("\n\n**Sources**")
        .next()
        .unwrap()
        .chars()
        .count();
    assert_eq!(
        checked.items[1]["content"][0]["annotations"],
        json!([
            {"type": "url_citation", "start_index": 0, "end_index": 0,
             "url": "https://tides.example/brest", "title": "Tide tables"},
            {"type": "url_citation", "start_index": place, "end_index": place,
             "url": "http://b.example", "title": "http://b.example"},
        ])
    );
    let added = checked.events.iter();
    let added: Vec<_> = added
        .filter(|event| event["type"] == "response.output_text.annotation.added")
        .map(|event| event["annotation_index"].as_u64())
        .collect();
    assert_eq!(added, [Some(0), Some(1)]);
    assert_eq!(checked.response["usage"]["total_tokens"], 7);
    assert_eq!(stream, fixture("words.sse"));
}

#[test]
fn a_status_interrupts_the_message() {
    let checked = check(
        &answer(|reply| async move {
            reply.text("One.").await?;
            reply.status("Looking").await?;
            Ok(reply.text("Two.").await?)
        }),
        End::Completed,
    );
    let kinds: Vec<_> = checked.items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "reasoning", "message"]);
    let ids: std::collections::HashSet<_> = checked
        .items
        .iter()
        .map(|item| item["id"].as_str())
        .collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn reasoning_is_one_item_and_a_run_of_a_tool_another() {
    let checked = check(
        &answer(|reply| async move {
            reply.reasoning("I should ").await?;
            reply.reasoning("look.").await?;
            reply
                .tool_run(ToolRun::new("search", &json!({"q": 1}), &json!("found"))?)
                .await?;
            Ok(reply.text("Two.").await?)
        }),
        End::Completed,
    );
    let summaries: Vec<_> = checked
        .items
        .iter()
        .map(|item| item["summary"][0]["text"].as_str())
        .collect();
    assert_eq!(
        summaries,
        [
            Some("I should look."),
            Some("Ran search\nArguments: {\"q\":1}\nResult: found"),
            None
        ]
    );
}

#[test]
fn several_calls_are_items_behind_each_other() {
    let checked = check(
        &answer(|reply| async move {
            let call = |port: &str| ToolCall::new("get_tide", &json!({"port": port}));
            Ok(reply.calls(&[call("Brest")?, call("Roscoff")?])?)
        }),
        End::Completed,
    );
    let arguments: Vec<_> = checked
        .items
        .iter()
        .map(|item| item["arguments"].as_str().unwrap())
        .collect();
    assert_eq!(arguments, [r#"{"port":"Brest"}"#, r#"{"port":"Roscoff"}"#]);
    assert_ne!(checked.items[0]["call_id"], checked.items[1]["call_id"]);
}

#[test]
fn a_call_is_a_whole_item() {
    let stream = answer(|reply| async move {
        reply.text("Let me look.").await?;
        reply.cite(Citation::new("notes.md")).await?;
        reply.call(ToolCall::new("get_tide", &json!({"port": "Br\"est"}))?)?;
        Ok(())
    });
    let checked = check(&stream, End::Completed);
    assert!(checked.text.ends_with("- notes.md\n"));
    let call = &checked.items[1];
    assert_eq!(call["name"], "get_tide");
    assert_eq!(call["arguments"], r#"{"port":"Br\"est"}"#);
    assert_eq!(call["status"], "completed");
    assert!(call["call_id"].as_str().unwrap().starts_with("call_"));
    assert!(call["id"].as_str().unwrap().starts_with("fc_"));
    let kinds = checked.kinds();
    assert_eq!(
        kinds[kinds.len() - 5..],
        [
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
    assert_eq!(stream, fixture("call.sse"));
}

#[test]
fn only_offered_tools_are_called() {
    for (tools, name, kind) in [
        (r#"[{"type":"function","name":"f"}]"#, "f", "function_call"),
        (r#"[{"type":"function","name":"f"}]"#, "g", "message"),
        (r#"[{"type":"custom","name":"f"}]"#, "f", "custom_tool_call"),
        (
            r#"[{"type":"function","name":"f"}],"tool_choice":"none""#,
            "f",
            "message",
        ),
        ("[]", "f", "message"),
    ] {
        let offered = kind != "message";
        let router = router(agent_fn::<Responses, _, _>(
            move |request, reply| async move {
                let known = request.tools().any(|tool| tool.name == name);
                assert_eq!(known, offered);
                let called = reply.call(ToolCall::new(name, &json!({}))?);
                assert_eq!(matches!(called, Err(SendError::Unsupported(_))), !offered);
                Ok(())
            },
        ));
        let body = format!(r#"{{"model":"m","stream":true,"input":"hi","tools":{tools}}}"#);
        let checked = check(&post(&router, &body).1, End::Completed);
        assert_eq!(checked.items.len(), 1, "{tools}");
        assert_eq!(checked.items[0]["type"], kind, "{tools}");
    }
}

#[test]
fn a_question_is_the_last_text_and_is_answered() {
    let router = router(agent_fn::<Responses, _, _>(|request, reply| async move {
        if let Some(answer) = request.decision() {
            let text = format!("{} {:?}", answer.id, answer.verdict);
            return Ok(reply.text(&text).await?);
        }
        if request.prompt().as_deref() == Some("cite") {
            reply.cite(Citation::new("notes.md")).await?;
        }
        Ok(reply.confirm(Confirmation::new("del-1", "Delete?", "Really?"))?)
    }));
    let cited = post(&router, &HI.replace(r#""hi""#, r#""cite""#)).1;
    let cited = check(&cited, End::Completed).text;
    assert!(
        cited.contains("notes") && cited.contains("\n\nQuestion: Delete?"),
        "{cited}"
    );
    let asked = check(&post(&router, HI).1, End::Completed);
    let (_, code) = asked.text.rsplit_once("reply: yes ").unwrap();
    assert!(
        code[6..].starts_with(". To refuse, reply: no. (del-1 cw"),
        "{code}"
    );
    let yes = format!("yes {}", &code[..6]);
    for (answer, expected) in [(&*yes, "del-1 Accepted"), ("no.", "del-1 Used")] {
        let mut input = vec![json!({"role": "user", "content": "hi"})];
        input.extend(asked.items.iter().cloned());
        input.push(json!({"role": "user", "content": answer}));
        let body = json!({"model": "m", "stream": true, "input": input});
        let checked = check(&post(&router, &body.to_string()).1, End::Completed);
        assert_eq!(checked.text, expected);
    }
}

fn failed(stream: &str) -> (String, String) {
    let checked = check(stream, End::Failed);
    let error = |name: &str| {
        let text = checked.response["error"][name].as_str();
        text.unwrap().to_owned()
    };
    (error("code"), error("message"))
}

#[test]
fn a_failure_has_the_code_that_decides_about_a_retry() {
    for (text, retryable, code) in [
        ("", false, "invalid_prompt"),
        ("Half", false, "invalid_prompt"),
        ("", true, "server_error"),
        ("Half", true, "server_error"),
    ] {
        let stream = answer(move |reply| async move {
            reply.text(text).await?;
            let error = AgentError::new("The database is away.");
            Err(if retryable { error.retryable() } else { error })
        });
        let expected = (code.to_owned(), "The database is away.".to_owned());
        assert_eq!(failed(&stream), expected);
    }
    let stream = answer(|_| async { panic!("on purpose") });
    assert_eq!(failed(&stream).0, "invalid_prompt");
    let stream = answer(|reply| async move {
        reply.text("Half").await?;
        Err(AgentError::new("Away."))
    });
    assert_eq!(stream, fixture("failed.sse"));
}

#[test]
fn endings_of_an_agents_own() {
    let stream = answer(|reply| async move {
        reply.text("Half").await?;
        Ok(reply.end(Ending::Incomplete("max_output_tokens".into()))?)
    });
    let checked = check(&stream, End::Incomplete);
    assert_eq!(
        checked.response["incomplete_details"]["reason"],
        "max_output_tokens"
    );
    assert_eq!(checked.items[0]["content"][0]["text"], "Half");

    let error = ErrorObject::new("context_length_exceeded", "Too long.");
    let stream = answer(move |reply| {
        let error = error.clone();
        async move { Ok(reply.end(error)?) }
    });
    assert_eq!(failed(&stream).0, "context_length_exceeded");

    let stream = answer(|reply| async move {
        let mut odd = Item::call("", "get_tide", "");
        odd.id = Some("fc_2".into());
        let calls = vec![Item::call("call_1", "get_tide", "{\"a\":1}"), odd];
        Ok(reply.end(Ending::Calls(calls))?)
    });
    let checked = check(&stream, End::Completed);
    assert_eq!(checked.items[0]["call_id"], "call_1");
    assert_eq!(checked.items[1]["id"], "fc_2");
    assert_eq!(checked.items[1]["arguments"], "{}");

    // One that cannot be written keeps the others from being written.
    let stream = answer(|reply| async move {
        let calls = vec![
            Item::call("call_1", "get_tide", "{}"),
            Item::call("", "two", "{}"),
        ];
        let ended = reply.end(Ending::Calls(calls));
        assert!(matches!(ended, Err(SendError::Unsupported(_))));
        Ok(())
    });
    let checked = check(&stream, End::Completed);
    assert_eq!(checked.items.len(), 1);
    assert_eq!(checked.items[0]["type"], "message");
}
