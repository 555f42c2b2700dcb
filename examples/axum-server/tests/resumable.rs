//! The program with replies that outlive their connections.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, missing_docs)]
#![cfg(unix)]

use std::net::SocketAddr;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use server_tests::{Client, Program};

const ALI: &str = "authorization: Bearer sesame";
const DOROTHY: &str = "authorization: Bearer poppy";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-server"));
    command.env("ADDRESS", "127.0.0.1:0");
    command.env("API_KEYS", "ali=sesame,dorothy=poppy");
    command.args(arguments);
    command
}

fn send(server: SocketAddr, key: &str, method: &str, path: &str, body: &str) -> Client {
    let mut client = Client::connect(server).unwrap();
    let headers = ["content-type: application/json", "connection: close", key];
    let path = format!("/agents/api/chat{path}");
    client
        .request(method, &path, &headers, body.as_bytes())
        .unwrap();
    client
}

/// Returns the status and the body of a response.
fn ask(server: SocketAddr, key: &str, method: &str, path: &str) -> (u16, String) {
    let (head, body) = send(server, key, method, path, "{}").response().unwrap();
    (head.status, body)
}

fn chat(id: &str) -> String {
    let message = r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]}"#;
    format!(r#"{{"id":"{id}","messages":[{message}],"trigger":"submit-message"}}"#)
}

/// Starts an answer of the analyst, and leaves after its first bytes, which are returned.
fn begin(server: SocketAddr, chat: &str) -> String {
    let mut client = send(server, ALI, "POST", "", &self::chat(chat));
    assert_eq!(client.head().unwrap().status, 200);
    String::from_utf8(client.chunk().unwrap()).unwrap()
}

