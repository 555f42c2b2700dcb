//! Events beyond the shared vocabulary, which only agents for this protocol send.

use bytes::Bytes;
use copilot_wire::Reply;
use copilot_wire::anthropic::{
    Anthropic, ContentBlock, Delta, Ending, ErrorObject, Message, Output, Relay, StopReason,
    TextBlock, ThinkingBlock, ToolUseBlock, Usage,
};
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::models::RelayError;
use copilot_wire::protocol::{AgentError, Confirmation, Env, Protocol as _, SendError, ToolCall};
use serde_json::{Value, json};

use crate::strict::{Read, read};
use crate::support::{agent, ask, post, router, stream_of};

fn said<F, Fut>(answer: F) -> Read
where
    F: Fn(Reply<Anthropic>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    read(&stream_of(answer))
}

fn call(id: &str, n: u64) -> ToolUseBlock {
    ToolUseBlock::new(id, "get_tide", &json!({"n": n})).unwrap()
}

#[test]
fn several_calls_are_several_blocks() {
    let answer = said(|reply| async move {
        let calls = vec![
            call("toolu_A", 1),
            call("of another server!", 2),
            call("", 3),
        ];
        reply.end(calls)?;
        // Too late to be told.
        Err(AgentError::new("late"))
    });
    assert_eq!(answer.kinds(), ["tool_use"; 3]);
    let inputs: Vec<_> = answer.blocks.iter().map(|block| &*block.text).collect();
    assert_eq!(inputs, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
    let ids: Vec<_> = answer
        .blocks
        .iter()
        .map(|block| block.start["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids[0], "toolu_A");
    assert!(ids[1].starts_with("toolu_2a") && ids[2].starts_with("toolu_2a"));
    assert_eq!(answer.stop_reason.as_deref(), Some("tool_use"));
}

#[test]
fn an_ending_has_its_reason() {
    for (reason, name) in [
        (StopReason::MaxTokens, "max_tokens"),
        (StopReason::Refusal, "refusal"),
        (StopReason::Other("tomorrow".into()), "tomorrow"),
        // There is no call.
        (StopReason::ToolUse, "end_turn"),
    ] {
        let answer = said(move |reply| {
            let reason = reason.clone();
            async move {
                reply.text("So far").await?;
                Ok(reply.end(reason)?)
            }
        });
        assert_eq!(answer.stop_reason.as_deref(), Some(name));
    }
    let answer =
        said(|reply| async move { Ok(reply.end(ErrorObject::new("api_error", "Away."))?) });
    assert_eq!(
        answer.error.unwrap(),
        json!({"type": "api_error", "message": "Away."})
    );
}

#[test]
fn token_counts_are_written_at_the_end() {
    let answer = said(|reply| async move {
        reply.send(Usage::new(19, 1)).await?;
        reply.text("Hi").await?;
        let mut usage = Usage::default();
        usage.output_tokens = 10;
        reply.send(usage).await?;
        Ok(())
    });
    assert_eq!(
        answer.usage,
        json!({"input_tokens": 19, "output_tokens": 10})
    );
    let answer = said(|reply| async move { Ok(reply.text("Hi").await?) });
    assert_eq!(answer.usage, json!({"output_tokens": 0}));
}

#[test]
fn blocks_keep_the_rules_whatever_is_sent() {
    let answer = said(|reply| async move {
        reply
            .send(Output::Start(ThinkingBlock::default().into()))
            .await?;
        reply.send(Delta::Thinking("Hm.".into())).await?;
        for signature in ["", "theirs", "again"] {
            reply.send(Delta::Signature(signature.into())).await?;
        }
        reply.send(Output::Stop).await?;
        // A second one without a signature of its own.
        reply
            .send(Output::Start(ThinkingBlock::new("More.", "").into()))
            .await?;
        reply
            .send(Output::Start(TextBlock::default().into()))
            .await?;
        reply.send(Delta::Text("One ".into())).await?;
        reply.send(Output::Stop).await?;
        reply
            .send(Output::Start(ThinkingBlock::default().into()))
            .await?;
        reply.send(Delta::Thinking("Hm.".into())).await?;
        reply.send(Output::Stop).await?;
        // A call is held back, in pieces.
        reply
            .send(Output::Start(
                ToolUseBlock::new("toolu_A", "get_tide", &json!({}))?.into(),
            ))
            .await?;
        reply.send(Delta::InputJson("{\"n\"".into())).await?;
        reply.send(Delta::InputJson(":1}".into())).await?;
        reply.send(Output::Stop).await?;
        reply
            .send(Output::Start(TextBlock::new("text").into()))
            .await?;
        reply.send(Delta::Text(".".into())).await?;
        let citation = json!({"type": "web_search_result_location", "url": "u", "title": "t", "cited_text": "c", "encrypted_index": ""});
        reply
            .send(Delta::Citation(Json::encode(&citation)?))
            .await?;
        Ok(())
    });
    let kinds = [
        "thinking", "thinking", "text", "thinking", "text", "tool_use",
    ];
    assert_eq!(answer.kinds(), kinds);
    assert_eq!(answer.blocks[0].signature, "theirs");
    assert_eq!(answer.blocks[1].text, "More.");
    assert_eq!(answer.text(), "One text.");
    assert_eq!(answer.blocks[4].citations.len(), 1);
    assert_eq!(answer.blocks[5].text, r#"{"n":1}"#);
    assert_eq!(answer.stop_reason.as_deref(), Some("tool_use"));
}

#[test]
fn a_whole_thinking_block_keeps_its_signature() {
    let answer = said(|reply| async move {
        let block = ThinkingBlock::new("Hm.", "theirs");
        reply.send(Output::Start(block.into())).await?;
        reply.send(Output::Stop).await?;
        Ok(reply.text("Yes.").await?)
    });
    assert_eq!(answer.kinds(), ["thinking", "text"]);
    assert_eq!(answer.blocks[0].text, "Hm.");
    assert_eq!(answer.blocks[0].signature, "theirs");
}

#[test]
fn a_call_in_an_answer_that_fails_is_not_made() {
    let answer = said(|reply| async move {
        reply.send(Output::Start(call("toolu_A", 1).into())).await?;
        reply.send(Output::Stop).await?;
        reply.send(Output::Start(call("toolu_B", 1).into())).await?;
        Err(AgentError::new("Away."))
    });
    assert_eq!(answer.kinds(), ["text"]);
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    let answer = said(|reply| async move {
        reply.send(Output::Start(call("toolu_A", 1).into())).await?;
        reply.send(Delta::InputJson("{\"n\":".into())).await?;
        match reply.send(Output::Stop).await {
            Err(SendError::Invalid(_)) => Ok(reply.text("It is not complete.").await?),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(answer.kinds(), ["text"]);
    let answer = said(|reply| async move {
        let calls = vec![
            call("toolu_A", 1),
            ToolUseBlock::new("toolu_B", "get_tide", &[1])?,
        ];
        assert!(matches!(reply.end(calls), Err(SendError::Invalid(_))));
        Ok(())
    });
    assert_eq!(answer.kinds(), ["text"]);
    // Also where nothing says that they are complete.
    let answer = said(|reply| async move {
        reply.text("A call: ").await?;
        reply.send(Output::Start(call("toolu_A", 1).into())).await?;
        Ok(reply.send(Delta::InputJson("[".into())).await?)
    });
    assert!(answer.error.is_some());
}

#[test]
fn no_call_is_made_behind_one_that_is_not_valid() {
    for is_shared in [true, false] {
        let answer = said(move |reply| async move {
            reply.send(Output::Start(call("toolu_A", 1).into())).await?;
            reply.send(Delta::InputJson("[".into())).await?;
            match is_shared {
                true => reply.call(ToolCall::new("get_tide", &json!({}))?)?,
                false => reply.end(call("toolu_B", 1))?,
            }
            Ok(())
        });
        assert!(answer.error.is_some());
        assert_eq!(answer.kinds(), ["text"]);
    }
}

#[test]
fn blocks_are_passed_on_in_their_order() {
    let answer = said(|reply| async move {
        let block =
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
        let block = || ContentBlock::from_json(block.to_string());
        reply.send(Output::Start(block()?)).await?;
        reply.send(Delta::InputJson("{}".into())).await?;
        reply.send(Output::Stop).await?;
        reply.text("Found.").await?;
        reply.send(Output::Start(block()?)).await?;
        reply.send(Delta::InputJson("{}".into())).await?;
        reply.send(Output::Stop).await?;
        for text in ["One.", "Two."] {
            reply.send(Output::Start(ContentBlock::text(text))).await?;
            reply.send(Output::Stop).await?;
        }
        // Reasoning without a text, which has only a signature.
        reply
            .send(Output::Start(ThinkingBlock::new("", "s").into()))
            .await?;
        Ok(reply.send(Output::Stop).await?)
    });
    let tool = "server_tool_use";
    assert_eq!(
        answer.kinds(),
        [tool, "text", tool, "text", "text", "thinking"]
    );
    assert_eq!(answer.blocks[5].signature, "s");
}

#[test]
fn a_question_comes_behind_a_block_that_is_open() {
    let answer = said(|reply| async move {
        let block = ContentBlock::text("```sh\nrm x");
        reply.send(Output::Start(block)).await?;
        Ok(reply.confirm(Confirmation::new("1", "Go on?", "Really?"))?)
    });
    let text = answer.text();
    assert!(
        text.starts_with("```sh\nrm x\n\nQuestion: Go on? Really?"),
        "{text}"
    );
}

#[test]
fn calls_have_a_limit() {
    let answer = said(|reply| async move {
        let large = json!({"x": "x".repeat(9 << 20)});
        let call = || ToolUseBlock::new("a", "get_tide", &large);
        reply.send(Output::Start(call()?.into())).await?;
        reply.send(Output::Stop).await?;
        match reply.end(Ending::from(call()?)) {
            Err(SendError::Invalid(message)) => Err(AgentError::new(message)),
            other => panic!("{other:?}"),
        }
    });
    let message = answer.error.unwrap()["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(message, "the calls are larger than 16777216 bytes");
}

#[test]
fn of_several_calls_all_are_made_or_none() {
    let answer = said(|reply| async move {
        let large = json!({"x": "x".repeat(9 << 20)});
        let calls = [
            ToolCall::new("get_tide", &large)?,
            ToolCall::new("get_wind", &large)?,
        ];
        assert!(matches!(reply.calls(&calls), Err(SendError::Invalid(_))));
        Ok(())
    });
    assert_eq!(answer.kinds(), ["text"]);
}

const UPSTREAM: &str = include_str!("../../fixtures/anthropic/call.sse");

async fn relay(upstream: &str, reply: Reply<Anthropic>) -> Result<(), RelayError> {
    let mut relay = Relay::new();
    for piece in upstream.as_bytes().chunks(7) {
        relay.pass(piece, &reply).await?;
    }
    relay.end(reply)
}

#[test]
fn a_relayed_answer_is_one_of_our_own() {
    let answer = said(|reply| async move { Ok(relay(UPSTREAM, reply).await?) });
    assert_eq!(answer.kinds(), ["text", "tool_use"]);
    assert_eq!(answer.text(), "One moment.");
    assert_eq!(answer.stop_reason.as_deref(), Some("tool_use"));
}

#[test]
fn an_upstream_that_fails_or_breaks_off_fails_the_answer() {
    let (half, _) = UPSTREAM.split_at(UPSTREAM.len() - 60);
    let failed = include_str!("../../fixtures/anthropic/fails.sse");
    for (upstream, cut) in [(half, true), (failed, false)] {
        let answer = said(move |reply| async move {
            match relay(upstream, reply).await {
                Err(RelayError::Truncated) => assert!(cut),
                Err(RelayError::Upstream(error)) => {
                    assert!(!cut && error.message == "The model is away.");
                }
                other => panic!("{other:?}"),
            }
            Err(AgentError::new("Upstream."))
        });
        assert_eq!(answer.error.unwrap()["message"], "Upstream.");
    }
}

#[test]
fn a_relay_speaks_the_shared_vocabulary_too() {
    let answer = said(|reply| async move {
        let mut relay = Relay::new();
        relay.pass(UPSTREAM.as_bytes(), &reply).await?;
        Ok(relay.end(reply)?)
    });
    assert_eq!(answer.kinds(), ["text", "tool_use"]);
    assert_eq!(answer.text(), "One moment.");
    let words = include_str!("../../fixtures/anthropic/words.sse");
    let words = words.replace(r#""input_tokens":0"#, r#""input_tokens":7"#);
    let answer = said(move |reply| {
        let words = words.clone();
        async move {
            let mut relay = Relay::new();
            relay.pass(words.as_bytes(), &reply).await?;
            Ok(relay.end(reply)?)
        }
    });
    assert_eq!(answer.kinds(), ["thinking", "text"]);
    assert_eq!(answer.blocks[0].text, "Looking it up\n");
    assert_eq!(answer.usage["input_tokens"], 7);
}

#[test]
fn native_events_are_in_a_whole_answer_too() {
    let native = agent(|_, reply: Reply<Anthropic>| async move {
        let mut relay = Relay::new();
        relay.pass(UPSTREAM.as_bytes(), &reply).await?;
        reply.send(Usage::new(3, 4)).await?;
        Ok(relay.end(reply)?)
    });
    let mut body = ask("Hi");
    body["stream"] = Value::Null;
    let (_, text) = post(&router(native), &body);
    let message = Message::from_json(text).unwrap();
    assert_eq!(message.text(), "One moment.");
    assert_eq!(
        message.calls().next().unwrap().input.text(),
        r#"{"port":"Brest"}"#
    );
    assert_eq!(message.usage, Usage::new(3, 4));
}

/// Calls wait for the end of the answer, so all that waits is counted, and nothing else is kept.
#[test]
fn buffered_calls_are_limited_with_all_their_members() {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = Anthropic::read(&parts, ask("Hi").to_string().into()).unwrap();
    let mut session = Anthropic::session(&request, &(), &Env::default());
    let mut out = Vec::new();
    session.open(&mut out);
    let padding = "x".repeat(1 << 10);
    let event = Bytes::from(format!(
        r#"{{"caller":"{}","padding":"{padding}"}}"#,
        "x".repeat(1 << 20)
    ));
    let mut call = call("", 1);
    let member = Json::parse(event.clone()).unwrap().get("caller").unwrap();
    call.unknown.push("caller", member);
    let mut take = |start: &Output| {
        session.output(start, &mut out)?;
        session.output(&Output::Stop, &mut out)
    };
    let start = Output::Start(call.into());
    take(&start).unwrap();
    assert_eq!((1..20).take_while(|_| take(&start).is_ok()).count(), 14);
    drop(start);
    assert!(event.is_unique(), "a call has a slice of its event");
}
