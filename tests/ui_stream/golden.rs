//! Streams that are exact to the byte. Clients of every version read them in
//! `tests/interop/ui-stream`.
//!
//! `GOLDEN=write cargo test --features ui_stream --test ui_stream` writes them anew.

use copilot_wire::json::Json;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation as _, Notice, Status, Table,
    Tool, ToolCall, ToolRun, Usage,
};
use copilot_wire::ui_stream::{
    Data, File, MessageMetadata, Mount, ReasoningDelta, ToolInputAvailable, UiStream,
};
use copilot_wire::{Reply, Request};
use serde_json::json;

use crate::support::{agent, fixture, hello, post_but, router};

/// Replaces the code and the proof of a question, which are never the same.
fn settled(stream: &str) -> String {
    let (Some(code), Some(proof)) = (stream.find("reply: yes "), stream.find("(q1 cw")) else {
        return stream.to_owned();
    };
    let (code, proof) = (code + "reply: yes ".len(), proof + "(q1 cw".len());
    let mut settled = stream.to_owned();
    settled.replace_range(proof..proof + 19, &"0".repeat(19));
    settled.replace_range(code..code + 6, "000000");
    settled
}

fn check(name: &str, stream: &str) {
    let stream = &*settled(stream);
    let path = format!(
        "{}/fixtures/ui-stream/{name}.sse",
        env!("CARGO_MANIFEST_DIR")
    );
    if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") {
        std::fs::write(&path, stream).unwrap();
    }
    assert_eq!(stream, fixture(&format!("{name}.sse")), "{name}");
}

fn golden<F, Fut>(name: &str, mount: Mount, request: &str, broken: &[&str], answer: F)
where
    F: Fn(Request<UiStream>, Reply<UiStream>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let router = router(mount, agent(answer));
    check(name, &post_but(&router, request, broken));
}

/// Says everything that does not end a turn.
pub(crate) async fn parts(_: Request<UiStream>, reply: Reply<UiStream>) -> Result<(), AgentError> {
    reply
        .status(Status::new("Looking it up").detail("symbol", "AAPL"))
        .await?;
    reply.status(Status::warning("Slow today")).await?;
    reply.text("Hello").await?;
    let source = Citation::new("Annual report").url("https://example.com/10-k(2024)");
    reply.cite(source).await?;
    reply
        .text(" \u{2028} \"quotes\" \\ é 🦀\r\n\r\ndata: [DONE]\n\n")
        .await?;
    let rows = json!([{"close": 231.3, "date": "2024-10-14"}, {"close": null, "date": "a | b"}]);
    let table = Table::new("Prices", &rows)?.description("The latest two");
    reply.table(table).await?;
    let kind = ChartKind::Line {
        x: "date".into(),
        y: vec!["close".into()],
    };
    reply.chart(Chart::new("Close", kind, &rows)?).await?;
    let kind = ChartKind::Pie {
        angle: "close".into(),
        label: "date".into(),
    };
    reply.chart(Chart::new("Shares", kind, &rows)?).await?;
    reply.error(Notice::new("The news feed is away.")).await?;
    reply.cite(Citation::new("notes.md")).await?;
    reply
        .cite(Citation::new("A trap").url("javascript:alert(1)"))
        .await?;
    reply.reasoning("Was that all?").await?;
    let asked = json!({"q": "news"});
    reply
        .tool_run(ToolRun::new("search", &asked, &json!(["a page"]))?)
        .await?;
    reply
        .tool_run(ToolRun::failed("search", &asked, "no such index")?)
        .await?;
    reply.usage(Usage::new(19, 10).reasoning_tokens(7)).await?;
    reply.text("That is all.").await?;
    Ok(())
}

#[test]
fn every_part() {
    golden("parts", Mount::new(), &hello(), &[], parts);
    let bare = Mount::new().markdown(false);
    golden("parts-without-markdown", bare, &hello(), &[], parts);
}

