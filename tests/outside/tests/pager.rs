//! A protocol of another crate can do what one of the library can.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    missing_docs
)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::openbb::{Descriptor, OpenBb};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Env, EventDecoder, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait, protocols};
use copilot_wire_kit::check::{Target, check, recorded};
use copilot_wire_kit::{Clock, Harness, kit};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::Response;
use outside_protocol::{Event, Output, PLAYGROUND, Pager, PagerScreen, Screen};

/// The bodies of the fuzz targets.
#[path = "../../../fuzz/src/input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../../../fuzz/src/protocols.rs"]
#[allow(dead_code)]
mod properties;
mod support;

use support::mutations;

/// Answers every front end, and waits a minute before the second part.
struct Slow(Clock);

#[async_trait]
impl<P: Protocol> Agent<P> for Slow {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        reply.text("You said ").await?;
        reply.text(&prompt).await?;
        reply.status("Thinking").await?;
        self.0.sleep(Duration::from_secs(60)).await;
        reply.text("Well.").await?;
        match &*prompt {
            "fail" => Err(AgentError::new("gave up")),
            _ => Ok(()),
        }
    }
}

/// The same without the wait.
struct Quick;

#[async_trait]
impl<P: Protocol> Agent<P> for Quick {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
    }
}

fn router() -> Router {
    let scripts = protocols::scripts().into_iter().chain([PLAYGROUND]);
    let router = Router::new().playground_with(scripts).unwrap();
    let descriptor = Descriptor::new("quick", "Quick", "Repeats");
    let router = router.mount(descriptor, Quick).unwrap();
    router.mount(Screen("/pager"), Quick).unwrap()
}

fn ask(
    router: &Router,
    request: http::request::Builder,
    body: impl Into<Bytes>,
) -> Response<String> {
    let chunks = stream::iter([Ok::<_, std::io::Error>(body.into())]);
    let request = request.header("content-type", "application/json");
    let response = block_on(router.handle(request.body(chunks).unwrap()));
    let (head, body) = response.into_parts();
    Response::from_parts(head, text(body))
}

