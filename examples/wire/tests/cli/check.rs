//! `wire check`.

use std::net::TcpListener;
use std::time::Duration;

use analyst::Analyst;
use copilot_wire::Router;
use copilot_wire::github::Mount;
use copilot_wire::github::verify::RequestSigner;

use crate::program::run;
use crate::server::Server;

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn analyst() -> Analyst {
    Analyst::new(None).pace(Duration::ZERO)
}

#[test]
fn a_sound_agent_passes() {
    let server = Server::new(Router::new().meilisearch(analyst()).unwrap());
    let seen = run(&["check", &server.url(""), "-p", "meilisearch"], "");
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    assert!(seen.out.contains("0 errors"), "{}", seen.out);
}

#[test]
fn signatures_are_judged_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("test.key");
    std::fs::write(&key, SEED).unwrap();
    let keys = RequestSigner::from_seed(SEED.as_bytes()).key_set();
    let router = Router::new().github(Mount::verified(keys), analyst());
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
    let server = Server::new(Router::new().openai("analyst", analyst()).unwrap());
    let url = server.url("/other/chat/completions");
    let seen = run(&["check", &url, "-p", "openai"], "");
    assert_eq!((seen.status, &*seen.err), (1, ""), "{}", seen.out);
    assert!(seen.out.contains("error: "), "{}", seen.out);
    assert!(seen.out.contains("404"), "{}", seen.out);
}

#[test]
fn nobody_there_cannot_be_judged() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let seen = run(&["check", &format!("http://{free}"), "-p", "openbb"], "");
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert!(seen.err.contains("cannot connect"), "{}", seen.err);
}