/// Says what only this protocol has.
async fn native(_: Request<UiStream>, reply: Reply<UiStream>) -> Result<(), AgentError> {
    for piece in ["Let me ", "think."] {
        let mut reasoning = ReasoningDelta::default();
        reasoning.delta = piece.into();
        reply.send(reasoning).await?;
    }
    let input = Json::encode(&json!({"q": "tides"}))?;
    let search = ToolInputAvailable::new("c1", "search", input.clone()).provider_executed();
    let other = ToolInputAvailable::new("c2", "search", input)
        .provider_executed()
        .dynamic();
    reply.send(search.clone()).await?;
    reply.send(other.clone()).await?;
    reply
        .send(search.output(Json::encode(&["a page"])?))
        .await?;
    reply.send(other.failure("no such index")).await?;
    reply.text("Found: ").await?;
    reply
        .send(Data::new("weather", &json!({"sky": "rain"}))?.id("w1"))
        .await?;
    reply.send(Data::new("progress", &7)?.transient()).await?;
    reply
        .send(File::new("data:image/png;base64,iVBORw0KGgo=", "image/png"))
        .await?;
    let metadata = MessageMetadata::new(Json::encode(&json!({"model": "tide-1"}))?);
    reply.send(metadata).await?;
    reply.text("rain.").await?;
    Ok(())
}

#[test]
fn what_only_this_protocol_has() {
    golden("native", Mount::new(), &hello(), &[], native);
}

#[test]
fn a_tool_of_the_page_there_and_back() {
    let tool = || Mount::new().tool(Tool::new("getLocation", "Returns where the user is."));
    golden("call", tool(), &hello(), &[], |_, reply| async move {
        reply.text("One moment.").await?;
        Ok(reply.call(ToolCall::new("getLocation", &json!({"exact": true}))?)?)
    });
    let back = fixture("req-tool-output-7.json");
    golden(
        "call-answered",
        tool(),
        &back,
        &[],
        |request, reply| async move {
            let result = request.results().last().unwrap();
            reply.text(&result.content).await?;
            Ok(())
        },
    );
}

#[test]
fn a_question_in_text_and_as_an_approval_request() {
    let ask = |_: Request<UiStream>, reply: Reply<UiStream>| async move {
        reply.text("Wait.").await?;
        let question = Confirmation::new("q1", "Delete?", "All of it.");
        Ok(reply.confirm(question.data(Json::encode(&json!({"page": 7}))?))?)
    };
    golden("question", Mount::new(), &hello(), &[], ask);
    let approvals = || Mount::new().approvals(true);
    golden("approval", approvals(), &hello(), &["ui/newer"], ask);
    // The call is in the request, and only version 6 knows how to deny it.
    for (answer, broken) in [("yes", &["ui/tool"][..]), ("no", &["ui/tool", "ui/newer"])] {
        let body = fixture(&format!("req-approval-{answer}-7.json"));
        let name = format!("approval-{answer}");
        golden(
            &name,
            approvals(),
            &body,
            broken,
            |request, reply| async move {
                let answer = request.decision().unwrap();
                let text = format!("{} {}", answer.id, answer.accepts(&answer.id));
                Ok(reply.text(&text).await?)
            },
        );
    }
}

#[test]
fn failures() {
    let why = || Err(AgentError::new("The model is away."));
    golden(
        "failed",
        Mount::new(),
        &hello(),
        &[],
        move |_, _| async move { why() },
    );
    golden(
        "failed-late",
        Mount::new(),
        &hello(),
        &[],
        move |_, reply| async move {
            reply.text("Par").await?;
            drop(reply);
            why()
        },
    );
}

#[test]
fn nothing_said() {
    golden("empty", Mount::new(), &hello(), &[], |_, _| async {
        Ok(())
    });
    // A piece of text without text opens no block.
    golden(
        "empty",
        Mount::new(),
        &hello(),
        &[],
        |_, reply| async move {
            reply.text("").await?;
            reply.send(ReasoningDelta::default()).await?;
            Ok(())
        },
    );
}
