//! The program, in a process of its own.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use server_tests::Program;

const ANSWER: &str = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"{\"thoughts\":{\"speak\":\"Tea is green.\"},\"command\":{\"name\":\"task_complete\",\"args\":{\"reason\":\"Done\"}}}"},"finish_reason":"stop"}]}

data: [DONE]

"#;

/// Answers one request, some time after it has come; returns the address.
fn slow_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 16 * 1024]).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let length = ANSWER.len();
        let head =
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        socket.write_all((head + ANSWER).as_bytes()).unwrap();
    });
    format!("http://{address}")
}

#[test]
fn a_signal_lets_a_turn_finish() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_autogpt"));
    command.args(["--serve", "--port", "0"]);
    command.env("OPENAI_BASE_URL", slow_model());
    command.env("AUTOGPT_WORKSPACE", folder.path());
    let program = Program::start(&mut command).unwrap();
    let stopped = program.stop_while_streaming("TERM", "autogpt", "Tea");
    let (answer, status) = stopped.unwrap();
    assert!(answer.contains("Tea is green."), "{answer}");
    assert!(answer.ends_with("data: [DONE]\n\n"), "{answer}");
    assert!(status.success(), "{status}");
}
