//! The rules between the chunks of a reply.

use copilot_wire::Router;
use copilot_wire::json::{Json, Members};
use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation as _, Cut, SendError, Tool, ToolCall,
};
use copilot_wire::ui_stream::{
    Data, Ending, Error, MessageMetadata, Mount, ReasoningDelta, SourceUrl, ToolInputAvailable,
    ToolInputDelta, ToolInputStart, ToolOutputAvailable,
};
use http::Method;
use serde_json::json;

use crate::support::{agent, chunks, fixture, hello, kinds, post, router, send};

#[test]
fn a_reply_has_a_step_and_a_new_id() {
    let router = router(Mount::new(), agent(|_, _| async { Ok(()) }));
    let stream = post(&router, &hello());
    assert_eq!(
        kinds(&stream),
        ["start", "start-step", "finish-step", "finish"]
    );
    let other = post(&router, &hello());
    assert_ne!(
        chunks(&stream)[0]["messageId"],
        chunks(&other)[0]["messageId"]
    );
}

/// Pages of assistant-ui send the result of a tool that they ran only after `tool-calls`.
#[test]
fn finish_names_the_reason_unless_the_pages_are_too_old() {
    let tool = || Tool::new("f", "A tool of the page.");
    let run = agent(|request, reply| async move {
        let call = ToolInputAvailable::new("c1", "f", Json::object(|_| {}));
        match &*request.prompt().unwrap_or_default() {
            "calls" => reply.call(ToolCall::new("f", &json!({}))?)?,
            "ending" => return Ok(reply.end(Ending::from(call))?),
            "page" => reply.send(call).await?,
            "server" => reply.send(call.provider_executed()).await?,
            "settled" => {
                reply.send(call.clone()).await?;
                reply.send(call.output(Json::encode(&1).unwrap())).await?;
            }
            "length" => reply.cut(Cut::Length)?,
            "filter" => reply.cut(Cut::Filter)?,
            "other" => reply.cut(Cut::Other)?,
            "question" => {
                let question = Confirmation::new("q1", "Go on?", "Really?");
                reply.confirm(question)?;
            }
            _ => reply.text("Hi").await?,
        }
        Ok(())
    });
    let shown = Router::new()
        .mount(Mount::new().tool(tool()).approvals(true), run)
        .unwrap();
    for (prompt, reason) in [
        ("hello", "stop"),
        ("calls", "tool-calls"),
        ("ending", "tool-calls"),
        ("page", "tool-calls"),
        ("question", "tool-calls"),
        ("server", "stop"),
        ("settled", "stop"),
        ("length", "length"),
        ("filter", "content-filter"),
        ("other", "other"),
    ] {
        let body = json!({"id": "c", "messages": [
            {"id": "u1", "role": "user", "parts": [{"type": "text", "text": prompt}]},
        ]});
        let stream = send(&shown, Method::POST, "/api/chat", &body.to_string()).into_body();
        let chunks = chunks(&stream);
        let finish = chunks.iter().find(|chunk| chunk["type"] == "finish");
        assert_eq!(finish.unwrap()["finishReason"], reason, "{prompt}");
    }
    let old = router(
        Mount::new().finish_reason(false),
        agent(|_, _| async { Ok(()) }),
    );
    assert!(!post(&old, &hello()).contains("finishReason"));
}

/// Pages fail a reply with such a piece.
#[test]
fn a_piece_of_input_needs_an_input_that_is_not_complete() {
    let router = router(
        Mount::new(),
        agent(|_, reply| async move {
            let piece = || {
                let mut piece = ToolInputDelta::default();
                piece.tool_call_id = "c1".into();
                piece.input_text_delta = "{".into();
                piece
            };
            assert!(reply.send(piece()).await.is_err());
            let mut start = ToolInputStart::default();
            start.tool_call_id = "c1".into();
            start.tool_name = "f".into();
            reply.send(start).await?;
            reply.send(piece()).await?;
            let call = ToolInputAvailable::new("c1", "f", Json::object(|_| {}));
            reply.send(call.clone()).await?;
            assert!(reply.send(piece()).await.is_err());
            reply.send(call.output(Json::encode(&1).unwrap())).await?;
            assert!(reply.send(piece()).await.is_err());
            Ok(())
        }),
    );
    let kinds = kinds(&post(&router, &hello()));
    let pieces = kinds.iter().filter(|kind| *kind == "tool-input-delta");
    assert_eq!(pieces.count(), 1);
}

