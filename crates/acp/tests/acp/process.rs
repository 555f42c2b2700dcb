//! An agent as a program: this test program starts itself as one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use copilot_wire_acp::Server;
use serde_json::{Value, json};

use crate::support::Player;

/// The variable that makes [`agent`] an agent.
const AGENT: &str = "ACP_TEST_AGENT";

#[test]
fn agent() {
    if std::env::var_os(AGENT).is_some() {
        Server::new(Player).stdio().unwrap();
    }
}

/// Starts the agent. What the test program prints before is skipped.
fn start() -> (Child, BufReader<ChildStdout>) {
    let mut agent = Command::new(std::env::current_exe().unwrap());
    agent.args(["--exact", "process::agent", "--nocapture"]);
    agent.env(AGENT, "1").stderr(Stdio::null());
    let agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.spawn().unwrap();
    let output = agent.stdout.take().unwrap();
    (agent, BufReader::new(output))
}

fn send(agent: &mut Child, message: &Value) {
    let line = format!("{message}\n");
    agent
        .stdin
        .as_mut()
        .unwrap()
        .write_all(line.as_bytes())
        .unwrap();
}

fn request(agent: &mut Child, id: i64, method: &str, params: Value) {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    send(agent, &message);
}

fn next(output: &mut BufReader<ChildStdout>) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the end");
        if line.starts_with('{') {
            return serde_json::from_str(&line).unwrap();
        }
    }
}

/// Reads until the response with this id.
fn response(output: &mut BufReader<ChildStdout>, id: i64) -> Value {
    loop {
        let message = next(output);
        if message["id"] == id && message.get("method").is_none() {
            return message;
        }
    }
}

/// The messages of a turn, up to a prompt.
fn begin(agent: &mut Child, output: &mut BufReader<ChildStdout>) -> Value {
    request(agent, 1, "initialize", json!({"protocolVersion": 1}));
    response(output, 1);
    let folders = json!({"cwd": "/work", "mcpServers": []});
    request(agent, 2, "session/new", folders);
    response(output, 2)["result"]["sessionId"].clone()
}

fn prompt(agent: &mut Child, session: &Value, text: &str) {
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    request(agent, 3, "session/prompt", prompt);
}

#[test]
fn what_an_agent_prints_and_what_its_programs_read_is_no_message() {
    let (mut agent, mut output) = start();
    let session = begin(&mut agent, &mut output);
    prompt(&mut agent, &session, "print");
    let turn = response(&mut output, 3);
    assert_eq!(turn["result"]["stopReason"], "end_turn", "{turn}");
    drop(agent.stdin.take());
    assert!(agent.wait().unwrap().success());
}

#[test]
fn the_end_of_the_input_ends_the_program_at_every_stage() {
    for stage in 0..5 {
        let (mut agent, mut output) = start();
        match stage {
            0 => {}
            1 => {
                request(&mut agent, 1, "initialize", json!({"protocolVersion": 1}));
                response(&mut output, 1);
            }
            2 => drop(begin(&mut agent, &mut output)),
            _ => {
                let session = begin(&mut agent, &mut output);
                let text = if stage == 3 { "hang" } else { "delete" };
                prompt(&mut agent, &session, text);
                next(&mut output);
            }
        }
        // In the middle of a message.
        let stdin = agent.stdin.take().unwrap();
        (&stdin).write_all(b"{\"jsonrpc\":").unwrap();
        drop(stdin);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        for line in rest.lines().filter(|line| line.starts_with('{')) {
            serde_json::from_str::<Value>(line).unwrap();
        }
        assert!(agent.wait().unwrap().success(), "{stage}");
    }
}

#[test]
fn a_closed_output_ends_the_program() {
    for text in ["hang", "flood"] {
        let (mut agent, mut output) = start();
        let session = begin(&mut agent, &mut output);
        prompt(&mut agent, &session, text);
        next(&mut output);
        drop(output);
        if text == "hang" {
            // The program notices when it writes.
            request(&mut agent, 4, "session/list", json!({}));
        }
        assert!(agent.wait().unwrap().success());
    }
}
