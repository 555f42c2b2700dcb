//! `wire check`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use analyst::Analyst;
use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::github::RequestSigner;

use crate::program::{Running, run};
use crate::relay::Relay;
use crate::report::Files;
use crate::server::Server;

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn analyst() -> Analyst {
    Analyst::new(None).pace(Duration::ZERO)
}

#[test]
fn a_sound_agent_passes() {
    let server = Server::new(
        Router::new()
            .mount(copilot_wire::meilisearch::Mount::new(), analyst())
            .unwrap(),
    );
    let seen = run(&["check", &server.url(""), "-p", "meilisearch"], "");
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    assert!(seen.out.contains("0 errors"), "{}", seen.out);
}

#[cfg(feature = "acp")]
#[test]
fn an_agent_for_editors_is_started_and_judged() {
    let router = Router::new().mount(copilot_wire::openai::Model::new("analyst"), analyst());
    let server = Server::new(router.unwrap());
    let wire = env!("CARGO_BIN_EXE_wire");
    let url = server.url("/v1/chat/completions");
    let agent = format!("{wire} acp --endpoint {url} --protocol openai");
    let seen = run(&["check", &agent, "-p", "acp"], "");
    assert_eq!(seen.status, 0, "{} {}", seen.out, seen.err);
    assert!(seen.out.starts_with("0 errors, "), "{}", seen.out);
    let seen = run(&["check", "/there/is/none", "-p", "acp"], "");
    assert_eq!(seen.status, 2);
    assert!(seen.err.contains("/there/is/none: "), "{}", seen.err);
    // A program that is no agent.
    let seen = run(&["check", &format!("{wire} --version"), "-p", "acp"], "");
    assert_eq!(seen.status, 1, "{} {}", seen.out, seen.err);
    // It has no endpoint to talk to.
    let seen = run(&["chat", "http://127.0.0.1:1", "-p", "acp"], "");
    assert_eq!(seen.status, 2, "{}", seen.out);
}

fn openbb(query: &str) -> Router {
    let descriptor = Descriptor::new("analyst", "Analyst", "Analyses").path(query);
    Router::new().mount(descriptor, analyst()).unwrap()
}

/// Says what no front end wants to hear.
struct Mute;

#[async_trait]
impl<P: Protocol> Agent<P> for Mute {
    async fn answer(&self, _: Request<P>, _: Reply<P>) -> Result<(), AgentError> {
        Ok(())
    }
}

#[test]
fn a_model_that_the_endpoint_does_not_have_is_not_judged() {
    let server = Server::new(
        Router::new()
            .mount(copilot_wire::openai::Model::new("analyst"), analyst())
            .unwrap(),
    );
    let url = server.url("");
    let seen = run(&["check", &url, "-p", "openai", "--model", "parrot"], "");
    assert_eq!((seen.status, &*seen.out), (2, ""), "{}", seen.out);
    assert!(
        seen.err.contains("no model \"parrot\", only: analyst"),
        "{}",
        seen.err
    );
}

#[test]
fn an_agent_below_a_path_is_found() {
    let server = Server::new(openbb("/v1/query"));
    let relay = Relay::new(server.address);
    let seen = run(&["check", &relay.url("/"), "-p", "openbb"], "");
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    assert!(seen.out.starts_with("0 errors, "), "{}", seen.out);
}

#[test]
fn an_agent_is_asked_where_its_descriptor_says() {
    let server = Server::new(openbb("/v1/query"));
    let relay = Relay::new(server.address);
    // The agent beside the descriptor is another one.
    let descriptor = Descriptor::new("elsewhere", "Elsewhere", "Is elsewhere");
    let descriptor = descriptor.url(relay.url("/v1/query"));
    let describes = Server::new(Router::new().mount(descriptor, Mute).unwrap());
    let seen = run(&["check", &describes.url(""), "-p", "openbb"], "");
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    assert!(seen.out.starts_with("0 errors, "), "{}", seen.out);
    let heads = relay.heads();
    let asked = |head: &String| head.starts_with("POST /base/v1/query ");
    assert!(heads.iter().any(asked), "{heads:?}");
}

#[test]
fn headers_are_not_sent_with_a_preflight() {
    let server = Server::new(openbb("/v1/query"));
    let relay = Relay::new(server.address);
    let header = "x-api-key: k3y";
    let seen = run(
        &["check", &relay.url("/"), "-p", "openbb", "-H", header],
        "",
    );
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    let heads = relay.heads();
    for (method, sent) in [("POST ", true), ("OPTIONS ", false)] {
        let mut heads = heads
            .iter()
            .filter(|head| head.starts_with(method))
            .peekable();
        assert!(heads.peek().is_some());
        assert!(heads.all(|head| head.contains(header) == sent), "{method}");
    }
}

