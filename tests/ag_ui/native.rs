//! Events that only agents for this protocol send.

use std::sync::{Arc, Mutex};

use copilot_wire::Reply;
use copilot_wire::ag_ui::{
    ActivityDelta, ActivitySnapshot, AgUi, Content, Custom, Ending, Interrupt, Message,
    MessagesSnapshot, Mount, Raw, RunError, RunFinished, RunOutcome, StateDelta, StateSnapshot,
    ToolCall, ToolCallArgs, ToolCallEnd, ToolCallResult, ToolCallStart,
};
use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::protocol::{self, SendError, ToolRun, Usage};
use serde_json::{Value, json};

use crate::support::{agent, ask, post, read, router, stream_of};

fn raw(value: &Value) -> Json {
    Json::encode(value).unwrap()
}

#[test]
fn state_goes_both_ways() {
    let counts = agent(|request, reply| async move {
        let count = request.state.get("count").and_then(|count| count.as_u64());
        reply.text("Counting").await?;
        reply
            .send(StateSnapshot::new(&json!({"count": count, "list": []}))?)
            .await?;
        let patch = json!([
            {"op": "replace", "path": "/count", "value": 2},
            {"op": "add", "path": "/list/-", "value": null},
            {"op": "copy", "from": "/count", "path": "/a~1b~0c"},
            {"op": "move", "from": "/list/0", "path": "/first"},
            {"op": "test", "path": "/count", "value": 2},
            {"op": "remove", "path": "/first"},
        ]);
        reply.send(StateDelta::new(&patch)?).await?;
        reply.text(" on.").await?;
        Ok(())
    });
    let (_, stream) = post(&router(Mount::new(), counts), &ask("Hi"));
    let answer = read(&stream);
    assert_eq!(
        answer.one("STATE_SNAPSHOT")["snapshot"],
        json!({"count": 1, "list": []})
    );
    assert_eq!(
        answer.one("STATE_DELTA")["delta"].as_array().unwrap().len(),
        6
    );
    // State is not part of the text, which goes on.
    assert_eq!(answer.texts(), ["Counting on."]);
}

/// Sends an event that is not valid, and expects that nothing of it is written and the run goes on.
fn refused(event: impl Into<copilot_wire::ag_ui::Output>) -> String {
    let event = event.into();
    let told = Arc::new(Mutex::new(String::new()));
    let answer = read(&stream_of({
        let told = Arc::clone(&told);
        move |reply| {
            let (event, told) = (event.clone(), Arc::clone(&told));
            async move {
                reply.text("A").await?;
                let error = reply.send(event).await.unwrap_err();
                *told.lock().unwrap() = error.to_string();
                reply.text("B").await?;
                Ok(())
            }
        }
    }));
    assert_eq!(answer.texts(), ["AB"]);
    assert_eq!(answer.types().len(), 6);
    told.lock().unwrap().clone()
}

#[test]
fn what_clients_fail_at_is_refused() {
    for operation in [
        json!(7),
        json!([7]),
        json!([{"op": "add", "path": "a", "value": 1}]),
        json!([{"op": "add", "path": "/a~2", "value": 1}]),
        json!([{"op": "add", "path": "/a"}]),
        json!([{"op": "move", "path": "/a"}]),
        json!([{"op": "remove"}]),
        json!([{"op": "merge", "path": "/a"}]),
    ] {
        let error = refused(StateDelta::new(&operation).unwrap());
        assert!(error.contains("JSON Patch"), "{operation}: {error}");
        refused(ActivityDelta::new("a1", "table", &operation).unwrap());
    }
    refused(ActivitySnapshot::new("a1", "table", &json!([1])).unwrap());
    refused(MessagesSnapshot::new([Message::new("m", "oracle")]));
    refused(ToolCallArgs::new("c1", "{}"));
    refused(ToolCallEnd::new("c1"));
    refused(ToolCallResult::new("m1", "c1", "done"));
    let error = refused(Custom::new("big", &"x".repeat(10_000_000)).unwrap());
    assert!(error.contains("10000000"), "{error}");
}

#[test]
fn an_event_may_have_almost_ten_million_bytes() {
    let stream = stream_of(|reply| async move {
        let large = "x".repeat(9_900_000);
        reply.send(Custom::new("large", &large)?).await?;
        Ok(())
    });
    assert!(stream.lines().any(|line| line.len() > 9_900_000));
}

