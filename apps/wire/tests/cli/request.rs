//! `wire request`.

use std::fs;

use crate::program::{fixture, run};

#[test]
fn every_recorded_request_is_read() {
    let folders = [
        ("openbb", "openbb", "req_"),
        ("github", "github-copilot", "req-"),
        ("meilisearch", "meilisearch", "request_"),
    ];
    // Requests that are wrong on purpose.
    let odd = ["req-expected.json", "request_user_tool.json"];
    for (front, folder, prefix) in folders {
        let mut count = 0;
        for file in fs::read_dir(fixture(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !name.starts_with(prefix) || odd.contains(&&*name) {
                continue;
            }
            let path = path.to_str().unwrap();
            let seen = run(&["request", "-p", front, path, "--json"], "");
            assert_eq!(seen.status, 0, "{name}: {}{}", seen.out, seen.err);
            assert_eq!(seen.json()[0]["protocol"], front);
            let seen = run(&["request", "-p", front, path], "");
            assert!(seen.out.starts_with("protocol"), "{name}: {}", seen.out);
            count += 1;
        }
        assert!(count > 3, "{folder}");
    }
}

#[test]
fn an_agent_sees_what_is_shown() {
    let file = fixture("openbb/req_v2_full.json");
    let seen = run(
        &[
            "request",
            "-p",
            "openbb",
            "--json",
            &file,
            "-H",
            "X-Trace-Id: chat-1",
        ],
        "",
    );
    let seen = &seen.json()[0];
    assert_eq!(seen["conversation"], "chat-1");
    assert_eq!(seen["prompt"], "Go on.");
    assert_eq!(seen["openbb"]["era"], "V2");
    assert_eq!(seen["openbb"]["primary"][0]["name"], "Stock Price");
    assert_eq!(seen["openbb"]["options"][0]["id"], "web-search");

    let file = fixture("github-copilot/req-redacted.json");
    let seen = run(
        &[
            "request",
            "-p",
            "github",
            "--json",
            &file,
            "-H",
            "x-github-token: s3cret",
        ],
        "",
    );
    assert!(!seen.out.contains("s3cret"));
    let seen = &seen.json()[0];
    assert_eq!(seen["github"]["token"], true);
    assert_eq!(seen["github"]["withheld"][1]["type"], "github.repository");

    let file = fixture("github-copilot/req-confirmation-accepted.json");
    let seen = run(&["request", "-p", "github", "--json", &file], "");
    assert_eq!(seen.json()[0]["answer"]["accepted"], true);
}

#[test]
fn keys_and_tokens_are_not_shown() {
    let body = r#"{"messages":[{"role":"human","content":"hi"}],
        "api_keys":{"openai_api_key":"sk-s3cret"},
        "tools":[{"server_id":"1","name":"s_t","auth_token":"t0ken"}]}"#;
    for args in [
        &["request", "-p", "openbb"][..],
        &["request", "-p", "openbb", "--json"],
    ] {
        let seen = run(args, body);
        assert_eq!(seen.status, 0);
        assert!(
            !seen.out.contains("s3cret") && !seen.out.contains("t0ken"),
            "{}",
            seen.out
        );
        assert!(
            seen.out.contains("token"),
            "that there is one is shown: {}",
            seen.out
        );
    }
}

#[test]
fn a_refusal_names_the_place() {
    let seen = run(&["request", "-p", "openai"], r#"{"messages":[{"role": }]}"#);
    assert_eq!(seen.status, 1);
    assert!(seen.out.contains("400"), "{}", seen.out);
    assert!(seen.out.contains("messages[0].role"), "{}", seen.out);
    let seen = run(&["request", "-p", "openbb", "--json"], r#"{"messages":[]}"#);
    assert_eq!(seen.status, 1);
    assert_eq!(seen.json()[0]["refused"]["status"], 422);
    assert_eq!(seen.json()[0]["refused"]["path"], "messages");
}

#[test]
fn a_header_that_cannot_be_is_refused_without_its_value() {
    for header in ["s3cret", "a b: s3cret", "name: s3cret\u{1}"] {
        let seen = run(&["request", "-p", "openai", "-H", header], "{}");
        assert_eq!(seen.status, 2, "{header:?}");
        assert!(!seen.err.contains("s3cret"), "{}", seen.err);
        assert!(seen.err.contains("header 1"), "{}", seen.err);
    }
}