fn text(body: Body) -> String {
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap().to_vec()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

const HI: &str = r#"{"lines":[{"by":"user","text":"hi"}]}"#;

#[test]
fn it_is_mounted_beside_another_protocol() {
    let router = router();
    let reply = ask(&router, http::Request::post("/pager"), HI);
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    assert_eq!(reply.headers()["x-pager"], "1");
    let expected = "event: start\ndata: {\"type\":\"start\",\"block\":1}\n\n\
                    event: delta\ndata: {\"type\":\"delta\",\"block\":1,\"text\":\"hi\"}\n\n\
                    event: end\ndata: {\"type\":\"end\",\"block\":1}\n\n\
                    event: done\ndata: {\"type\":\"done\"}\n\n";
    assert_eq!(reply.body(), expected);
    let human = r#"{"messages":[{"role":"human","content":"hi"}]}"#;
    let reply = ask(&router, http::Request::post("/v1/query"), human);
    assert!(reply.body().contains("copilotMessageChunk"));
    assert!(!reply.headers().contains_key("x-pager"));
}

/// A note of the agent's own closes the block.
#[test]
fn an_agent_of_this_protocol_sends_notes() {
    let agent = async |_: Request<Pager>, reply: Reply<Pager>| {
        reply.text("hi").await?;
        Ok(reply.send(Output::Note("n".into())).await?)
    };
    let router = Router::new().mount_fn(Screen("/pager"), agent).unwrap();
    let reply = ask(&router, http::Request::post("/pager"), HI);
    let end = "event: end\ndata: {\"type\":\"end\",\"block\":1}\n\n\
               event: note\ndata: {\"type\":\"note\",\"text\":\"n\"}\n\n\
               event: done\ndata: {\"type\":\"done\"}\n\n";
    assert!(reply.body().ends_with(end), "{}", reply.body());
}

#[test]
fn it_refuses_in_plain_text() {
    let reply = ask(&router(), http::Request::post("/pager"), "{");
    assert_eq!(reply.status(), 400);
    assert_eq!(reply.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(reply.body(), "the body ends where `,` or `}` is expected");
}

#[test]
fn it_is_staged_with_blocks_and_beats() {
    let clock = Clock::new();
    let mut harness = Harness::new(PagerScreen::default(), Slow(clock.clone())).clock(&clock);
    let turn = block_on(harness.prompt("hi")).unwrap();
    let events = turn.events().iter().map(|(_, event)| event.clone());
    let is_beat = |event: &Event| *event == Event::Beat;
    let (beats, others): (Vec<_>, Vec<_>) = events.partition(is_beat);
    assert!(beats.len() > 1, "{beats:?}");
    let delta = |block, text: &str| Event::Delta {
        block,
        text: text.to_owned(),
    };
    let expected = [
        Event::Start(1),
        delta(1, "You said "),
        delta(1, "hi"),
        Event::End(1),
        Event::Note("Thinking".to_owned()),
        Event::Start(2),
        delta(2, "Well."),
        Event::End(2),
        Event::Done,
    ];
    assert_eq!(others, expected);
    let shown = "text: You said hi\nstatus: Thinking\ntext: Well.\n";
    assert_eq!(turn.to_string(), shown);

    let turn = block_on(harness.prompt("fail")).unwrap();
    assert!(turn.to_string().contains("error: gave up"), "{turn}");
}

#[test]
fn a_question_in_text_is_answered() {
    struct Careful;
    #[async_trait]
    impl<P: Protocol> Agent<P> for Careful {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            let question = Confirmation::new("42", "Delete it?", "For ever.");
            match request.decision() {
                Some(answer) if answer.accepts("42") => Ok(reply.text("Deleted.").await?),
                Some(answer) if answer.verdict.reason().is_some() => {
                    Ok(reply.ask_again(answer.verdict, question).await?)
                }
                _ => Ok(reply.confirm(question)?),
            }
        }
    }
    let mut harness = Harness::new(PagerScreen::default(), Careful);
    let turn = block_on(harness.prompt("delete")).unwrap();
    assert!(turn.question().is_some(), "{turn}");
    assert!(turn.text().contains("For ever."), "{turn}");
    let turn = block_on(harness.prompt("yes")).unwrap();
    assert!(
        turn.text()
            .starts_with("Your answer does not have the code"),
        "{turn}"
    );
    let turn = block_on(harness.decide(true)).unwrap();
    assert_eq!(turn.text(), "Deleted.");
}

#[test]
fn it_is_checked_by_a_rule_of_its_own() {
    let report = block_on(check(&router(), Target::new(kit::<Pager>())));
    assert!(report.is_clean(), "{report}");
    assert!(report.passed.contains(&"pager/open-block"), "{report}");
    assert!(report.passed.contains(&"http/bad-json"), "{report}");

    let open = b"event: start\ndata: {\"type\":\"start\",\"block\":1}\n\nevent: done\ndata: {\"type\":\"done\"}\n\n";
    let report = recorded(kit::<Pager>(), open);
    assert!(report.rules().eq(["pager/open-block"]), "{report}");
    assert_eq!(report.findings[0].offset, Some(0));
}

#[test]
fn it_is_on_the_playground() {
    let router = router();
    let page = ask(&router, http::Request::get("/"), "");
    assert!(page.body().contains("class PagerFront extends Front"));
    assert!(page.body().contains("class OpenBbFront extends Front"));
    let fronts = ask(&router, http::Request::get("/playground.json"), "");
    let fronts: serde_json::Value = serde_json::from_str(fronts.body()).unwrap();
    let mounted = fronts["fronts"].as_array().unwrap().iter();
    let mounted: Vec<_> = mounted
        .map(|front| front["protocol"].as_str().unwrap())
        .collect();
    assert_eq!(mounted, [OpenBb::NAME, Pager::NAME]);
}

/// Runs the command line.
fn wire(args: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pager-wire"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn the_command_line_knows_it() {
    let reply = ask(&router(), http::Request::post("/pager"), HI);
    let (status, shown) = wire(&["decode", "-p", "pager"], reply.body());
    assert_eq!(status, Some(0), "{shown}");
    for line in [
        "start         1",
        "text          \"hi\"",
        "end           1",
        "done",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let cut = reply.body().split_once("event: end").unwrap().0;
    let (status, shown) = wire(&["decode", "-p", "pager"], cut);
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("the answer is not complete"), "{shown}");
    let (status, shown) = wire(&["request", "-p", "pager"], HI);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("prompt    hi"), "{shown}");
    // Beside those of the library.
    let (_, help) = wire(&["chat", "--help"], "");
    assert!(help.contains("- pager: "), "{help}");
    assert!(help.contains("- openbb: "), "{help}");
}

#[test]
fn it_is_fuzzed() {
    let body = Body::run(
        std::sync::Arc::new(Quick),
        Request::<Pager>::from_parts(
            http::Request::post("/").body(()).unwrap().into_parts().0,
            Pager::read(&http::Request::new(()).into_parts().0, HI.into()).unwrap(),
        ),
        &Env::default(),
    );
    let stream = text(body);
    let mut decoder = EventDecoder::<Pager>::new();
    assert_eq!(
        decoder.next(&mut stream.as_bytes()).unwrap(),
        Some(&Event::Start(1))
    );

    let seeds = [
        HI.as_bytes(),
        stream.as_bytes(),
        b"\0event: beat\ndata: {\"type\":\"beat\"}\n\n",
    ];
    mutations(&seeds, |bytes| {
        properties::request::<Pager>(bytes);
        properties::event::<Pager>(bytes);
        properties::word::<Pager>(bytes);
    });
}
