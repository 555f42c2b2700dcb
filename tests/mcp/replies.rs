//! One reply: its progress and its result.

use copilot_wire::mcp::{ContentBlock, ImageContent, ResourceLink};
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Notice, SendError, Status, Table, ToolCall, ToolRun,
    Usage,
};
use copilot_wire::{Reply, Request};
use futures::StreamExt as _;
use serde_json::json;

use crate::support::{
    agent, call, in_virtual_time, json_of, messages, new_call, post, post_new, quiet, read,
    read_until, result, router, seconds, text,
};

async fn everything(
    _: Request<copilot_wire::mcp::Mcp>,
    reply: Reply<copilot_wire::mcp::Mcp>,
) -> Result<(), AgentError> {
    reply.status(Status::new("Reading\nthe table")).await?;
    reply.reasoning("Let me think.").await?;
    reply.text("Up **3 %**.").await?;
    reply
        .cite(Citation::new("Report").url("https://example.com/r"))
        .await?;
    reply
        .tool_run(ToolRun::new("search", &json!({"q": 1}), &json!([]))?)
        .await?;
    reply.table(Table::new("Rows", &json!([{"a": 1}]))?).await?;
    let kind = ChartKind::Bar {
        x: "a".into(),
        y: vec!["b".into()],
    };
    reply
        .chart(Chart::new("Bars", kind, &json!([{"a": 1, "b": 2}]))?)
        .await?;
    reply.error(Notice::new("One source is missing.")).await?;
    reply.usage(Usage::new(1, 2)).await?;
    reply.send(ImageContent::new("AAAA", "image/png")).await?;
    reply
        .send(ResourceLink::new("https://example.com/r", "Report"))
        .await?;
    let unknown = copilot_wire::json::Json::parse(r#"{"type":"hologram"}"#).unwrap();
    let refused = reply.send(ContentBlock::Other(unknown)).await;
    assert!(matches!(refused, Err(SendError::Invalid(_))));
    Ok(())
}

#[test]
fn the_answer_is_one_text_with_everything() {
    in_virtual_time(async {
        let router = router(agent(everything));
        let response = post(&router, &[], &call("hi")).await;
        let headers = response.headers();
        assert_eq!(headers["content-type"], "text/event-stream");
        assert_eq!(headers["x-accel-buffering"], "no");
        let stream = read(response.into_body()).await;
        assert!(
            !stream.contains("id: ") && !stream.contains("null"),
            "{stream}"
        );
        let all = messages(&stream);
        let progress: Vec<_> = all[..all.len() - 1]
            .iter()
            .map(|message| {
                assert_eq!(message["method"], "notifications/progress");
                assert_eq!(message["params"]["progressToken"], 7);
                let params = &message["params"];
                (
                    params["progress"].as_u64().unwrap(),
                    params["message"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(progress, [(0, "Reading"), (1, "Ran search")]);
        let result = result(&stream);
        assert_eq!(result["isError"], json!(null));
        assert_eq!(result["structuredContent"], json!(null));
        let parts = result["content"].as_array().unwrap();
        let kinds: Vec<_> = parts
            .iter()
            .map(|part| part["type"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["text", "image", "resource_link"]);
        let text = parts[0]["text"].as_str().unwrap();
        for part in [
            "Up **3 %**.",
            "| a |",
            "**Bars**",
            "One source is missing",
            "[Report](https://example.com/r)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.starts_with("Up **3 %**."), "{text}");
        assert!(!text.contains("think"), "{text}");
    });
}

#[test]
fn the_new_form_has_the_type_of_its_result() {
    in_virtual_time(async {
        let response = post_new(&quiet(), &[], &new_call("hi")).await;
        let stream = read(response.into_body()).await;
        assert_eq!(
            stream,
            "data: {\"jsonrpc\":\"2.0\",\"id\":\"c1\",\"result\":{\"resultType\":\"complete\",\
             \"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}\n\n"
        );
        let response = post(&quiet(), &[], &call("hi")).await;
        assert_eq!(
            read(response.into_body()).await,
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\
             \"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}\n\n"
        );
    });
}

#[test]
fn a_client_without_streams_gets_the_result_alone() {
    in_virtual_time(async {
        let router = router(agent(everything));
        let headers = [("accept", "application/json")];
        let response = post(&router, &headers, &call("hi")).await;
        assert_eq!(response.headers()["content-type"], "application/json");
        let body = json_of(response).await;
        assert_eq!(body["id"], 1);
        assert!(
            body["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("Up")
        );
        let failing = crate::support::router(agent(|_, reply| async move {
            reply.text("So far").await?;
            Err(AgentError::new("No more."))
        }));
        let response = post(&failing, &headers, &call("hi")).await;
        assert_eq!(response.status(), 200);
        let body = json_of(response).await;
        assert_eq!(body["result"]["isError"], true);
        assert_eq!(text(&body["result"]), "So far\n\nNo more.");
    });
}

#[test]
fn failures_are_results_with_the_text_so_far() {
    in_virtual_time(async {
        let failing = router(agent(|request, reply| async move {
            let question = request.question().unwrap();
            if question != "at once" {
                reply.text("So far.").await?;
            }
            match question.as_str() {
                "panic" => panic!("on purpose"),
                "big" => {
                    for _ in 0..9 {
                        let _ = reply.text("x".repeat(1 << 20)).await;
                    }
                    Ok(())
                }
                "tool" => Ok(reply.call(ToolCall::new("x", &json!({}))?)?),
                _ => Err(AgentError::new("It broke.")),
            }
        }));
        for (question, message) in [
            ("error", "It broke."),
            ("at once", "It broke."),
            (
                "panic",
                "Sorry, something went wrong and the answer is incomplete.",
            ),
            (
                "big",
                "Sorry, something went wrong and the answer is incomplete.",
            ),
            (
                "tool",
                "Sorry, something went wrong and the answer is incomplete.",
            ),
        ] {
            let response = post(&failing, &[], &call(question)).await;
            assert_eq!(response.status(), 200);
            let result = result(&read(response.into_body()).await);
            assert_eq!(result["isError"], true, "{question}");
            assert!(text(&result).ends_with(message), "{question}");
            assert_eq!(text(&result).starts_with("So far."), question != "at once");
        }
    });
}

#[test]
fn a_shutdown_writes_the_result() {
    in_virtual_time(async {
        let router = router(agent(|_, reply| async move {
            reply.text("So far.").await?;
            std::future::pending().await
        }));
        let mut body = post(&router, &[], &call("hi")).await.into_body();
        assert!(futures::poll!(body.next()).is_pending());
        let (stream, ()) = futures::join!(read(body), router.drain(seconds(1)));
        let result = result(&stream);
        assert_eq!(result["isError"], true);
        assert!(text(&result).starts_with("So far."), "{result}");
    });
}

#[test]
fn silence_is_broken_by_progress_that_rises_or_by_comments() {
    in_virtual_time(async {
        let router = router(agent(|_, reply| async move {
            reply.status("Reading").await?;
            seconds(60).await;
            Ok(reply.text("Hi").await?)
        }));
        let stream = read(post(&router, &[], &call("hi")).await.into_body()).await;
        let all = messages(&stream);
        let progress = all
            .iter()
            .filter(|it| it["method"] == "notifications/progress");
        let numbers: Vec<_> = progress
            .map(|it| {
                assert_eq!(it["params"]["message"], "Reading");
                it["params"]["progress"].as_u64().unwrap()
            })
            .collect();
        assert!(numbers.len() >= 5, "{stream}");
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");

        let mut without = call("hi");
        without["params"].as_object_mut().unwrap().remove("_meta");
        let stream = read(post(&router, &[], &without).await.into_body()).await;
        assert!(!stream.contains("progress"), "{stream}");
        assert!(stream.matches(": ping").count() >= 4, "{stream}");
        assert_eq!(text(&result(&stream)), "Hi");
    });
}

#[test]
fn text_is_shown_as_progress_once_a_second() {
    in_virtual_time(async {
        let router = router(agent(|_, reply| async move {
            for number in 0..10_000 {
                reply.text(format!("word {number} é\n")).await?;
                if number % 1000 == 0 {
                    seconds(1).await;
                }
            }
            Ok(())
        }));
        let mut body = post(&router, &[], &call("hi")).await.into_body();
        let begun = read_until(&mut body, "progress").await;
        let stream = begun + &read(body).await;
        let all = messages(&stream);
        let progress = all.len() - 1;
        assert!((5..=11).contains(&progress), "{progress}");
        for message in &all[..progress] {
            let line = message["params"]["message"].as_str().unwrap();
            assert!(line.starts_with("word ") && line.len() < 160, "{line}");
        }
        let text = result(&stream)["content"][0]["text"]
            .as_str()
            .unwrap()
            .len();
        assert!(text > 100_000);
    });
}

#[test]
fn an_answer_without_text_says_so() {
    in_virtual_time(async {
        let router = router(agent(|_, _| async { Ok(()) }));
        let stream = read(post(&router, &[], &call("hi")).await.into_body()).await;
        assert_eq!(text(&result(&stream)), "There is no answer.");
    });
}

#[test]
fn an_answer_is_an_event_that_every_client_reads() {
    // Most of it needs escapes.
    let router = router(agent(|_, reply| async move {
        loop {
            reply.text(&"\"\n\\".repeat(1000)).await?;
        }
    }));
    in_virtual_time(async {
        let stream = read(post(&router, &[], &call("hi")).await.into_body()).await;
        assert_eq!(result(&stream)["isError"], true);
        let longest = stream.split("\n\n").map(str::len).max().unwrap();
        assert!((900 * 1024..1024 * 1024).contains(&longest), "{longest}");
    });
}
