//! With nothing set, an error is visible in the terminal, and silence is no dead connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program. Dropping it kills it.
struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_first-server"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = process.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        Self(process, address.trim().to_owned())
    }

    fn ask(&self, prompt: &str) -> TcpStream {
        let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
        let mut stream = TcpStream::connect(&self.1).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(40)))
            .unwrap();
        write!(
            stream,
            "POST /v1/query HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_error_is_a_line_in_the_terminal() {
    let mut server = Server::start();
    let mut answer = String::new();
    server.ask("fail").read_to_string(&mut answer).unwrap();
    assert!(answer.contains("Sorry, something went wrong"), "{answer}");
    assert!(!answer.contains("the disk is full"), "{answer}");
    server.0.kill().unwrap();
    let mut terminal = String::new();
    let errors = server.0.stderr.as_mut().unwrap();
    errors.read_to_string(&mut terminal).unwrap();
    let line = "copilot-wire: openbb turn at /v1/query failed: the disk is full, at ";
    assert!(terminal.starts_with(line), "{terminal}");
    assert_eq!(terminal.lines().count(), 1, "{terminal}");
}

#[test]
fn a_silence_of_20_seconds_carries_a_ping() {
    let server = Server::start();
    let mut stream = server.ask("wait");
    let (start, mut answer) = (Instant::now(), Vec::new());
    let mut piece = [0; 1024];
    while !answer.windows(8).any(|bytes| bytes == b": ping\n\n") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&piece[..read]);
    }
    assert!(
        start.elapsed() < Duration::from_secs(19),
        "{:?}",
        start.elapsed()
    );
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("late"), "{rest}");
}
