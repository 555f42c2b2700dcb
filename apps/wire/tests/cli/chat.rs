//! `wire chat`.

use std::io::Write;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use analyst::Analyst;
use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{
    AgentError, Citation, Confirmation, Conversation, Protocol, Role, Status, Table, ToolCall,
    Verdict,
};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::json;

use crate::program::{Running, fixture, run};
use crate::server::Server;

const FRONTS: [&str; 7] = [
    "openbb",
    "github",
    "openai",
    "responses",
    "meilisearch",
    "ui-stream",
    "ag-ui",
];

/// The one that shows a question in a dialog. In the others, as they are mounted here, it is the last line of the text.
const DIALOG: &str = "github";

fn question() -> Confirmation {
    Confirmation::new("d-1", "Delete it?", "It cannot be undone.")
}

/// Does what it is told, in one word.
#[derive(Clone)]
struct Servant {
    /// Hears that an answer was called off.
    left: Sender<()>,
}

struct Leaving(Sender<()>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Servant {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.decision() {
            Some(answer) if answer.accepts("d-1") => return Ok(reply.text("Deleted.").await?),
            Some(answer) if answer.verdict == Verdict::Refused => {
                return Ok(reply.text("Kept.").await?);
            }
            Some(answer) if answer.verdict != Verdict::Other => {
                return Ok(reply.ask_again(answer.verdict, question()).await?);
            }
            _ => {}
        }
        if let Some(result) = request.results().last() {
            return Ok(reply.text(&format!("It gave {}.", result.content)).await?);
        }
        match request.prompt().unwrap_or_default().as_ref() {
            "delete" => {
                reply.text("Careful. ").await?;
                Ok(reply.confirm(question())?)
            }
            "call" => {
                let name = request.tools().next().map(|tool| tool.name.into_owned());
                let call = ToolCall::new(name.unwrap_or_default(), &Empty {})?;
                Ok(reply.call(call)?)
            }
            "wait" => {
                let _leaving = Leaving(self.left.clone());
                reply.text("Waiting.\n").await?;
                std::future::pending().await
            }
            "endless" => {
                let line = "x".repeat(64 * 1024);
                let _leaving = Leaving(self.left.clone());
                loop {
                    reply.text(&line).await?;
                }
            }
            "show" => {
                reply.status(Status::new("Looking")).await?;
                let rows = [std::collections::BTreeMap::from([("price", 7)])];
                reply.table(Table::new("Prices", &rows)?).await?;
                Ok(reply
                    .cite(Citation::new("A page").url("https://example.com/a"))
                    .await?)
            }
            "first" => {
                let first = request
                    .messages()
                    .find(|message| message.role == Role::User);
                let text = first.map(|message| message.text.into_owned());
                Ok(reply.text(&text.unwrap_or_default()).await?)
            }
            text => Ok(reply.text(&format!("You said {text}.")).await?),
        }
    }
}

#[derive(serde::Serialize)]
struct Empty {}

fn serve() -> (Server, std::sync::mpsc::Receiver<()>) {
    let (left, gone) = channel();
    let servant = Servant { left };
    let router = Router::new()
        .mount(
            Descriptor::new("servant", "Servant", "Does it"),
            servant.clone(),
        )
        .unwrap()
        .mount(Mount::unverified(), servant.clone())
        .unwrap()
        .mount(copilot_wire::openai::Model::new("servant"), servant.clone())
        .unwrap()
        .mount(
            copilot_wire::responses::Model::new("servant"),
            servant.clone(),
        )
        .unwrap()
        .mount(copilot_wire::meilisearch::Mount::new(), servant.clone())
        .unwrap()
        .mount(copilot_wire::ui_stream::Mount::new(), servant.clone())
        .unwrap()
        .mount(copilot_wire::ag_ui::Mount::new(), servant)
        .unwrap();
    (Server::new(router), gone)
}

#[test]
fn every_front_end_is_answered() {
    let (server, _) = serve();
    for front in FRONTS {
        let seen = run(&["chat", &server.url(""), "-p", front, "-m", "hello"], "");
        assert_eq!((seen.status, &*seen.err), (0, ""), "{front}: {}", seen.out);
        assert_eq!(seen.out, "You said hello.\n", "{front}");
        let seen = run(&["chat", &server.url(""), "-p", front], "one\n\ntwo\n");
        assert_eq!(seen.out, "You said one.\nYou said two.\n", "{front}");
    }
}

#[test]
fn what_is_shown_is_shown_as_text() {
    let (server, _) = serve();
    let seen = run(&["chat", &server.url(""), "-p", "openbb", "-m", "show"], "");
    assert_eq!(
        seen.out,
        "- status: Looking\nPrices: A table of data\n  price\n  -----\n  7\n\
         - citation: https://example.com/a\n"
    );
    let seen = run(
        &[
            "chat",
            &server.url(""),
            "-p",
            "openbb",
            "-m",
            "show",
            "--json",
        ],
        "",
    );
    let kinds: Vec<_> = seen
        .json()
        .iter()
        .map(|line| line["kind"].clone())
        .collect();
    assert_eq!(kinds, ["status", "table", "citation"]);
}

