//! The played page: whole conversations on a stage.

use copilot_wire::json::Json;
use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation, Protocol, Status, Table, Tool, ToolCall,
};
use copilot_wire::ui_stream::{Mount, UiStream};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::ui_stream::ChatPage;
use copilot_wire_kit::{Effect, FrontEnd, Next, ToolOutcome};
use http::Method;
use serde_json::json;

use crate::support::{router, send};

/// Looks, asks and calls.
struct Helper;

#[async_trait]
impl<P: Protocol> Agent<P> for Helper {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(answer) = request.decision() {
            let accepted = answer.accepts(&answer.id);
            let text = format!("{} {accepted} {:?}", answer.id, answer.data);
            return Ok(reply.text(&text).await?);
        }
        if let Some(result) = request.results().last() {
            let text = format!("{}: {} {}", result.name, result.content, result.failed);
            return Ok(reply.text(&text).await?);
        }
        match request.prompt().as_deref() {
            Some("where") => Ok(reply.call(ToolCall::new("getLocation", &json!({}))?)?),
            Some("delete") => {
                let question = Confirmation::new("q1", "Delete?", "All of it.");
                Ok(reply.confirm(question.data(Json::encode(&7)?))?)
            }
            _ => {
                reply
                    .status(Status::new("Looking").detail("at", "tides"))
                    .await?;
                reply.text("Hello.").await?;
                reply.table(Table::new("T", &json!([{"a": 1}]))?).await?;
                Ok(())
            }
        }
    }
}

fn mounted() -> Router {
    let mount = Mount::new().approvals(true).markdown(false);
    router(mount.tool(Tool::new("getLocation", "")), Helper)
}

/// Runs one turn and returns the effects on the user, and the next action of the page.
fn turn(page: &mut ChatPage, router: &Router) -> (Vec<Effect>, Next) {
    let body = page.request().into_body();
    let body = std::str::from_utf8(&body).unwrap();
    let reply = send(router, Method::POST, ChatPage::PATH, body).into_body();
    read(page, &reply)
}

fn read(page: &mut ChatPage, reply: &str) -> (Vec<Effect>, Next) {
    let mut input = reply.as_bytes();
    let mut heard = Vec::new();
    while let Some(event) = page.decode(&mut input).unwrap() {
        heard.extend(page.receive(&event));
    }
    (heard, FrontEnd::next(page))
}

#[test]
fn a_page_shows_text_steps_and_tables() {
    let mut page = ChatPage::new();
    page.prompt("hi");
    let (heard, next) = turn(&mut page, &mounted());
    let lines: Vec<String> = heard.iter().map(Effect::to_string).collect();
    assert_eq!(
        lines,
        [
            "status: Looking (at: tides)",
            "text: Hello.",
            r#"table: T [{"a":1}]"#
        ]
    );
    assert_eq!(next, Next::Nothing);
    let kinds: Vec<&str> = page.messages()[1]
        .parts
        .iter()
        .map(|part| &*part.kind)
        .collect();
    // What is transient is kept nowhere.
    assert_eq!(kinds, ["step-start", "text", "data-table"]);
}

#[test]
fn a_page_runs_its_tools() {
    for (answer, expected) in [
        (ToolOutcome::text("Brest"), "getLocation: Brest false"),
        (ToolOutcome::failed("no"), "getLocation: no true"),
    ] {
        let (mut page, router) = (ChatPage::new(), mounted());
        page.prompt("where");
        let (_, next) = turn(&mut page, &router);
        let Next::Calls(calls) = next else {
            panic!("{next:?}")
        };
        assert_eq!(calls[0].name, "getLocation");
        page.answer(vec![answer]);
        let (heard, next) = turn(&mut page, &router);
        assert_eq!(heard, [Effect::Text(expected.into())]);
        assert_eq!(next, Next::Nothing);
        // The message was continued, not doubled.
        assert_eq!(page.messages().len(), 2);
    }
}

#[test]
fn a_page_answers_approval_requests() {
    for accepted in [true, false] {
        let (mut page, router) = (ChatPage::new(), mounted());
        page.prompt("delete");
        let (_, next) = turn(&mut page, &router);
        let Next::Question(asked) = next else {
            panic!("{next:?}")
        };
        assert_eq!(
            (&*asked.id, &*asked.title, &*asked.message),
            ("q1", "Delete?", "All of it.")
        );
        page.decide(&asked, accepted);
        let (heard, next) = turn(&mut page, &router);
        let text = format!("q1 {accepted} Some(Json(Number, 1 bytes))");
        assert_eq!(heard[heard.len() - 1], Effect::Text(text));
        assert_eq!(next, Next::Nothing);
        let state = page.messages()[1].parts[1].state.as_deref();
        assert_eq!(
            state,
            Some(if accepted {
                "output-available"
            } else {
                "output-denied"
            })
        );
    }
}

const START: &str =
    "data: {\"type\":\"start\",\"messageId\":\"m1\"}\n\ndata: {\"type\":\"start-step\"}\n\n";
const END: &str =
    "data: {\"type\":\"finish-step\"}\n\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n";

#[test]
fn a_page_fails_where_the_strictest_version_does() {
    for (chunk, why) in [
        (
            r#"{"type":"text-delta","id":"t1","delta":"x"}"#,
            "a piece of a block that is not open",
        ),
        (
            r#"{"type":"tool-output-available","toolCallId":"c","output":1}"#,
            "a chunk of a tool call that there is none of",
        ),
        (
            r#"{"type":"reset-step"}"#,
            "a chunk that version 5.0.0 does not know",
        ),
    ] {
        let mut page = ChatPage::new();
        page.prompt("hi");
        let (_, next) = read(&mut page, &format!("{START}data: {chunk}\n\n{END}"));
        assert_eq!(next, Next::Broken(why));
    }
    let mut page = ChatPage::new();
    page.prompt("hi");
    let (_, next) = read(&mut page, START);
    assert_eq!(
        next,
        Next::Broken("the stream ended without finish: it looks complete")
    );
    let mut page = ChatPage::new();
    page.prompt("hi");
    let tool = "data: {\"type\":\"tool-input-available\",\"toolCallId\":\"c\",\"toolName\":\"f\",\"input\":1}\n\n\
        data: {\"type\":\"tool-output-available\",\"toolCallId\":\"c\",\"output\":1}\n\n";
    let (_, next) = read(&mut page, &format!("{START}{tool}{END}"));
    assert_eq!(
        next,
        Next::Broken("the last step has finished tools only: the page posts for ever")
    );
}

#[test]
fn a_page_shows_failures() {
    let mut page = ChatPage::new();
    page.prompt("hi");
    let (heard, next) = read(
        &mut page,
        &format!("{START}data: {{\"type\":\"error\",\"errorText\":\"away\"}}\n\n"),
    );
    assert_eq!(heard[0].to_string(), "error: away");
    assert_eq!(next, Next::Nothing);
}

/// The kit's front end goes on from a recorded request.
#[test]
fn the_kit_has_a_page() {
    let kit = copilot_wire_kit::kit::<UiStream>();
    assert_eq!((kit.name, kit.path), ("ui-stream", "/api/chat"));
}
