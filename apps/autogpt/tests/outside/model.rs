//! Whole runs against an OpenAI-compatible server that misbehaves.

use std::time::Duration;

use autogpt::agent_loop::prompt::{Codec, Profile};
use autogpt::agent_loop::run::{Answer, End, Event, EventKind, Question, Reason};
use autogpt::agent_loop::runner::{AutoGpt, Turn, TurnEnd};
use autogpt::memory::store::Conversation;
use autogpt::setup::{Setup, State};

use crate::server::{Server, answer, call, chat};

struct Bench {
    agent: AutoGpt,
    server: Server,
    folder: tempfile::TempDir,
}

impl Bench {
    async fn new(answers: Vec<String>) -> Self {
        Self::with(answers, Codec::Json).await
    }

    async fn with(answers: Vec<String>, codec: Codec) -> Self {
        let server = Server::new(answers).await;
        let folder = tempfile::tempdir().unwrap();
        let mut setup = Setup::new(|_| None);
        setup.workspace = folder.path().join("work");
        setup.state = Some(State::Folder(folder.path().join("state")));
        setup.base = Some(format!("{}/v1", server.base));
        setup.key = Some("secret".to_owned());
        setup.codec = codec;
        let mut agent = setup.build(Profile::new("Bo", "a helper", &[])).unwrap();
        agent.wait = Duration::ZERO;
        Self {
            agent,
            server,
            folder,
        }
    }

    async fn say(&self, id: u64, text: &str) -> (TurnEnd, Vec<Event>) {
        let answer = Answer::Text(text.to_owned());
        let turn = Turn::new(Conversation::anonymous("c"), &id.to_string(), answer);
        let mut events = Vec::new();
        let end = self.agent.turn(turn, &mut events).await;
        (end.unwrap(), events)
    }
}

fn command(name: &str, args: &str) -> String {
    chat(&format!(
        r#"{{"command":{{"name":"{name}","args":{args}}}}}"#
    ))
}

fn reason(end: &TurnEnd) -> &Reason {
    match end {
        TurnEnd::Ask(Question::GoOn { reason, .. }) => reason,
        TurnEnd::Ask(Question::Command(proposal)) => proposal.reason.as_ref().unwrap(),
        other => panic!("{other:?}"),
    }
}

const WRITE: &str = r#"{"file":"a.txt","text":"tea"}"#;