#[test]
fn long_texts_are_sent_in_pieces() {
    fn long() -> String {
        "é".repeat(1_500_000)
    }
    for times in [1, 2, 3] {
        let stream = stream_of(move |reply| async move {
            for _ in 0..times {
                reply.text(long()).await?;
            }
            reply.reasoning(long()).await?;
            Ok(())
        });
        assert!(stream.lines().all(|line| line.len() < 1_100_000));
        assert!(read(&stream).texts() == [long().repeat(times)]);
    }
}

#[test]
fn calls_and_results_are_measured_as_they_are_sent() {
    fn largest<F, Fut>(answer: F) -> usize
    where
        F: Fn(Reply<AgUi>, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), SendError>> + Send + 'static,
    {
        // Each quote has a backslash in JSON, and an event escapes both once more: 12 million bytes.
        let quotes = json!(["\"".repeat(3_000_000)]);
        let stream = stream_of(move |reply| {
            let sent = answer(reply, quotes.clone());
            async move {
                assert!(matches!(sent.await, Err(SendError::Invalid(_))));
                Ok(())
            }
        });
        stream.lines().map(str::len).max().unwrap()
    }
    let sizes = [
        largest(|reply, large| async move {
            let run = ToolRun::new("search", &large, &json!(1)).unwrap();
            reply.tool_run(run).await
        }),
        largest(|reply, large| async move {
            let run = ToolRun::new("search", &json!({}), &large).unwrap();
            reply.tool_run(run).await
        }),
        largest(|reply, _| async move {
            let message = "\u{1}".repeat(2_000_000);
            let run = ToolRun::failed("search", &json!({}), message).unwrap();
            reply.tool_run(run).await
        }),
        largest(|reply, large| async move {
            let large = json!({"port": large});
            reply.call(protocol::ToolCall::new("get_tide", &large).unwrap())
        }),
        largest(|reply, large| async move {
            reply.end(ToolCall::new("c1", "anything", large.to_string()))
        }),
    ];
    assert!(sizes.iter().all(|size| *size < 1000), "{sizes:?}");
}

#[test]
fn an_activity_changes() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Look:").await?;
        reply
            .send(ActivitySnapshot::new("a1", "plan", &json!({"steps": [1]}))?)
            .await?;
        let patch = json!([{"op": "add", "path": "/steps/-", "value": 2}]);
        reply
            .send(ActivityDelta::new("a1", "plan", &patch)?)
            .await?;
        reply.text("There.").await?;
        Ok(())
    }));
    assert_eq!(
        answer.one("ACTIVITY_SNAPSHOT")["content"],
        json!({"steps": [1]})
    );
    assert_eq!(answer.one("ACTIVITY_DELTA")["activityType"], "plan");
    assert_eq!(answer.texts(), ["Look:", "There."]);
}

#[test]
fn custom_and_raw_events_pass() {
    let answer = read(&stream_of(|reply| async move {
        let mut custom = Custom::new("progress", &json!({"done": null}))?;
        custom.metadata = Some(Members::from_iter([("a", raw(&json!(1)))]));
        custom.unknown.push("rawEvent", Json::default());
        reply.send(custom).await?;
        // Metadata is an object, or clients fail.
        let event = r#"{"type":"RAW","event":{"kind":"x"},"metadata":"x"}"#;
        reply.send(Raw::from_json(event)?).await?;
        Ok(())
    }));
    let custom = json!({"type": "CUSTOM", "name": "progress", "value": {"done": null}, "metadata": {"a": 1}});
    assert_eq!(answer.one("CUSTOM"), &custom);
    assert_eq!(
        answer.one("RAW"),
        &json!({"type": "RAW", "event": {"kind": "x"}})
    );
}

#[test]
fn a_conversation_is_replaced() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Old").await?;
        let messages = [
            Message::user("u", "Hi"),
            Message::new("m", "assistant").content("Hello"),
        ];
        reply.send(MessagesSnapshot::new(messages)).await?;
        Ok(())
    }));
    let messages = json!([
        {"id": "u", "role": "user", "content": "Hi"},
        {"id": "m", "role": "assistant", "content": "Hello"},
    ]);
    assert_eq!(answer.one("MESSAGES_SNAPSHOT")["messages"], messages);
}