#[test]
fn what_reorders_a_terminal_is_escaped() {
    let (server, _) = serve();
    let text = "a\u{202e}b\u{2066}c\u{200f}d\u{61c}e\u{1b}";
    let seen = run(&["chat", &server.url(""), "-p", "openai", "-m", text], "");
    let shown = r"You said a\u{202e}b\u{2066}c\u{200f}d\u{61c}e\u{1b}.";
    assert_eq!(seen.out.trim_end(), shown);
}

#[test]
fn an_endless_answer_ends() {
    let (server, gone) = serve();
    let url = server.url("");
    let seen = run(&["chat", &url, "-p", "openai", "-m", "endless"], "");
    assert_eq!(seen.status, 1, "{}", seen.err);
    let end = "WRONG: the answer is longer than 33554432 bytes\n";
    assert!(
        seen.out.ends_with(end),
        "{}",
        &seen.out[seen.out.len() - 200..]
    );
    assert!(seen.out.len() < 33_554_432 + 1000);
    gone.recv_timeout(Duration::from_secs(20)).unwrap();
}

#[test]
fn questions_are_asked() {
    let (server, _) = serve();
    for front in FRONTS {
        for (options, input, said) in [
            (&[][..], "delete\nno\n", "Kept."),
            (&[], "delete\n\n", "Kept."),
            (&["-m", "delete", "--yes"], "", "Deleted."),
            (&["-m", "delete", "--no"], "", "Kept."),
            (&["-m", "delete"], "yes\n", "Kept."),
        ] {
            let url = server.url("");
            let args: Vec<_> = ["chat", &url, "-p", front]
                .iter()
                .chain(options)
                .copied()
                .collect();
            let seen = run(&args, input);
            assert_eq!(seen.status, 0, "{front} {options:?}: {}", seen.out);
            assert!(seen.out.contains("Delete it?"), "{front}: {}", seen.out);
            assert!(
                seen.out.ends_with(&format!("{said}\n")),
                "{front} {options:?} {input:?}: {}{}",
                seen.out,
                seen.err
            );
        }
    }
}

#[test]
fn a_dialog_is_answered_with_yes() {
    let (server, _) = serve();
    for yes in ["y", "Yes"] {
        let input = format!("delete\n{yes}\n");
        let seen = run(&["chat", &server.url(""), "-p", DIALOG], &input);
        assert!(seen.out.ends_with("Deleted.\n"), "{}", seen.out);
    }
}

#[cfg(unix)]
#[test]
fn a_question_in_text_is_answered_as_it_says() {
    let (server, _) = serve();
    for front in FRONTS.iter().filter(|front| **front != DIALOG) {
        let mut running = Running::new(&["chat", &server.url(""), "-p", front]);
        let mut input = running.child.stdin.take().unwrap();
        let answer = |question: &str| {
            let (_, rest) = question.split_once("To agree, reply: ").unwrap();
            rest.split_once('.').unwrap().0.to_owned()
        };
        let next = |start: &str| loop {
            let line = running.line();
            if line.starts_with(start) {
                return line;
            }
        };
        input.write_all(b"delete\n").unwrap();
        let first = answer(&next("Question: Delete it?"));
        // No code, and no dialog either.
        input.write_all(b"y\n").unwrap();
        next("Your answer does not have the code of the question, so nothing was done.");
        let second = answer(&next("Question: Delete it?"));
        assert_ne!(first, second, "{front}");
        input.write_all(format!("{second}\n").as_bytes()).unwrap();
        next("Deleted.");
        drop(input);
        assert_eq!(running.end(), (Some(0), String::new()), "{front}");
    }
}

