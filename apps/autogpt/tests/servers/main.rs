//! Two server processes that share a Redis: copies of a turn, and servers that are killed or paused.
//!
//! `AUTOGPT_TEST_TURNS` sets how many turns are sent to both servers, and `AUTOGPT_TEST_KILLS` how many
//! servers are killed.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod model;
#[path = "../questions/mod.rs"]
mod questions;

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use model::Model;
use questions::{normalized, yes};
use serde_json::{Value, json};
use server_tests::{Client, Program, Redis};

/// The lease of the servers that are killed or paused, in seconds.
const LEASE: u64 = 1;

/// Everything that servers share.
struct Site {
    redis: Redis,
    model: Model,
    folder: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        // A command that shows in a file that it ran, and takes its time.
        let program = format!(
            "import sys, time\nopen({log:?}, 'a').write('x\\n')\ntime.sleep(0.2)\nprint('ran')\n"
        );
        fs::write(folder.path().join("effect.py"), program).unwrap();
        Self {
            redis: Redis::start().unwrap(),
            model: Model::start(),
            folder,
        }
    }

    /// Starts a server that has the secret of all.
    fn server(&self, lease: u64) -> Program {
        self.server_with(lease, &"5e".repeat(32))
    }

    fn server_with(&self, lease: u64, secret: &str) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autogpt"));
        command
            .args(["--serve", "--port", "0"])
            .env("OPENAI_BASE_URL", &self.model.base)
            .env("AUTOGPT_WORKSPACE", self.folder.path())
            .env("AUTOGPT_STATE", self.redis.url())
            .env("AUTOGPT_SECRET", secret)
            .env("AUTOGPT_LEASE", lease.to_string())
            .env("AUTOGPT_PYTHON", "/usr/bin/python3");
        Program::start(&mut command).unwrap()
    }

    /// Returns how often the command ran.
    fn effects(&self) -> usize {
        let log = fs::read_to_string(self.folder.path().join("log"));
        log.unwrap_or_default().lines().count()
    }
}

/// A chat transcript.
#[derive(Clone)]
struct Chat(Vec<Value>);

impl Chat {
    fn new(goal: &str) -> Self {
        Self(vec![json!({ "role": "user", "content": goal })])
    }

    fn then(&self, answer: &str, text: &str) -> Self {
        let mut messages = self.0.clone();
        messages.push(json!({ "role": "assistant", "content": answer }));
        messages.push(json!({ "role": "user", "content": text }));
        Self(messages)
    }

    /// Sends the chat to a server and returns the agent's text, or the error. `None` if the server dies
    /// meanwhile.
    fn try_send(&self, server: &Program) -> Option<String> {
        let mut client = Client::connect(server.address).ok()?;
        let body = json!({ "model": "autogpt", "messages": self.0 });
        client.post("/v1/chat/completions", body.to_string()).ok()?;
        let (_, body) = client.response().ok()?;
        let body: Value = serde_json::from_str(&body).unwrap();
        let text = body["choices"][0]["message"]["content"].as_str();
        Some(
            text.or_else(|| body["error"]["message"].as_str())
                .unwrap()
                .to_owned(),
        )
    }

    fn send(&self, server: &Program) -> String {
        self.try_send(server).unwrap()
    }

    fn send_to_both(&self, one: &Program, two: &Program) -> String {
        let [first, second] = thread::scope(|scope| {
            let copies = [one, two].map(|server| scope.spawn(|| self.send(server)));
            copies.map(|copy| copy.join().unwrap())
        });
        // Each has asked with a code of its own, and either counts.
        assert_eq!(normalized(&first), normalized(&second));
        first
    }
}

fn number(variable: &str, default: usize) -> usize {
    let number = std::env::var(variable).ok();
    number.map_or(default, |number| number.parse().unwrap())
}

#[test]
fn a_turn_that_reaches_two_servers_runs_once() {
    let site = Site::new();
    let (one, two) = (site.server(30), site.server(30));
    for turn in 1..=number("AUTOGPT_TEST_TURNS", 10) {
        let chat = Chat::new(&format!("goal {turn}"));
        let question = chat.send_to_both(&one, &two);
        assert!(question.contains("effect．py"), "{question}");
        let end = chat
            .then(&question, &yes(&question))
            .send_to_both(&one, &two);
        assert!(end.contains("**Task complete.**"), "{end}");
        assert_eq!(site.effects(), turn);
        assert_eq!(site.model.calls(&format!("goal {turn}")), 2);
    }
}

#[test]
fn servers_without_a_secret_share_the_key_of_their_redis() {
    let site = Site::new();
    let (one, two) = (site.server_with(30, ""), site.server_with(30, ""));
    // The first request of a server loads the key, and does not wait for it for long.
    for server in [&one, &two] {
        Chat::new("goal first").send(server);
    }
    let chat = Chat::new("goal secret");
    let question = chat.send(&one);
    let end = chat.then(&question, &yes(&question)).send(&two);
    assert!(end.contains("**Task complete.**"), "{end}");
    assert_eq!(site.effects(), 1);
}