#[test]
fn a_query_without_a_path_is_refused() {
    for address in [
        "http://127.0.0.1:9?key=s3cret",
        "http://127.0.0.1:9/base/?key=s3cret",
    ] {
        let seen = run(&["check", address, "-p", "openbb"], "");
        assert_eq!((seen.status, &*seen.out), (2, ""), "{address}");
        assert!(seen.err.contains("before its query"), "{}", seen.err);
        assert!(!seen.err.contains("s3cret"), "{}", seen.err);
    }
}

#[test]
fn signatures_are_judged_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("test.key");
    std::fs::write(&key, SEED).unwrap();
    let keys = RequestSigner::from_seed(SEED.as_bytes()).key_set();
    let router = Router::new().mount(Mount::verified(keys), analyst());
    let server = Server::new(router.unwrap());
    let url = server.url("/github");
    let args = [
        "check",
        &url,
        "-p",
        "github",
        "--json",
        "--key",
        key.to_str().unwrap(),
    ];
    let seen = run(&args, "");
    let report = &seen.json()[0];
    assert_eq!(seen.status, 0, "{report}");
    let passed = report["passed"].as_array().unwrap();
    assert!(passed.contains(&"github/forged".into()), "{report}");
}

#[test]
fn an_agent_that_is_not_there_fails() {
    let server = Server::new(
        Router::new()
            .mount(copilot_wire::openai::Model::new("analyst"), analyst())
            .unwrap(),
    );
    let url = server.url("/other/chat/completions");
    let seen = run(&["check", &url, "-p", "openai"], "");
    assert_eq!((seen.status, &*seen.err), (1, ""), "{}", seen.out);
    assert!(seen.out.contains("error: "), "{}", seen.out);
    assert!(seen.out.contains("404"), "{}", seen.out);
}

#[test]
fn an_unreachable_server_cannot_be_checked() {
    // Port 1 is not for servers; a port that was free may be taken by the next test.
    let seen = run(&["check", "http://127.0.0.1:1", "-p", "openbb"], "");
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert!(seen.err.contains("cannot connect"), "{}", seen.err);
}

/// A server whose first answer has the wrong type, and the next ones never come.
#[cfg(unix)]
#[test]
fn what_was_found_before_ctrl_c_is_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://{}/chats/a/chat/completions",
        listener.local_addr().unwrap()
    );
    let files = Files::new();
    let args = ["check", &url, "-p", "meilisearch"];
    let running = Running::new(&[&args[..], &files.options()].concat());
    let mut buffer = [0; 4096];
    // Somebody is there.
    drop(listener.accept().unwrap());
    let (mut first, _) = listener.accept().unwrap();
    assert!(first.read(&mut buffer).unwrap() > 0);
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n";
    first.write_all(head.as_bytes()).unwrap();
    drop(first);
    let (mut second, _) = listener.accept().unwrap();
    assert!(second.read(&mut buffer).unwrap() > 0);
    running.interrupt();
    let out = running.rest().join("\n");
    assert!(out.contains("error: http/content-type"), "{out}");
    let (status, err) = running.end();
    assert_eq!(status, Some(1), "{err}");
    assert!(err.starts_with("wire: stopped at request 2 of 1"), "{err}");
    for (file, text) in [
        (files.html, "The check was stopped at request 2 of 1"),
        (
            files.junit,
            "<error type=\"stopped\" message=\"stopped at request 2 of 1",
        ),
    ] {
        let report = std::fs::read_to_string(file).unwrap();
        assert!(report.contains(text), "{report}");
        assert!(report.contains("http/content-type"), "{report}");
    }
}

/// With a slash at its end and without, an address below which agents are is that of a server.
#[test]
fn a_server_below_a_path_is_found() {
    let descriptor = Descriptor::new("analyst", "Analyst", "Analyses");
    let router = Router::new()
        .base_path("/agents")
        .playground()
        .and_then(|router| router.mount(descriptor, analyst()))
        .and_then(|router| router.mount(copilot_wire::openai::Model::new("analyst"), analyst()))
        .unwrap();
    let server = Server::new(router);
    for path in ["/agents", "/agents/"] {
        for protocol in ["openbb", "openai"] {
            let seen = run(&["check", &server.url(path), "-p", protocol], "");
            assert_eq!(seen.status, 0, "{path} {protocol}: {}", seen.out);
            assert!(seen.out.contains("0 errors"), "{}", seen.out);
        }
    }
}