#[test]
fn whoever_leaves_at_a_question_answers_nothing() {
    let (server, _) = serve();
    for front in FRONTS {
        let seen = run(&["chat", &server.url(""), "-p", front], "delete\n");
        assert_eq!((seen.status, &*seen.err), (0, ""), "{front}");
        assert!(seen.out.contains("Delete it?"), "{front}: {}", seen.out);
        assert!(!seen.out.contains("Kept."), "{front}: {}", seen.out);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_at_a_question_answers_nothing() {
    let (server, _) = serve();
    let mut running = Running::new(&["chat", &server.url(""), "-p", "github"]);
    running
        .child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"delete\n")
        .unwrap();
    while running.line() != "It cannot be undone." {}
    running.interrupt();
    let rest = running.rest();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(running.end(), (Some(0), String::new()));
}

#[test]
fn another_answer_to_a_question_in_text_is_a_message() {
    let (server, _) = serve();
    for (front, said) in [("openai", "You said later."), ("github", "Kept.")] {
        let seen = run(&["chat", &server.url(""), "-p", front], "delete\nlater\n");
        assert_eq!(seen.status, 0, "{front}: {}", seen.out);
        assert!(seen.out.ends_with(&format!("{said}\n")), "{}", seen.out);
    }
}

#[test]
fn calls_are_answered_from_a_file() {
    let (server, _) = serve();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let request = file(
        "request.json",
        r#"{"model":"servant","messages":[{"role":"user","content":"x"}],"stream":true,
            "tools":[{"type":"function","function":{"name":"dice","parameters":{"type":"object"}}}]}"#,
    );
    let url = server.url("/v1/chat/completions");
    for (answers, said) in [
        (r#"{"dice":"six"}"#, "It gave six."),
        (r#"{"*":[1,2]}"#, "It gave [1,2]."),
        (r#"{"dice":{"error":"lost"}}"#, "It gave error: lost."),
        (r#"{}"#, "It gave error: the user gave no result."),
    ] {
        let answers = file("answers.json", answers);
        let args = [
            "chat",
            &url,
            "-p",
            "openai",
            "-m",
            "call",
            "--request",
            &request,
            "--answer",
            &answers,
        ];
        let seen = run(&args, "");
        assert_eq!(seen.status, 0, "{}{}", seen.out, seen.err);
        assert_eq!(seen.out, format!("> dice {{}}\n{said}\n"));
    }
}

#[test]
fn a_recorded_conversation_goes_on() {
    let (server, _) = serve();
    let folder = tempfile::tempdir().unwrap();
    for front in FRONTS {
        let (user, agent) = if front == "openbb" {
            ("human", "ai")
        } else {
            ("user", "assistant")
        };
        let messages = match front {
            "responses" => "input",
            _ => "messages",
        };
        let request = json!({"model": "servant", "stream": true, messages: [
            {"role": user, "content": "one", "parts": [{"type": "text", "text": "one"}]},
            {"role": agent, "content": "two", "parts": [{"type": "text", "text": "two"}]},
        ]});
        let path = folder.path().join(front);
        std::fs::write(&path, request.to_string()).unwrap();
        let path = path.to_str().unwrap();
        let url = server.url("");
        let args = ["chat", &url, "-p", front, "-m", "first", "--request", path];
        let seen = run(&args, "");
        assert_eq!((seen.status, &*seen.err), (0, ""), "{front}: {}", seen.out);
        assert_eq!(seen.out, "one\n", "{front}");
    }
}

#[test]
fn widgets_have_the_data_of_the_file() {
    let server = Server::new(analyst::routes(Analyst::new(None).pace(Duration::ZERO)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers.json");
    std::fs::write(
        &answers,
        r#"{"stock_price":[{"day":"Mo","close":1},{"day":"Tu","close":2}]}"#,
    )
    .unwrap();
    let request = fixture("openbb/req_v2_full.json");
    let url = server.url("/");
    let args = [
        "chat",
        &url,
        "-p",
        "openbb",
        "-m",
        "show",
        "--request",
        &request,
        "--answer",
    ];
    let args: Vec<_> = args
        .iter()
        .copied()
        .chain([answers.to_str().unwrap()])
        .collect();
    let seen = run(&args, "");
    assert_eq!(seen.status, 0, "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("> get_widget_data"), "{}", seen.out);
    assert!(seen.out.contains("has 2 rows"), "{}", seen.out);
}

#[test]
fn a_refusal_is_shown_and_sets_the_exit_status() {
    let (server, _) = serve();
    let seen = run(
        &["chat", &server.url("/nowhere"), "-p", "openai", "-m", "x"],
        "",
    );
    assert_eq!(seen.status, 1);
    assert!(seen.out.contains("404"), "{}", seen.out);
    assert!(seen.out.contains("no such path"), "{}", seen.out);
}

#[test]
fn an_unreachable_server_is_reported_without_secrets() {
    // Port 1 is not for servers; a port that was free may be taken by the next test.
    let url = "http://user:s3cret@127.0.0.1:1/v1/chat/completions?key=s3cret";
    let header = "authorization: Bearer s3cret";
    let seen = run(&["chat", url, "-p", "openai", "-m", "x", "-H", header], "");
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert!(seen.err.contains("cannot connect"), "{}", seen.err);
    assert!(!seen.err.contains("s3cret"), "{}", seen.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_answer() {
    let (server, gone) = serve();
    let running = Running::new(&["chat", &server.url(""), "-p", "openbb", "-m", "wait"]);
    assert_eq!(running.line(), "Waiting.");
    running.interrupt();
    assert_eq!(running.end(), (Some(0), String::new()));
    // The agent hears of it too.
    gone.recv_timeout(Duration::from_secs(60)).unwrap();
}

#[test]
fn an_agent_that_fails_is_no_success() {
    struct Failing;
    #[async_trait]
    impl<P: Protocol> Agent<P> for Failing {
        async fn answer(&self, _: Request<P>, _: Reply<P>) -> Result<(), AgentError> {
            Err(AgentError::new("The model is away."))
        }
    }
    let server = Server::new(
        Router::new()
            .mount(copilot_wire::openai::Model::new("failing"), Failing)
            .unwrap(),
    );
    let seen = run(
        &["chat", &server.url(""), "-p", "openai", "-m", "hello"],
        "",
    );
    assert_eq!(seen.status, 1, "{}", seen.out);
    assert!(seen.out.contains("The model is away."), "{}", seen.out);
}