/// A reply is read, and another one stopped, at a server; one of two answers.
fn check(answers: SocketAddr, reads: SocketAddr) {
    let seen = begin(answers, "c1");
    for key in [DOROTHY, ALI] {
        assert_eq!(ask(reads, key, "GET", "/none/stream").0, 204);
    }
    assert_eq!(ask(reads, DOROTHY, "GET", "/c1/stream").0, 204);
    let (status, whole) = ask(reads, ALI, "GET", "/c1/stream");
    assert_eq!(status, 200);
    assert!(whole.starts_with(&seen), "{whole}");
    assert!(whole.contains(r#""type":"finish""#), "{whole}");
    assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");

    begin(answers, "c2");
    let mut reader = send(reads, ALI, "GET", "/c2/stream", "");
    assert_eq!(reader.head().unwrap().status, 200);
    assert_eq!(ask(reads, ALI, "POST", "/c2/stop").0, 204);
    let mut stopped = Vec::new();
    loop {
        let chunk = reader.chunk().unwrap();
        if chunk.is_empty() {
            break;
        }
        stopped.extend(chunk);
    }
    let stopped = String::from_utf8(stopped).unwrap();
    assert!(stopped.contains(r#""type":"abort""#), "{stopped}");
}

#[test]
fn a_reply_outlives_its_connection() {
    let server = Program::start(&mut command(&["--resumable"])).unwrap();
    check(server.address, server.address);
    let mut client = Client::connect(server.address).unwrap();
    client
        .request("GET", "/metrics", &["connection: close"], b"")
        .unwrap();
    let (_, metrics) = client.response().unwrap();
    assert!(metrics.contains("\nreply_store_up 1\n"), "{metrics}");
}

#[test]
fn with_all_turns_taken_a_reply_is_resumed_and_stopped() {
    let server = Program::start(command(&["--resumable"]).env("TURNS", "1")).unwrap();
    let address = server.address;
    begin(address, "c1");
    let refused = send(address, ALI, "POST", "", &chat("c2")).response();
    let (refused, body) = refused.unwrap();
    assert_eq!(refused.status, 503, "{body}");
    assert_eq!(refused.header("retry-after"), Some("5"));
    let mut reader = send(address, ALI, "GET", "/c1/stream", "");
    assert_eq!(reader.head().unwrap().status, 200);
    assert_eq!(ask(address, ALI, "POST", "/c1/stop").0, 204);
    // The turn is free once its agent is dropped, which may be a little later.
    let status = || {
        let mut client = send(address, ALI, "POST", "", &chat("c3"));
        client.head().unwrap().status
    };
    let mut tries = (0..500).inspect(|_| sleep(Duration::from_millis(10)));
    assert!(tries.any(|_| status() == 200));
}

#[test]
fn without_the_argument_a_reply_ends_with_its_connection() {
    let server = Program::start(&mut command(&[])).unwrap();
    begin(server.address, "c1");
    assert_eq!(ask(server.address, ALI, "GET", "/c1/stream").0, 204);
    assert_eq!(ask(server.address, ALI, "POST", "/c1/stop").0, 404);
}

/// Returns what the program says when it does not start.
fn refusal(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = command(arguments).output().unwrap();
    assert!(!status.success(), "{arguments:?}");
    String::from_utf8(stderr).unwrap()
}

#[test]
fn other_arguments_are_refused() {
    for arguments in [
        &["--resume"][..],
        &["--resumable", "yes"],
        &["--redis"],
        &["--redis", "redis://127.0.0.1/", "more"],
        &["--sqlite"],
        &["--sqlite", "replies.db", "more"],
    ] {
        let told = refusal(arguments);
        assert!(told.contains("usage: axum-server"), "{told}");
    }
}

#[cfg(not(feature = "redis"))]
#[test]
fn redis_needs_the_feature() {
    let told = refusal(&["--redis", "redis://:secret@127.0.0.1/"]);
    assert!(told.contains("feature `redis`"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn sqlite_needs_the_feature() {
    let told = refusal(&["--sqlite", "replies.db"]);
    assert!(told.contains("feature `sqlite`"), "{told}");
}

/// The responses of two agents.
#[cfg(feature = "redis")]
const ANALYST: &str = "analyst/v1/responses";
#[cfg(feature = "sqlite")]
const COUNTER: &str = "counter/v1/responses";

#[cfg(any(feature = "redis", feature = "sqlite"))]
/// Sends a request of the Responses API, and returns the status and the body of the answer.
fn respond(server: SocketAddr, key: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut client = Client::connect(server).unwrap();
    let headers = ["content-type: application/json", "connection: close", key];
    let path = format!("/agents/{path}");
    client
        .request(method, &path, &headers, body.as_bytes())
        .unwrap();
    let (head, body) = client.response().unwrap();
    (head.status, body)
}

#[cfg(any(feature = "redis", feature = "sqlite"))]
fn id_of(response: &str) -> &str {
    let start = response.find("resp_").unwrap();
    response[start..].split('"').next().unwrap()
}

/// With the feature `redis`, where `redis-server` is installed.
#[cfg(feature = "redis")]
mod redis {
    use std::fs::{self, File};
    use std::thread::sleep;
    use std::time::Duration;

    use server_tests::{Program, Redis};

    use super::{ALI, ANALYST, DOROTHY, begin, check, command, id_of, refusal, respond};

    #[test]
    fn several_servers_share_their_replies() {
        let redis = Redis::start().unwrap();
        let url = redis.url();
        let start = || Program::start(&mut command(&["--redis", &url])).unwrap();
        let (one, other) = (start(), start());
        check(one.address, other.address);
        check(other.address, one.address);
    }

    /// Its answers are ordinary ones until Redis is there. The log has a line for each change.
    #[test]
    fn it_starts_without_redis() {
        let mut redis = Redis::start().unwrap();
        redis.kill().unwrap();
        let name = format!("copilot-wire-axum-server-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        let log = || fs::read_to_string(&file).unwrap();
        let url = redis.url();
        let mut command = command(&["--redis", &url]);
        let server = Program::start(command.stderr(File::create(&file).unwrap())).unwrap();
        assert!(begin(server.address, "c0").contains("start"));
        let lost = "redis: connection failed: replies are not stored until Redis is back";
        assert_eq!(log().matches(lost).count(), 1, "{}", log());

        redis.restart().unwrap();
        while !log().contains("redis: connected again") {
            sleep(Duration::from_millis(20));
        }
        check(server.address, server.address);
        for line in [lost, "redis: connected again"] {
            assert_eq!(log().matches(line).count(), 1, "{}", log());
        }
        fs::remove_file(&file).unwrap();
    }

    /// The first server is killed (SIGKILL) after the first turn.
    #[test]
    fn a_conversation_goes_on_at_another_server() {
        let redis = Redis::start().unwrap();
        let url = redis.url();
        let start = || Program::start(&mut command(&["--redis", &url])).unwrap();
        let (one, other) = (start(), start());
        let first = r#"{"model":"analyst","input":"Yak."}"#;
        let (status, first) = respond(one.address, ALI, "POST", ANALYST, first);
        assert_eq!(status, 200, "{first}");
        drop(one);
        let second = format!(
            r#"{{"model":"analyst","input":"Zebra.","previous_response_id":"{}"}}"#,
            id_of(&first)
        );
        let (status, refused) = respond(other.address, DOROTHY, "POST", ANALYST, &second);
        assert_eq!(status, 400, "{refused}");
        assert!(refused.contains("previous_response_not_found"), "{refused}");
        let (status, second) = respond(other.address, ALI, "POST", ANALYST, &second);
        assert_eq!(status, 200, "{second}");
        // The analyst tells what it knows of.
        assert!(
            second.contains("There are 2 messages before it."),
            "{second}"
        );
        for (response, text) in [(&first, "Yak."), (&second, "Zebra.")] {
            let items = format!("{ANALYST}/{}/input_items", id_of(response));
            let (status, items) = respond(other.address, ALI, "GET", &items, "");
            assert_eq!(status, 200, "{items}");
            assert!(items.contains(text), "{items}");
        }
    }

    #[test]
    fn it_does_not_start_with_a_url_of_something_else() {
        let told = refusal(&["--redis", "redis+sentinel://:secret@127.0.0.1"]);
        assert!(told.contains("ends with the name of a master"), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}

/// With the feature `sqlite`: the server is killed and started again.
#[cfg(feature = "sqlite")]
mod sqlite {
    use std::fs::{self, File};
    use std::io::Read;
    use std::process::Command;

    use server_tests::Program;

    use super::{
        ALI, COUNTER, DOROTHY, ask, begin, chat, check, command, id_of, refusal, respond, send,
    };

    /// A file of a test's own.
    struct Store(String);

    impl Store {
        fn new(test: &str) -> Self {
            let name = format!("copilot-wire-axum-server-{}-{test}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder.to_str().unwrap().to_owned())
        }

        fn file(&self) -> String {
            format!("{}/store.db", self.0)
        }

        fn start(&self) -> Program {
            Program::start(&mut command(&["--sqlite", &self.file()])).unwrap()
        }
    }

    impl Drop for Store {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_reply_outlives_its_connection() {
        let store = Store::new("connection");
        let server = store.start();
        check(server.address, server.address);
    }

    #[test]
    fn replies_outlive_the_server() {
        let store = Store::new("replies");
        let server = store.start();
        let whole = send(server.address, ALI, "POST", "", &chat("whole"));
        let whole = { whole }.response().unwrap().1;
        assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
        let seen = begin(server.address, "cut");
        let mut reader = send(server.address, ALI, "GET", "/cut/stream", "");
        assert_eq!(reader.head().unwrap().status, 200);
        // Half of it, so that the beginning is stored.
        let mut half = Vec::new();
        while half.len() < whole.len() / 2 {
            half.extend(reader.chunk().unwrap());
        }
        // Dropping it is `kill -9`.
        drop(server);
        for _ in 0..2 {
            let server = store.start();
            for key in [DOROTHY, ALI] {
                assert_eq!(ask(server.address, key, "GET", "/none/stream").0, 204);
            }
            assert_eq!(ask(server.address, DOROTHY, "GET", "/whole/stream").0, 204);
            let (status, again) = ask(server.address, ALI, "GET", "/whole/stream");
            assert_eq!((status, again), (200, whole.clone()));
            let (status, cut) = ask(server.address, ALI, "GET", "/cut/stream");
            assert_eq!(status, 200);
            assert!(cut.starts_with(&seen), "{cut}");
            assert_eq!(cut.matches(r#""type":"error""#).count(), 1, "{cut}");
            assert!(!cut.contains(r#""type":"finish""#), "{cut}");
            // Whoever read it may have more of it than is stored, and never something else.
            let stored = cut.split(r#"data: {"type":"error""#).next().unwrap();
            let (stored, read) = (stored.as_bytes(), &half[..]);
            assert!(
                stored.starts_with(read) || read.starts_with(stored),
                "{cut}"
            );
        }
        let server = store.start();
        check(server.address, server.address);
    }

    #[test]
    fn a_conversation_outlives_the_server() {
        let store = Store::new("conversation");
        let mut last = r#"{"model":"counter","input":"turn zero"}"#.to_owned();
        let mut ids = Vec::new();
        for turn in ["one", "two", "three"] {
            let server = store.start();
            if !ids.is_empty() {
                let (status, refused) = respond(server.address, DOROTHY, "POST", COUNTER, &last);
                assert_eq!(status, 400, "{refused}");
                assert!(refused.contains("previous_response_not_found"), "{refused}");
            }
            let (status, response) = respond(server.address, ALI, "POST", COUNTER, &last);
            assert_eq!(status, 200, "{response}");
            let id = id_of(&response).to_owned();
            last = format!(
                r#"{{"model":"counter","input":"turn {turn}","previous_response_id":"{id}"}}"#
            );
            ids.push(id);
        }
        let server = store.start();
        for (id, turn) in ids.iter().zip(["zero", "one", "two"]) {
            let (status, response) =
                respond(server.address, ALI, "GET", &format!("{COUNTER}/{id}"), "");
            assert_eq!(status, 200, "{response}");
            assert!(response.contains("2 words."), "{response}");
            let items = format!("{COUNTER}/{id}/input_items");
            let (status, items) = respond(server.address, ALI, "GET", &items, "");
            assert_eq!(status, 200, "{items}");
            assert!(items.contains(turn), "{items}");
        }
        let (status, _) = respond(
            server.address,
            ALI,
            "DELETE",
            &format!("{COUNTER}/{}", ids[2]),
            "",
        );
        assert_eq!(status, 200);
        drop(server);
        let server = store.start();
        let (status, _) = respond(
            server.address,
            ALI,
            "GET",
            &format!("{COUNTER}/{}", ids[2]),
            "",
        );
        assert_eq!(status, 404);
    }

    /// A limit of 256 KiB for each file is a disk that is full.
    #[test]
    fn turns_go_on_where_the_disk_is_full() {
        let store = Store::new("full");
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 512; exec \"$0\" \"$@\""]);
        limited.arg(env!("CARGO_BIN_EXE_axum-server"));
        limited.args(["--sqlite", &store.file()]);
        limited
            .env("ADDRESS", "127.0.0.1:0")
            .env("API_KEYS", "ali=sesame");
        let server = Program::start(&mut limited).unwrap();
        let words = "word ".repeat(2000);
        let mut continued = 0;
        for turn in 0..20 {
            let body = format!(r#"{{"model":"counter","input":"{words}"}}"#);
            let (status, response) = respond(server.address, ALI, "POST", COUNTER, &body);
            assert_eq!(status, 200, "turn {turn}: {response}");
            assert!(response.contains("2000 words."), "{response}");
            let path = format!("{COUNTER}/{}", id_of(&response));
            continued += usize::from(respond(server.address, ALI, "GET", &path, "").0 == 200);
            let answer = begin(server.address, &format!("c{turn}"));
            assert!(answer.contains(r#""type":"start""#), "{answer}");
        }
        // Some were stored, and others had no space.
        assert!((1..20).contains(&continued), "{continued}");
        drop(server);
        // With space it is what it was.
        let server = store.start();
        check(server.address, server.address);
    }

    #[test]
    fn a_server_waits_for_the_one_before() {
        let store = Store::new("before");
        let mut one = store.start();
        let first = r#"{"model":"counter","input":"one"}"#;
        let (_, first) = respond(one.address, ALI, "POST", COUNTER, first);
        one.signal("TERM").unwrap();
        let other = store.start();
        assert!(one.wait().unwrap().success());
        let path = format!("{COUNTER}/{}", id_of(&first));
        assert_eq!(respond(other.address, ALI, "GET", &path, "").0, 200);
        let told = refusal(&["--sqlite", &store.file()]);
        assert!(told.contains("database is locked"), "{told}");
        // Nothing has happened to the one that has it.
        check(other.address, other.address);
    }

    #[test]
    fn it_does_not_start_with_a_file_that_it_cannot_use() {
        let store = Store::new("unusable");
        let text = format!("{}/text", store.0);
        fs::write(
            &text,
            "not a database, but a text of some length\n".repeat(100),
        )
        .unwrap();
        let missing = format!("{}/missing/store.db", store.0);
        drop(store.start());
        let read_only = format!("file:{}?mode=ro", store.file());
        for (file, reason) in [
            (&text, "file is not a database"),
            (&store.0, "unable to open database file"),
            (&missing, "unable to open database file"),
            (&read_only, "attempt to write a readonly database"),
        ] {
            let told = refusal(&["--sqlite", file]);
            assert!(
                told.contains(file.as_str()) && told.contains(reason),
                "{told}"
            );
        }
        let mut bytes = String::new();
        File::open(&text)
            .unwrap()
            .read_to_string(&mut bytes)
            .unwrap();
        assert!(bytes.starts_with("not a database"));
    }
}