#[test]
fn a_tool_of_the_agent_is_called_piece_by_piece() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Looking").await?;
        reply.send(ToolCallStart::new("c1", "search")).await?;
        reply.send(ToolCallArgs::new("c1", "{\"q\":")).await?;
        let twice = reply.send(ToolCallStart::new("c1", "search")).await;
        assert!(matches!(twice, Err(SendError::Invalid(_))));
        let early = reply.send(ToolCallResult::new("t1", "c1", "x")).await;
        assert!(matches!(early, Err(SendError::Invalid(_))));
        reply.send(ToolCallArgs::new("c1", "\"x\"}")).await?;
        reply.send(ToolCallEnd::new("c1")).await?;
        let late = reply.send(ToolCallArgs::new("c1", "{}")).await;
        assert!(matches!(late, Err(SendError::Invalid(_))));
        reply.send(ToolCallResult::new("t1", "c1", "found")).await?;
        // One that never ends is ended with the run.
        reply.send(ToolCallStart::new("c2", "search")).await?;
        Ok(())
    }));
    let starts = answer.all("TOOL_CALL_START");
    assert_eq!(
        starts[0]["parentMessageId"],
        answer.one("TEXT_MESSAGE_START")["messageId"]
    );
    assert_ne!(starts[0]["parentMessageId"], starts[1]["parentMessageId"]);
    assert_eq!(answer.all("TOOL_CALL_END")[1]["toolCallId"], "c2");
    assert_eq!(answer.one("TOOL_CALL_RESULT")["content"], "found");
}

#[test]
fn a_turn_ends_with_calls_interrupts_results_and_errors() {
    let end = |ending: fn() -> Ending| {
        read(&stream_of(move |reply| async move {
            reply.usage(Usage::new(1, 2)).await?;
            reply.text("So:").await?;
            Ok(reply.end(ending())?)
        }))
    };
    let answer = end(|| ToolCall::new("c1", "anything", "{}").into());
    assert_eq!(answer.one("TOOL_CALL_START")["toolCallName"], "anything");
    let answer = end(|| {
        let interrupt = Interrupt::new("q1", "choice").message("Which?");
        let schema = raw(&json!({"type": "object"}));
        interrupt.response_schema(schema).into()
    });
    let interrupts = json!([
        {"id": "q1", "reason": "choice", "message": "Which?", "responseSchema": {"type": "object"}},
    ]);
    let finished = answer.one("RUN_FINISHED");
    assert_eq!(
        finished["outcome"],
        json!({"type": "interrupt", "interrupts": interrupts})
    );
    assert_eq!(
        (&finished["threadId"], &finished["runId"]),
        (&json!("th1"), &json!("r1"))
    );
    assert_eq!(finished["usage"][0]["inputTokens"], 1);
    let answer = end(|| {
        let mut finished = RunFinished::default();
        finished.result = raw(&json!({"score": 1}));
        finished.into()
    });
    assert_eq!(answer.one("RUN_FINISHED")["result"], json!({"score": 1}));
    let answer = end(|| RunError::new("Away.").code("away").into());
    assert_eq!(answer.one("RUN_ERROR")["code"], "away");
    assert!(answer.all("RUN_FINISHED").is_empty());
}

#[test]
fn outcomes_that_older_clients_fail_at_are_not_written() {
    let outcome = |text: &'static str| {
        read(&stream_of(move |reply| async move {
            let mut end = RunFinished::default();
            end.outcome = Some(RunOutcome::from_json(text)?);
            Ok(reply.end(end)?)
        }))
    };
    let answer = outcome(r#"{"type":"success","pendingToolCallIds":["c1"]}"#);
    assert!(answer.one("RUN_FINISHED").get("outcome").is_none());
    for refused in [
        r#"{"type":"cancelled"}"#,
        r#"{"type":"interrupt","interrupts":[]}"#,
        r#"{"type":"interrupt","interrupts":[{"id":"q","reason":"r","metadata":[]}]}"#,
    ] {
        assert_eq!(
            outcome(refused).types(),
            ["RUN_STARTED", "RUN_ERROR"],
            "{refused}"
        );
    }
    let answer = outcome(
        r#"{"type":"interrupt","pendingToolCallIds":[],"interrupts":[{"id":"q","reason":"r"}]}"#,
    );
    let interrupts = json!({"type": "interrupt", "interrupts": [{"id": "q", "reason": "r"}]});
    assert_eq!(answer.one("RUN_FINISHED")["outcome"], interrupts);
}

#[test]
fn contents_say_what_they_are() {
    assert_eq!(Content::from("Hi").text(), "Hi");
    assert_eq!(format!("{:?}", Content::from("Hi")), "Text(2 bytes)");
}