#[tokio::test]
async fn a_run_writes_a_file() {
    let bench = Bench::new(vec![
        command("write_to_file", WRITE),
        command("task_complete", r#"{"reason":"done"}"#),
    ])
    .await;
    let (end, _) = bench.say(1, "write tea").await;
    assert!(matches!(end, TurnEnd::Ask(Question::Command(_))));
    let (end, _) = bench.say(2, "y").await;
    assert_eq!(end, TurnEnd::Finish(End::Complete("done".to_owned())));
    let file = bench.folder.path().join("work/a.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "tea");
    let body = &bench.server.bodies()[0];
    assert_eq!(body["model"], "gpt-4o-mini");
    assert!(body["max_tokens"].as_u64().unwrap() >= 1000);
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("1. write tea\n"));
    assert_eq!(
        bench.server.lines()[0],
        "POST /v1/chat/completions HTTP/1.1"
    );
}

#[tokio::test]
async fn bad_json_is_repaired_by_the_model_once() {
    let bench = Bench::new(vec![
        chat("{'command': {'name': 'write_to_file'}}"),
        command("write_to_file", WRITE),
        command("task_complete", "{}"),
    ])
    .await;
    let (end, _) = bench.say(1, "write tea").await;
    assert!(matches!(end, TurnEnd::Ask(Question::Command(_))));
    let repair = &bench.server.bodies()[1];
    assert_eq!(repair["temperature"], 0.0);
    assert_eq!(repair["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn prose_after_feedback_ends_in_a_question() {
    let bench = Bench::new(vec![
        command("write_to_file", WRITE),
        chat("Of course, green tea it is!"),
    ])
    .await;
    bench.say(1, "write tea").await;
    let (end, _) = bench.say(2, "green tea please").await;
    assert!(matches!(reason(&end), Reason::Damaged(_)));
    let bodies = bench.server.bodies();
    let last = |body: &serde_json::Value| {
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(last(&bodies[1]).starts_with("green tea please\n\nAnswer only in the JSON format"));
    assert!(!last(&bodies[2]).contains("green tea"));
    assert_eq!(bodies.len(), 4);
}

#[tokio::test]
async fn endless_repeats_end_in_a_question() {
    let bench = Bench::new(vec![command("search_files", r#"{"directory":"/"}"#)]).await;
    let (end, events) = bench.say(1, "look").await;
    assert_eq!(*reason(&end), Reason::Repeats(3));
    let ran = events
        .iter()
        .filter(|e| matches!(e.kind, EventKind::Ended { .. }));
    assert_eq!(ran.count(), 2);
}

#[tokio::test]
async fn a_long_result_is_cut_and_the_run_goes_on() {
    let bench = Bench::new(vec![
        command("read_file", r#"{"file":"long.txt"}"#),
        command("task_complete", "{}"),
    ])
    .await;
    let long = "green tea ".repeat(100_000);
    std::fs::write(bench.folder.path().join("work/long.txt"), long).unwrap();
    let (end, _) = bench.say(1, "read").await;
    assert!(matches!(end, TurnEnd::Finish(_)));
    let body = bench.server.bodies()[1].to_string();
    assert!(body.contains("the whole result has 1000000 characters"));
    assert!(body.len() < 40_000);
}

#[tokio::test]
async fn a_busy_or_broken_server_loses_nothing() {
    let busy = answer("429 Too Many Requests", "application/json", "{}");
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"cho".to_owned();
    let nothing = String::new();
    let bench = Bench::new(vec![
        busy.clone(),
        command("write_to_file", WRITE),
        cut.clone(),
        nothing,
        cut.clone(),
        cut,
        command("task_complete", "{}"),
    ])
    .await;
    let (end, _) = bench.say(1, "write tea").await;
    assert!(matches!(end, TurnEnd::Ask(Question::Command(_))));
    let (end, _) = bench.say(2, "y").await;
    assert!(matches!(reason(&end), Reason::Model(_)));
    assert!(bench.folder.path().join("work/a.txt").exists());
    let (end, _) = bench.say(3, "y").await;
    assert!(matches!(end, TurnEnd::Finish(End::Complete(_))));
}

#[tokio::test]
async fn what_is_no_answer_is_not_asked_again() {
    for wrong in [
        answer("401 Unauthorized", "application/json", "{}"),
        answer("200 OK", "application/json", "{\"choices\":[]}"),
        answer("200 OK", "text/html", "<html>"),
        // Busy, but a retry is forbidden or useless for a long time.
        answer("429 Busy\r\nx-should-retry: false", "text/plain", ""),
        answer("429 Busy\r\nretry-after: 3600", "text/plain", ""),
    ] {
        let bench = Bench::new(vec![wrong]).await;
        let (end, _) = bench.say(1, "goal").await;
        let Reason::Model(reason) = reason(&end) else {
            panic!("{end:?}");
        };
        assert!(!reason.contains("secret"));
        assert_eq!(bench.server.lines().len(), 1);
    }
}

#[tokio::test]
async fn native_tool_calls_run_on_the_same_machine() {
    let bench = Bench::with(
        vec![
            call("write_to_file", WRITE),
            call("read_file", r#"{"file":"a.txt","#),
            call("read_file", r#"{"file":"a.txt"}"#),
            call("task_complete", r#"{"reason":"done"}"#),
        ],
        Codec::Tools,
    )
    .await;
    let (end, _) = bench.say(1, "write tea").await;
    assert!(matches!(end, TurnEnd::Ask(Question::Command(_))));
    let (end, _) = bench.say(2, "y").await;
    assert_eq!(end, TurnEnd::Finish(End::Complete("done".to_owned())));
    let bodies = bench.server.bodies();
    let tools = bodies[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|t| t["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"write_to_file") && names.contains(&"task_complete"));
    // Each call is followed by its result.
    let messages = bodies[3]["messages"].as_array().unwrap();
    let calls = messages
        .iter()
        .zip(&messages[1..])
        .filter(|(m, _)| m["tool_calls"].is_array());
    let mut count = 0;
    for (call, result) in calls {
        assert_eq!(result["role"], "tool");
        assert_eq!(result["tool_call_id"], call["tool_calls"][0]["id"]);
        count += 1;
    }
    assert_eq!(count, 3);
}
