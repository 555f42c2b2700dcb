//! `wire sign` and `wire keys`.

use std::io::{Read, Write};
use std::net::TcpStream;

use copilot_wire::github::Mount;
use copilot_wire::github::verify::{KeySet, verify};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::program::{Running, run};
use crate::server::Server;

const BODY: &str = "{\"messages\":[{\"role\":\"user\",\"content\":\"it's\"}]}\n";

/// The body of what is at an address.
fn fetch(url: &str) -> Vec<u8> {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut socket = TcpStream::connect(host).unwrap();
    write!(
        socket,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = Vec::new();
    socket.read_to_end(&mut response).unwrap();
    assert!(response.starts_with(b"HTTP/1.1 200"));
    let head = response
        .windows(4)
        .position(|end| end == b"\r\n\r\n")
        .unwrap();
    response.split_off(head + 4)
}

fn headers(lines: &str) -> HeaderMap {
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        let value = HeaderValue::from_str(value).unwrap();
        (name.parse::<HeaderName>().unwrap(), value)
    };
    lines.lines().map(header).collect()
}

#[test]
fn what_is_signed_verifies_with_the_keys_that_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.key");
    let key = path.to_str().unwrap();
    let signed = run(&["sign", "--key", key], BODY);
    assert_eq!(signed.status, 0, "{}", signed.err);
    assert!(signed.err.contains("made a new test key"), "{}", signed.err);
    assert!(
        signed.out.contains("\nGithub-Public-Key-Signature: ")
            || signed.out.starts_with("Github-Public-Key-Identifier: "),
        "{}",
        signed.out
    );
    let seed = std::fs::read_to_string(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    let serving = Running::new(&["keys", "--key", key]);
    let document = fetch(&serving.line());
    let keys = KeySet::from_json(&document).unwrap();
    verify(BODY.as_bytes(), &headers(&signed.out), &keys).unwrap();
    assert!(verify(BODY.trim().as_bytes(), &headers(&signed.out), &keys).is_err());

    let again = run(&["sign", "--key", key], BODY);
    assert_eq!(again.err, "");
    verify(BODY.as_bytes(), &headers(&again.out), &keys).unwrap();
    for text in [
        &signed.out,
        &signed.err,
        &again.out,
        &String::from_utf8(document).unwrap(),
    ] {
        assert!(!text.contains(seed.trim()));
    }
}

#[cfg(unix)]
#[test]
fn the_curl_command_sends_the_body_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("test.key");
    let args = [
        "sign",
        "--key",
        key.to_str().unwrap(),
        "--curl",
        "http://127.0.0.1:1/a'b",
    ];
    let command = run(&args, BODY).out;
    assert!(command.starts_with("curl "), "{command}");
    // A shell reads it back; `printf` in the place of curl shows the arguments.
    let script = command.replacen("curl", "printf '%s\\0'", 1);
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let arguments: Vec<_> = output.split('\0').collect();
    assert!(
        arguments.contains(&"http://127.0.0.1:1/a'b"),
        "{arguments:?}"
    );
    assert!(arguments.contains(&BODY), "{arguments:?}");
    assert!(
        arguments
            .iter()
            .any(|text| text.starts_with("Github-Public-Key-Signature: "))
    );
}

#[test]
fn a_file_that_is_no_key_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    std::fs::write(&path, "something else").unwrap();
    let seen = run(&["sign", "--key", path.to_str().unwrap()], BODY);
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert!(!seen.err.contains("something"), "{}", seen.err);
    assert_eq!(std::fs::read(&path).unwrap(), b"something else");
}

struct Greeter;

#[async_trait]
impl<P: Protocol> Agent<P> for Greeter {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text("Verified.").await?)
    }
}

#[test]
fn a_chat_can_be_signed() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("test.key");
    let key = key.to_str().unwrap();
    let serving = Running::new(&["keys", "--key", key, "--json"]);
    let line: serde_json::Value = serde_json::from_str(&serving.line()).unwrap();
    let keys = KeySet::from_json(&fetch(line["url"].as_str().unwrap())).unwrap();
    let server = Server::new(Router::new().mount(Mount::verified(keys), Greeter).unwrap());
    let url = server.url("/github");
    let seen = run(
        &["chat", &url, "-p", "github", "-m", "hi", "--key", key],
        "",
    );
    assert_eq!((seen.status, &*seen.out), (0, "Verified.\n"));
    let other = folder.path().join("other.key");
    let seen = run(
        &[
            "chat",
            &url,
            "-p",
            "github",
            "-m",
            "hi",
            "--key",
            other.to_str().unwrap(),
        ],
        "",
    );
    assert_eq!(seen.status, 1);
    assert!(seen.out.contains("refused with 401"), "{}", seen.out);
}
