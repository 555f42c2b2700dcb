//! The program, in a process of its own.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, missing_docs)]
#![cfg(unix)]

use std::process::Command;

use server_tests::{Client, Nginx, Place, Program, Response, crowd, stress};

const KEY: &str = "authorization: Bearer sesame";
const OTHER_KEY: &str = "x-api-key: poppy";

fn start(settings: &[(&str, &str)]) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-server"));
    command.env("ADDRESS", "127.0.0.1:0");
    command.env("API_KEYS", "ali=sesame,dorothy=poppy");
    Program::start(command.envs(settings.iter().copied())).unwrap()
}

fn ask(program: &Program, path: &str, key: &str, prompt: &str) -> (Response, String) {
    let mut client = Client::connect(program.address).unwrap();
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#);
    let headers = ["content-type: application/json", key];
    client
        .request("POST", path, &headers, body.as_bytes())
        .unwrap();
    client.response().unwrap()
}

fn get(program: &Program, path: &str, key: &str) -> (Response, String) {
    let mut client = Client::connect(program.address).unwrap();
    client.request("GET", path, &[key], b"").unwrap();
    client.response().unwrap()
}

#[test]
fn three_agents_answer_who_has_a_key_and_are_counted() {
    let program = start(&[]);
    let (head, document) = get(&program, "/agents/agents.json", KEY);
    assert_eq!(head.status, 200);
    for (id, answer) in [
        ("analyst", "data: "),
        ("butler", "At your service, ali."),
        ("counter", "2 words."),
    ] {
        let path = format!("/agents/{id}/query");
        assert!(document.contains(&path), "{document}");
        let (head, reply) = ask(&program, &path, KEY, "Hello there");
        assert_eq!(head.status, 200, "{id}");
        assert!(reply.contains(answer), "{reply}");
        let (_, models) = get(&program, &format!("/agents/{id}/v1/models"), KEY);
        assert_eq!(models.matches("\"id\"").count(), 1, "{models}");
        let path = format!("/agents/{id}/v1/messages");
        let (head, _) = ask(&program, &path, KEY, "Hello there");
        assert_eq!(head.status, 200, "{id}");
    }
    for key in [OTHER_KEY, "authorization: bearer poppy"] {
        let (_, reply) = ask(&program, "/agents/butler/query", key, "Hello");
        assert!(reply.contains("At your service, dorothy."), "{reply}");
    }

    for key in ["x-api-key: sesam", "authorization: Bearer", "x-none: 1"] {
        let (head, reply) = ask(&program, "/agents/butler/query", key, "Hello");
        assert_eq!(head.status, 401, "{key}");
        assert_eq!(head.header("www-authenticate"), Some("Bearer"));
        assert!(reply.contains("unauthorized"), "{reply}");
        assert_eq!(get(&program, "/agents/agents.json", key).0.status, 401);
    }

    let (_, metrics) = get(&program, "/metrics", "accept: text/plain");
    for line in [
        r#"agent_turns_total{protocol="openbb",path="/agents/butler/query",outcome="answered"} 3"#,
        r#"agent_turns_total{protocol="openbb",path="/agents/butler/query",outcome="refused"} 3"#,
        r#"agent_turns_total{protocol="openbb",path="/agents/counter/query",outcome="answered"} 1"#,
        r#"agent_turns_total{protocol="anthropic",path="/agents/counter/v1/messages",outcome="answered"} 1"#,
        r#"agent_turns_total{protocol="anthropic",path="/agents/butler/v1/messages",outcome="answered"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[test]
fn a_key_has_a_limit_of_its_own() {
    let program = start(&[("PER_MINUTE", "2")]);
    let statuses = |key| -> Vec<u16> {
        // Enough for two minutes, should a new one begin.
        let ask = |_| ask(&program, "/agents/counter/query", key, "Hello").0;
        let answers: Vec<_> = (0..5).map(ask).collect();
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            assert_eq!(answer.status, 429);
            let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait));
        }
        answers.iter().map(|answer| answer.status).collect()
    };
    for key in [KEY, OTHER_KEY] {
        let statuses = statuses(key);
        assert_eq!(statuses.first(), Some(&200), "{statuses:?}");
        assert!(statuses.contains(&429), "{statuses:?}");
    }
}

#[test]
fn a_signal_lets_streams_finish() {
    let mut program = start(&[]);
    let mut client = Client::connect(program.address).unwrap();
    let body =
        r#"{"model":"analyst","stream":true,"messages":[{"role":"user","content":"Hello"}]}"#;
    let headers = ["content-type: application/json", "connection: close", KEY];
    client
        .request(
            "POST",
            "/agents/analyst/v1/chat/completions",
            &headers,
            body.as_bytes(),
        )
        .unwrap();
    client.head().unwrap();
    let mut answer = client.chunk().unwrap();
    program.signal("TERM").unwrap();
    loop {
        let chunk = client.chunk().unwrap();
        if chunk.is_empty() {
            break;
        }
        answer.extend(chunk);
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.ends_with("data: [DONE]\n\n"), "{answer}");
    assert!(program.wait().unwrap().success());
}

#[test]
fn without_keys_it_does_not_start() {
    for keys in ["", "ali", "ali=", "=sesame", "ali=sesame,"] {
        let output = Command::new(env!("CARGO_BIN_EXE_axum-server"))
            .env("API_KEYS", keys)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{keys}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            told.contains("it must be like user=key,user=key") && !told.contains("sesame"),
            "{told}"
        );
    }
}

/// With half as many turns as there are uploads that stall.
#[test]
fn a_crowd_keeps_nobody_out() {
    let limited = "ulimit -n 256; exec \"$0\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_axum-server")]);
    command.env("ADDRESS", "127.0.0.1:0");
    command.env("API_KEYS", "ali=sesame").env("TURNS", "20");
    let program = Program::start(&mut command).unwrap();
    let place = Place {
        path: "/agents/counter/query",
        key: KEY,
    };
    crowd(program.address, place).unwrap();
}

/// The router's budget for bodies is 256 MiB, whoever has a key.
#[test]
fn what_never_ends_costs_a_bounded_amount_and_keeps_nobody_out() {
    let place = Place {
        path: "/agents/counter/query",
        key: KEY,
    };
    let cost = stress(|| start(&[("PER_MINUTE", "1000")]), place).unwrap();
    println!("{cost:?}");
    for memory in [cost.uploads, cost.bodies, cost.silent] {
        assert!(memory < 320 << 20, "{cost:?}");
    }
}

/// nginx speaks HTTP/1.0 to its upstream by default, where a stream that is cut looks like one that has ended.
#[test]
fn a_long_answer_fails_when_the_server_stops() {
    let program = start(&[]);
    let location = format!("location / {{ proxy_pass http://{}; }}", program.address);
    let nginx = Nginx::start(&location).unwrap();
    let addresses: Vec<_> = [program.address]
        .into_iter()
        .chain(nginx.as_ref().map(|nginx| nginx.address))
        .collect();
    let place = Place {
        path: "/agents/analyst/v1/chat/completions",
        key: KEY,
    };
    let (answers, status) = program.stop_in_long_answers(&addresses, place).unwrap();
    for answer in answers {
        let end = answer.rsplit("\n\n").nth(1).unwrap();
        assert!(end.contains("The server is shutting down"), "{end}");
        assert!(!answer.contains("finish_reason\":\"stop"), "{end}");
    }
    assert!(status.success(), "{status}");
}
