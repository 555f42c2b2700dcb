//! The key sequence of the SDK against a key server on this machine, over real HTTP.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::github::verify::{CachedKeys, KeyId, KeySource};
use futures::executor::block_on;
use http::{Request, Response};
use serde_json::Value;

/// Answers one connection a step, and gives the head of every request that came.
fn serve(steps: Vec<Value>) -> (u16, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let answer = |step: &Value| {
            let (mut socket, _) = listener.accept().unwrap();
            let lines = BufReader::new(socket.try_clone().unwrap()).lines();
            let head: Vec<String> = lines
                .map(Result::unwrap)
                .take_while(|line| !line.is_empty())
                .collect();
            let response = &step["response"];
            let body = match &response["body"] {
                Value::Null => String::new(),
                body => body.to_string(),
            };
            let etag = response["headers"]["etag"].as_str();
            let etag = etag
                .map(|etag| format!("etag: {etag}\r\n"))
                .unwrap_or_default();
            let status = &response["status"];
            let length = body.len();
            write!(
                socket,
                "HTTP/1.1 {status} x\r\n{etag}content-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
            head.join("\n").to_lowercase()
        };
        steps.iter().map(answer).collect()
    });
    (port, server)
}

/// The plainest HTTP client that there can be.
fn fetch(request: &Request<()>) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
    let uri = request.uri();
    let authority = uri.authority().ok_or("no authority")?.as_str();
    let mut socket = TcpStream::connect(authority)?;
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: {authority}\r\n",
        request.method(),
        uri.path()
    );
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str()?));
    }
    socket.write_all(format!("{head}\r\n").as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no head")?;
    let mut lines = head.lines();
    let status: u16 = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .ok_or("?")?
        .parse()?;
    let mut response = Response::builder().status(status);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        response = response.header(name, value);
    }
    Ok(response.body(Bytes::from(body.to_owned()))?)
}

#[test]
fn rotation_over_a_socket() {
    let file = "fixtures/github-copilot/key-fetch-sequence.json";
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let sequence: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let steps = sequence["steps"].as_array().unwrap().clone();
    let (port, server) = serve(steps.clone());

    let hours = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&hours);
    let url = format!("http://127.0.0.1:{port}/meta/public_keys/copilot_api");
    let keys = CachedKeys::new(|request: Request<()>| async move { fetch(&request) })
        .url(url.parse().unwrap())
        .clock(move || Duration::from_secs(3600 * clock.load(Ordering::Relaxed)));

    let mut held: Vec<String> = Vec::new();
    for step in &steps {
        let wanted = match held.first() {
            Some(known) => KeyId::new(known).unwrap(),
            None => KeyId::new(&"0".repeat(64)).unwrap(),
        };
        let found = block_on(keys.keys(&wanted)).unwrap();
        if let Some(keys) = step["sdk"]["result"]["keys"].as_array() {
            let identifier = |key: &Value| key["key_identifier"].as_str().unwrap().to_owned();
            held = keys.iter().map(identifier).collect();
        }
        let identifiers: Vec<_> = found
            .iter()
            .map(|key| key.identifier().as_str().to_owned())
            .collect();
        assert_eq!(identifiers, held);
        hours.fetch_add(1, Ordering::Relaxed);
    }
    let heads = server.join().unwrap();
    for (head, step) in heads.iter().zip(&steps) {
        assert!(
            head.starts_with("get /meta/public_keys/copilot_api"),
            "{head}"
        );
        let tag = step["request"]["headers"]["if-none-match"].as_str();
        assert_eq!(head.contains("if-none-match"), tag.is_some(), "{head}");
        assert!(
            tag.is_none_or(|tag| head.contains(&tag.to_lowercase())),
            "{head}"
        );
    }
}