#[test]
fn a_reply_to_a_message_of_the_assistant_continues_it() {
    let router = router(Mount::new(), agent(|_, _| async { Ok(()) }));
    for version in ["5.0.0", "5", "6", "7"] {
        let stream = post(
            &router,
            &fixture(&format!("req-tool-output-{version}.json")),
        );
        assert_eq!(chunks(&stream)[0]["messageId"], "m1");
        assert_eq!(chunks(&stream)[1]["type"], "start-step");
    }
    // One without an id cannot be continued by it.
    let body = r#"{"messages":[{"role":"assistant","parts":[]}]}"#;
    let stream = post(&router, body);
    assert!(
        chunks(&stream)[0]["messageId"]
            .as_str()
            .unwrap()
            .starts_with("msg_")
    );
}

#[test]
fn text_is_one_block_until_something_else_interrupts() {
    let agent = agent(|_, reply| async move {
        reply.text("a").await?;
        reply.status("working").await?;
        reply.text("b").await?;
        reply
            .send(SourceUrl::new("s", "https://example.com/").title("T"))
            .await?;
        reply.text("c").await?;
        let mut reasoning = ReasoningDelta::default();
        reasoning.delta = "hm".into();
        reply.send(reasoning).await?;
        reply.text("d").await?;
        reply.send(Data::new("x", &1)?).await?;
        reply.text("e").await?;
        Ok(())
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    let text = |id: &str| {
        let pieces = chunks(&stream).into_iter();
        let pieces = pieces.filter(|chunk| chunk["type"] == "text-delta" && chunk["id"] == id);
        pieces
            .map(|chunk| chunk["delta"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    assert_eq!([text("t1"), text("t3"), text("t4")], ["abc", "d", "e"]);
    let ends = kinds(&stream)
        .iter()
        .filter(|kind| *kind == "text-end")
        .count();
    assert_eq!(ends, 3);
}

/// The page looks for finished tools in the last step, and posts again while it finds no other.
#[test]
fn a_step_with_the_output_of_a_tool_is_not_the_last() {
    let call = || ToolInputAvailable::new("c1", "search", Json::default());
    let quiet = agent(move |_, reply| async move {
        reply.send(call()).await?;
        reply.send(call().output(Json::default())).await?;
        Ok(())
    });
    let stream = post(&router(Mount::new(), quiet), &hello());
    let expected = [
        "start",
        "start-step",
        "tool-input-available",
        "tool-output-available",
        "finish-step",
        "start-step",
        "text-start",
        "text-end",
        "finish-step",
        "finish",
    ];
    assert_eq!(kinds(&stream), expected);
    let failing = agent(move |_, reply| async move {
        reply.send(call()).await?;
        reply.send(call().failure("away")).await?;
        Err(AgentError::new("away"))
    });
    let stream = post(&router(Mount::new(), failing), &hello());
    let expected = [
        "finish-step",
        "start-step",
        "text-start",
        "text-end",
        "error",
    ];
    assert_eq!(kinds(&stream)[4..], expected);
}

/// A page takes note of a step with its first part, and version 5.0.0 posts again after an error.
#[test]
fn a_step_behind_the_result_of_a_tool_is_never_without_a_part() {
    let back = fixture("req-tool-output-5.0.0.json");
    let expected = ["start", "start-step", "text-start", "text-end"];
    let failing = agent(|_, _| async { Err(AgentError::new("away")) });
    let stream = post(&router(Mount::new(), failing), &back);
    assert_eq!(kinds(&stream), [&expected[..], &["error"]].concat());
    let quiet = agent(|_, reply| async move { Ok(reply.status("working").await?) });
    let stream = post(&router(Mount::new(), quiet), &back);
    assert_eq!(kinds(&stream)[2], "data-status");
    assert_eq!(kinds(&stream)[3..5], expected[2..]);
}

#[test]
fn a_failure_is_told_and_nothing_follows() {
    let agent = agent(|_, reply| async move {
        reply.text("Par").await?;
        Ok(reply.end(Error::new("away"))?)
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    let expected = [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "error",
    ];
    assert_eq!(kinds(&stream), expected);
    assert_eq!(chunks(&stream)[5]["errorText"], "away");
}

#[test]
fn only_tools_that_the_page_has_are_called() {
    let agent = || {
        agent(|_, reply| async move {
            let call = ToolCall::new("getLocation", &json!({}))?;
            match reply.call(call) {
                Err(error @ SendError::Unsupported(_)) => Err(AgentError::new(error.to_string())),
                other => Ok(other?),
            }
        })
    };
    let stream = post(&router(Mount::new(), agent()), &hello());
    assert_eq!(kinds(&stream).last().unwrap(), "error");
    let mount = Mount::new().tool(Tool::new("getLocation", ""));
    let stream = post(&router(mount, agent()), &hello());
    assert_eq!(chunks(&stream)[2]["toolName"], "getLocation");
    assert_eq!(chunks(&stream)[2]["input"], json!({}));
    assert_eq!(chunks(&stream)[2].as_object().unwrap().len(), 4);
}

#[test]
fn several_calls_end_a_turn() {
    let agent = agent(|_, reply| async move {
        let call = |id: &str| ToolInputAvailable::new(id, "f", Json::default());
        Ok(reply.end(Ending::from(vec![call("a"), call("b")]))?)
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    assert_eq!(
        kinds(&stream)[2..4],
        ["tool-input-available", "tool-input-available"]
    );
}

#[test]
fn input_in_pieces_belongs_to_a_call() {
    let agent = agent(|_, reply| async move {
        let mut piece = ToolInputDelta::default();
        piece.tool_call_id = "c1".into();
        piece.input_text_delta = "{}".into();
        assert!(matches!(
            reply.send(piece.clone()).await,
            Err(SendError::Invalid(_))
        ));
        let mut output = ToolOutputAvailable::default();
        output.tool_call_id = "c1".into();
        assert!(matches!(
            reply.send(output.clone()).await,
            Err(SendError::Invalid(_))
        ));
        let mut start = ToolInputStart::default();
        start.tool_call_id = "c1".into();
        start.tool_name = "f".into();
        reply.send(start).await?;
        reply.send(piece).await?;
        reply.send(output).await?;
        Ok(())
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    assert_eq!(
        kinds(&stream)[2..5],
        [
            "tool-input-start",
            "tool-input-delta",
            "tool-output-available"
        ]
    );
}

#[test]
fn what_a_page_would_fail_at_is_not_sent() {
    let agent = agent(|_, reply| async move {
        let mut data = Data::new("x", &1)?;
        data.kind = "text-start".into();
        assert!(matches!(
            reply.send(data.clone()).await,
            Err(SendError::Invalid(_))
        ));
        data.kind = "data-".into();
        assert!(matches!(reply.send(data).await, Err(SendError::Invalid(_))));
        let metadata = MessageMetadata::new(Json::encode(&7)?);
        assert!(matches!(
            reply.send(metadata).await,
            Err(SendError::Invalid(_))
        ));
        // Version 5.0.0 fails at any member that it does not know.
        let mut source = SourceUrl::new("s", "https://example.com/");
        source.unknown = Members::from_iter([("tomorrow", Json::default())]);
        reply.send(source).await?;
        Ok(())
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    assert!(!stream.contains("tomorrow"), "{stream}");
    assert_eq!(kinds(&stream)[2], "source-url");
}

/// The page shows how to answer a question, behind any text.
#[test]
fn a_question_in_text_is_the_last_line() {
    let agent = agent(|_, reply| async move {
        reply.text("```sh\nrm").await?;
        Ok(reply.confirm(Confirmation::new("q1", "Sure?", "Really?"))?)
    });
    let stream = post(&router(Mount::new(), agent), &hello());
    let pieces = chunks(&stream);
    let text: String = pieces
        .iter()
        .filter_map(|chunk| chunk["delta"].as_str())
        .collect();
    let question = text.strip_prefix("```sh\nrm\n\nQuestion: Sure? Really? To agree, reply: yes ");
    assert!(
        question.is_some_and(|end| end[6..].starts_with(". To refuse, reply: no. (q1 cw")),
        "{text}"
    );
}
