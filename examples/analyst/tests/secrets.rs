//! Nothing of what is secret in the settings is printed.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use analyst::{Analyst, Model};
use copilot_wire::protocol::Env;
use copilot_wire_kit::Harness;
use copilot_wire_kit::openai::OpenAiClient;

/// The lines that a log would show.
type Log = Arc<Mutex<String>>;

/// An environment that logs all reports.
fn logging(log: &Log) -> Env {
    let log = Arc::clone(log);
    Env::default().observe(move |turn| {
        log.lock().unwrap().push_str(&format!("{turn:?} {turn}"));
    })
}

/// Answers one request with `answer`, and returns its first line.
fn endpoint(answer: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = vec![0; 16 * 1024];
        let length = socket.read(&mut request).unwrap();
        socket.write_all(answer.as_bytes()).unwrap();
        request.truncate(length);
        let request = String::from_utf8(request).unwrap();
        request.lines().next().unwrap_or_default().to_owned()
    });
    (port, served)
}

#[tokio::test]
async fn the_address_of_the_model_is_printed_without_its_secrets() {
    let refused = "HTTP/1.1 500 Oops\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ndata";
    for answer in [refused, cut, "no HTTP"] {
        let (port, served) = endpoint(answer);
        let base = format!("http://user:SECRET@127.0.0.1:{port}/v1/?token=SECRET");
        let model = Model::new(&base, Some("SECRET".into()), "m".into()).unwrap();
        let printed = format!("{model:?}");
        assert!(!printed.contains("SECRET"), "{printed}");
        assert!(printed.contains("/v1/chat/completions"), "{printed}");

        let log = Log::default();
        let harness = Harness::new(OpenAiClient::new("analyst"), Analyst::new(Some(model)));
        let turn = harness.env(logging(&log)).prompt("Hello").await.unwrap();
        let log = log.lock().unwrap().clone();
        assert!(log.contains("Failed"), "{log}");
        assert!(!log.contains("SECRET"), "{log}");
        assert!(!turn.to_string().contains("SECRET"), "{turn}");
        let line = served.join().unwrap();
        assert_eq!(line, "POST /v1/chat/completions?token=SECRET HTTP/1.1");
    }
}
