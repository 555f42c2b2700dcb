//! The program, in a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use copilot_wire::meilisearch::{ApiError, ChatRequest, Message, Tools};
use meilisearch_copilot::replay::{Replay, Step};
use server_tests::{Client, Program};

use crate::support::*;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meilisearch-copilot"));
    command.args(["--port", "0"]).env_remove("MEILI_URL");
    command
}

#[test]
fn it_works_with_nothing_installed() {
    let program = Program::start(program().args(["--pace", "0"])).unwrap();
    let chat = ChatRequest::new("m", [Message::user("Any robots?")]).tools(Tools::ALL);
    let mut client = Client::connect(program.address).unwrap();
    client
        .post("/chats/any/chat/completions", chat.to_json())
        .unwrap();
    let (head, body) = client.response().unwrap();
    assert_eq!(head.status, 200);
    let (events, outcome) = read(body.as_bytes());
    assert!(outcome.is_answered());
    assert!(text(&events).contains("Here is what I found"));
}

#[test]
fn a_signal_lets_streams_finish() {
    let program = Program::start(program().args(["--pace", "20"])).unwrap();
    let (answer, status) = program
        .stop_while_streaming("TERM", "search", "Any robots?")
        .unwrap();
    assert!(answer.ends_with("data: [DONE]\n\n"), "{answer}");
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn it_says_why_the_workspace_does_not_answer() {
    let refuse = |_: &ChatRequest| -> Result<Vec<Step>, ApiError> {
        Err(ApiError::workspace_not_found("films"))
    };
    let replay = Replay::start(refuse).await.unwrap();
    let url = replay.url().replace("http://", "http://user:SECRET@");
    let mut program = program()
        .envs([
            ("MEILI_URL", &*url),
            ("MEILI_KEY", "SECRET"),
            ("MEILI_WORKSPACE", "films"),
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(program.stdout.take().unwrap());
    let printed = tokio::task::spawn_blocking(|| {
        let mut printed = String::new();
        for line in output.lines() {
            printed += &(line.unwrap() + "\n");
            if printed.contains("turn at /v1/query failed") {
                break;
            }
            if printed.contains("does not answer") {
                // A failure of a turn is printed in the same words.
                let address = printed.split("http://").nth(1).unwrap();
                let address = address.split(',').next().unwrap().parse().unwrap();
                let (path, body) = asking("openbb", serde_json::json!({}));
                let mut client = Client::connect(address).unwrap();
                client.post(path, body.to_string()).unwrap();
                client.response().unwrap();
            }
        }
        printed
    });
    let printed = printed.await.unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(
        printed.contains("the workspace `films` at http://127.0.0.1"),
        "{printed}"
    );
    let reason = "404: chat_not_found: create the workspace";
    assert_eq!(printed.matches(reason).count(), 2, "{printed}");
    assert!(!printed.contains("SECRET"), "{printed}");
}

#[test]
fn every_front_end_gets_an_answer() {
    let program = Program::start(program().args(["--pace", "0"])).unwrap();
    let mut client = Client::connect(program.address).unwrap();
    for front in FRONTS {
        let (path, body) = asking(front, serde_json::json!({}));
        client.post(path, body.to_string()).unwrap();
        let (head, stream) = client.response().unwrap();
        assert_eq!(head.status, 200, "{front}: {stream}");
        let text = text_of(front, &stream);
        assert!(text.contains("Here is what I found"), "{front}: {stream}");
    }
}

#[test]
fn a_start_that_fails_is_told_in_words() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = |arguments: &[&str], (name, value): (&str, &str)| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meilisearch-copilot"));
        let command = command.env_remove("MEILI_URL").env(name, value);
        let output = command.args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let none = ("MEILI_MODEL", "m");
    let key = ("MEILI_KEY", "two words SECRET");
    let url = ["--port", &port];
    for (printed, expected) in [
        (
            run(&["--port", "many"], none),
            "--port needs a number in its range",
        ),
        (run(&["--port"], none), "--port needs a number in its range"),
        (
            run(&["--prot", "1"], none),
            "unknown argument \"--prot\", see --help",
        ),
        (
            run(&[], ("MEILI_URL", "SECRET")),
            "MEILI_URL needs a URL such as http://127.0.0.1:7700",
        ),
        (run(&url, key), &format!("port {port}: ")),
    ] {
        assert!(
            printed.starts_with(&format!("meilisearch-copilot: {expected}")),
            "{printed}"
        );
        assert_eq!(printed.lines().count(), 1, "{printed}");
        for word in ["Err", "Kind", "{", "SECRET"] {
            assert!(!printed.contains(word), "{printed}");
        }
    }
}

#[test]
fn the_help_names_every_setting() {
    let output = program().arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let readme = include_str!("../../README.md");
    for setting in [
        "--port",
        "--pace",
        "--shared-key",
        "MEILI_URL",
        "MEILI_KEY",
        "MEILI_WORKSPACE",
        "MEILI_MODEL",
    ] {
        assert!(
            help.contains(setting) && readme.contains(setting),
            "{setting}"
        );
    }
}
