//! `wire chat`, and answers that are none or not whole.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use crate::program::run;

/// Answers each connection with a body, or hangs up without one; then gives what was asked. Requests
/// without a body, which ask what the address is, are refused.
fn answering(bodies: &'static [Option<&str>]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let answer = |body: &Option<&str>| {
            let (mut socket, request) = loop {
                let (mut socket, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !request.ends_with(b"}") && !request.ends_with(b"\r\n\r\n") {
                    let count = socket.read(&mut buffer).unwrap();
                    assert!(count > 0, "the request breaks off");
                    request.extend_from_slice(&buffer[..count]);
                }
                if request.ends_with(b"}") {
                    break (socket, request);
                }
                let refused = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
                socket.write_all(refused.as_bytes()).unwrap();
            };
            if let Some(body) = body {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                            connection: close\r\n\r\n";
                write!(socket, "{head}{body}").unwrap();
            }
            String::from_utf8(request).unwrap()
        };
        bodies.iter().map(answer).collect()
    });
    (url, served)
}

#[test]
fn a_stream_that_breaks_off_is_wrong() {
    let (url, served) = answering(&[Some(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n",
    )]);
    let url = format!("{url}/chat/completions");
    let seen = run(
        &["chat", &url, "-p", "openai", "--model", "m", "-m", "x"],
        "",
    );
    served.join().unwrap();
    assert_eq!(seen.status, 1);
    assert!(seen.out.starts_with("Half\nWRONG: "), "{}", seen.out);
}

#[test]
fn an_answer_that_ends_inside_an_event_is_wrong() {
    let (url, served) = answering(&[Some(
        "event: copilotMessageChunk\ndata: {\"delta\":\"Hi\"}\n",
    )]);
    let seen = run(&["chat", &url, "-p", "openbb", "-m", "x"], "");
    served.join().unwrap();
    assert_eq!(seen.status, 1);
    assert_eq!(seen.out, "WRONG: the answer ends inside an event\n");
}

#[test]
fn an_empty_answer_is_reported() {
    for body in [
        ": ping\n\n",
        "event: copilotMessageChunk\ndata: {\"delta\":\"\"}\n\n",
    ] {
        let bodies: &[_] = Box::leak(Box::new([Some(body)]));
        let (url, served) = answering(bodies);
        let seen = run(&["chat", &url, "-p", "openbb", "-m", "x"], "");
        served.join().unwrap();
        assert_eq!((seen.status, &*seen.out), (0, "(no answer)\n"), "{body}");
    }
}

#[test]
fn a_message_without_an_answer_is_reported_and_not_counted() {
    const ONE: Option<&str> = Some("event: copilotMessageChunk\ndata: {\"delta\":\"1\"}\n\n");
    let (url, served) = answering(&[ONE, None, ONE]);
    let seen = run(&["chat", &url, "-p", "openbb"], "first\nlost\nlast\n");
    let asked = served.join().unwrap();
    assert_eq!((seen.status, &*seen.out), (1, "1\n1\n"), "{}", seen.err);
    assert!(
        seen.err.starts_with("wire: the request failed"),
        "{}",
        seen.err
    );
    assert!(asked[1].contains("lost"), "{}", asked[1]);
    let last = &asked[2];
    assert!(last.contains("first") && !last.contains("lost"), "{last}");
}

#[test]
fn a_last_message_without_an_answer_is_a_failure() {
    let (url, served) = answering(&[None, None]);
    let seen = run(&["chat", &url, "-p", "openbb"], "one\ntwo\n");
    served.join().unwrap();
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert_eq!(
        seen.err.matches("wire: the request failed").count(),
        2,
        "{}",
        seen.err
    );
}