#[test]
fn a_page_resumes_at_another_server() {
    let site = Site::new();
    let (one, two) = (site.server(30), site.server(30));
    let ask = |server: &Program, key: &str, path: &str| {
        let mut client = Client::connect(server.address).unwrap();
        client
            .request("GET", path, &["connection: close", key], b"")
            .unwrap();
        client
    };
    let message = |role: &str, text: &str| json!({"id": role, "role": role, "parts": [{"type": "text", "text": text}]});
    let post = |messages: &[Value]| {
        let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
        let mut client = Client::connect(one.address)
            .unwrap()
            .key("authorization: Bearer ada");
        client.post("/api/chat", body.to_string()).unwrap();
        client
    };
    let goal = message("user", "goal pause");
    let asked = text(&post(std::slice::from_ref(&goal)).response().unwrap().1);
    let mut cut = post(&[
        goal,
        message("assistant", &asked),
        message("user", &yes(&asked)),
    ]);
    cut.head().unwrap();
    let mut seen = String::new();
    // The command has run, and the model is asked what to do with its result.
    while !seen.contains("Running") {
        seen.push_str(&String::from_utf8(cut.chunk().unwrap()).unwrap());
    }
    site.model.wait_for_calls("goal pause", 2);
    drop(cut);
    let path = "/api/chat/c1/stream";
    for (key, path) in [
        ("authorization: Bearer bob", path),
        ("authorization: Bearer ada", "/api/chat/c2/stream"),
    ] {
        assert_eq!(ask(&two, key, path).head().unwrap().status, 204);
    }
    let mut resumed = ask(&two, "authorization: Bearer ada", path);
    site.model.open_gate();
    let (head, whole) = resumed.response().unwrap();
    assert_eq!(head.status, 200);
    assert!(whole.starts_with(&seen), "{seen}\n\n{whole}");
    assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
    assert_eq!(
        text(&whole).matches("**Task complete.**").count(),
        1,
        "{whole}"
    );
    assert_eq!(whole.matches(r#""type":"start""#).count(), 1, "{whole}");
    assert_eq!(site.effects(), 1);
}

/// Returns the text of a stream for a page.
fn text(stream: &str) -> String {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    data.filter_map(|data| Some(data["delta"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn a_server_that_is_killed_loses_no_run_and_repeats_no_command() {
    let site = Site::new();
    let survivor = site.server(LEASE);
    let mut lost = 0;
    for kill in 0..number("AUTOGPT_TEST_KILLS", 3) {
        let server = site.server(LEASE);
        let chat = Chat::new(&format!("goal {kill}"));
        let question = chat.send(&server);
        let answer = chat.then(&question, &yes(&question));
        let before = site.effects();
        // Before, in and after the command.
        let delay = Duration::from_millis([150, 20, 400, 70, 250][kill % 5]);
        thread::scope(|scope| {
            scope.spawn(|| answer.try_send(&server));
            thread::sleep(delay);
            server.signal("KILL").unwrap();
        });
        let start = Instant::now();
        let mut end = answer.send(&survivor);
        assert!(start.elapsed() < Duration::from_secs(LEASE + 5));
        if !end.contains("**Task complete.**") {
            assert!(end.contains("is lost"), "{end}");
            lost += 1;
            end = answer.then(&end, &yes(&end)).send(&survivor);
        }
        assert!(end.contains("**Task complete.**"), "{end}");
        let effects = site.effects() - before;
        assert!(effects <= 1, "{effects}");
    }
    println!("the result of {lost} commands was lost");
}

#[test]
fn a_server_that_is_paused_for_longer_than_its_lease_is_refused() {
    let site = Site::new();
    let (one, two) = (site.server(LEASE), site.server(LEASE));
    let chat = Chat::new("goal pause");
    let question = chat.send(&one);
    let answer = chat.then(&question, &yes(&question));
    thread::scope(|scope| {
        let paused = scope.spawn(|| answer.send(&one));
        // The command has run, and the model is asked what to do with its result.
        site.model.wait_for_calls("goal pause", 2);
        one.signal("STOP").unwrap();
        thread::sleep(Duration::from_secs(LEASE) + Duration::from_millis(100));
        let end = answer.send(&two);
        assert!(end.contains("**Task complete.**"), "{end}");
        one.signal("CONT").unwrap();
        site.model.open_gate();
        let refused = paused.join().unwrap();
        assert!(refused.contains("being answered elsewhere"), "{refused}");
        assert!(!refused.contains("**Task complete.**"), "{refused}");
        // It has changed nothing: the same turn gets the same answer, from either server.
        assert_eq!(answer.send(&one), end);
        assert_eq!(answer.send(&two), end);
    });
    assert_eq!(site.effects(), 1);
}
