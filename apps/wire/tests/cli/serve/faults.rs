//! Servers of models that fail or are odd.

use serde_json::{Value, json};
use server_tests::Client;

use super::{FRONT_ENDS, Gateway, KEY, call, calls, chunk, hello};
use crate::program::run;
use crate::upstream::{Script, Upstream, response, stream};

const NO_ANSWER: &str = "The model's server did not answer.";
const KEY_REFUSED: &str = "The model's server did not accept the key of this server.";
const NO_MODEL: &str = "The model's server does not know the model.";
const BUSY: &str = "The model's server is busy.";
const FAILED: &str = "The model's server failed.";
const BROKE: &str = "The model's answer broke off.";
const NONSENSE: &str = "The model's server sent something that is not an answer.";
const CALL: &str = "The model made a call that is not complete.";
const NOT_HERE: &str = "The model made a call that is not possible here.";

/// A server that closes the connection.
fn nothing() -> Script {
    Script {
        bytes: Vec::new(),
        ..response("", "", "")
    }
}

#[test]
fn every_front_end_says_what_is_wrong_and_the_log_the_cause() {
    let html = "<!DOCTYPE html><html>sk-upstream</html>";
    let error = json!({"error": {"type": "odd_error", "code": "odd", "message": "sk-upstream"}})
        .to_string();
    let json_type = "content-type: application/json\r\n";
    let half = chunk(&json!({"content": "Half"}), None);
    let table = [
        (
            response("200 OK", "content-type: text/html\r\n", html),
            NONSENSE,
            "not a stream",
        ),
        (response("200 OK", json_type, &error), FAILED, "odd"),
        (
            stream(half.clone() + &format!("data: {error}\n\n")),
            FAILED,
            "odd",
        ),
        (
            response("200 OK", "content-encoding: gzip\r\n", b"\x1f\x8b\x08\0\0"),
            NONSENSE,
            "content-encoding",
        ),
        (stream(&half), BROKE, "ended before"),
        (stream(""), BROKE, "ended before"),
        (nothing(), NO_ANSWER, "connection closed"),
        (stream(&half).hangs(), BROKE, "no answer in time"),
        (stream("").hangs(), BROKE, "no answer in time"),
        (nothing().hangs(), NO_ANSWER, "no answer in time"),
        (
            response("401 Unauthorized", json_type, &error),
            KEY_REFUSED,
            "status 401: ",
        ),
        (
            response("404 Not Found", json_type, &error),
            NO_MODEL,
            "status 404: ",
        ),
        (
            response("429 Too Many Requests", json_type, &error),
            BUSY,
            "status 429: ",
        ),
        (
            response("500 Internal Server Error", "", html),
            FAILED,
            "status 500",
        ),
        (
            response("302 Found", "location: http://127.0.0.1:1/\r\n", ""),
            NONSENSE,
            "status 302",
        ),
        (
            calls(&json!([call("a", 0, "{\"port\":\"Br")]), "tool_calls"),
            CALL,
            "arguments of a call",
        ),
        (
            calls(&json!([call("a", 0, "{\"port\":\"Br\"}")]), "length"),
            CALL,
            "was cut off",
        ),
        // It was not offered.
        (
            calls(&json!([call("a", 0, "{}")]), "tool_calls"),
            NOT_HERE,
            "not ",
        ),
    ];
    let upstream = Upstream::new([hello()]);
    let more = [
        "--model",
        "m",
        "--key-env",
        "UPSTREAM_KEY",
        "--timeout",
        "1",
    ];
    let gateway = Gateway::before(upstream.address, "chat", &more);
    for (script, sentence, cause) in table {
        upstream.script(script.clone());
        let waits = script.hangs;
        // Those that wait for the timeout are the same for all.
        let front_ends = if waits {
            &FRONT_ENDS[..2]
        } else {
            &FRONT_ENDS[..]
        };
        // Clients of models get the calls as the model made them, as from its server itself.
        let is_call = [CALL, NOT_HERE].contains(&sentence);
        let is_model = |protocol: &str| ["anthropic", "openai", "responses"].contains(&protocol);
        for protocol in front_ends.iter().filter(|it| !is_call || !is_model(it)) {
            let seen = gateway.chat(protocol, "How is the tide?");
            assert_eq!(
                seen.matches(sentence).count(),
                1,
                "{protocol}, {cause}: {seen}"
            );
            let line = gateway.line();
            assert!(line.contains("turn=failed"), "{line}");
            assert!(line.contains(cause), "{protocol}, {cause}: {line}");
            assert!(!(seen + &line).contains(KEY), "{line}");
        }
    }
}

#[test]
fn an_answer_without_an_end_fails_in_time() {
    let upstream = Upstream::new([hello()]);
    let more = ["--model", "m", "--answer-timeout", "1"];
    let gateway = Gateway::before(upstream.address, "chat", &more);
    let half = chunk(&json!({"content": "Half"}), None);
    for (script, sentence) in [
        // Comments, as servers send them while a model is busy.
        (stream(&half).forever(b": busy\n\n"), BROKE),
        // Events without a word, and a line without an end.
        (stream(&half).forever(b"data: {\"choices\":[]}\n\n"), BROKE),
        (stream(&half).forever(b"x"), BROKE),
        // An error, and a head, that drip.
        (
            response("500 Internal Server Error", "", "{").forever(b" "),
            NO_ANSWER,
        ),
        (
            nothing().forever(b"HTTP/1.1 100 Continue\r\n\r\n"),
            NO_ANSWER,
        ),
    ] {
        upstream.script(script);
        let seen = gateway.chat("anthropic", "How is the tide?");
        assert_eq!(seen.matches(sentence).count(), 1, "{seen}");
        let line = gateway.line();
        assert!(line.contains("has not ended within 1 s"), "{line}");
        assert!(upstream.is_left());
    }
    // The wait before a repetition counts.
    let busy = response("429 Too Many Requests", "retry-after: 9\r\n", "{}");
    let upstream = Upstream::new([busy]);
    let more = [&more[..], &["--retries", "9"]].concat();
    let gateway = Gateway::before(upstream.address, "chat", &more);
    let (head, _) = gateway.ask("m", &[]);
    assert_eq!((head.status, upstream.asked().len()), (400, 1));
}

#[test]
fn the_first_output_has_a_time_of_its_own() {
    let event = |member: &str, event: Value| {
        let mut event = event;
        event[member]["id"] = "x".into();
        format!("data: {event}\n\n")
    };
    let role = chunk(&json!({"role": "assistant", "content": ""}), None);
    for (dialect, answer) in [
        // The request is accepted, and nothing follows, or nothing but the head of a response.
        ("chat", nothing().hangs()),
        ("messages", stream("").hangs()),
        ("chat", stream("").forever(b": busy\n\n")),
        ("chat", stream("").forever(b"\n")),
        ("chat", stream(&role).forever(b"\r\n")),
        ("chat", stream(&role).forever(b"data: {\"choices\":[]}\n\n")),
        (
            "messages",
            stream(event(
                "message",
                json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            ))
            .forever(b"data: {\"type\":\"ping\"}\n\n"),
        ),
        (
            "responses",
            stream(event(
                "response",
                json!({"type": "response.created", "response": {"object": "response", "status": "in_progress", "output": []}}),
            ))
            .forever(b"data: {\"type\":\"response.in_progress\"}\n\n"),
        ),
    ] {
        let upstream = Upstream::new([answer]);
        let more = ["--model", "m", "--first-output-timeout", "1"];
        let gateway = Gateway::before(upstream.address, dialect, &more);
        // Without a stream only the time of the whole answer counts. Each front end reads its own members.
        let body = json!({"model": "m", "stream": true, "max_tokens": 9, "input": "secret words", "messages": [{"role": "user", "content": "secret words"}]});
        let front_ends = [
            ("/v1/chat/completions", 400),
            ("/v1/responses", 400),
            ("/v1/messages", 424),
        ];
        let asked = front_ends.map(|(path, status)| {
            let mut client = Client::connect(gateway.address).unwrap();
            client.post(path, body.to_string()).unwrap();
            (client, status)
        });
        for (mut client, status) in asked {
            assert_eq!(client.response().unwrap().0.status, status);
            let line = gateway.line();
            assert!(line.contains("has not begun within 1 s"), "{line}");
            assert!(upstream.is_left());
        }
        assert_eq!(upstream.asked().len(), 3);
    }
}

#[test]
fn an_error_that_drips_is_read_in_time() {
    let error = r#"{"error":{"message":"no","type":"odd"}}"#;
    let upstream = Upstream::new([response("401 Unauthorized", "", error).forever(b" ")]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    let (head, answer) = gateway.ask("m", &[]);
    let sentence = json!("The model's server did not accept the key of this server.");
    assert_eq!((head.status, &answer["error"]["message"]), (400, &sentence));
    assert!(gateway.line().contains("odd"));
    assert!(upstream.is_left());
}

#[test]
fn a_failure_that_repeats_itself_is_final() {
    let upstream = Upstream::new([hello()]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    let quota = r#"{"error":{"message":"","type":"insufficient_quota"}}"#;
    for (status, headers, body, shown, wait) in [
        ("400 Bad Request", "", "{}", 400, None),
        ("401 Unauthorized", "", "{}", 400, None),
        ("402 Payment Required", "", "{}", 400, None),
        ("403 Forbidden", "retry-after: 7\r\n", "{}", 400, None),
        ("404 Not Found", "", "{}", 400, None),
        ("422 Unprocessable", "", "{}", 400, None),
        ("429 Too Many Requests", "", quota, 400, None),
        ("500 Internal Server Error", "", "{}", 400, None),
        ("502 Bad Gateway", "", "<html>", 400, None),
        ("504 Gateway Timeout", "", "<html>", 400, None),
        ("503 No", "x-should-retry: false\r\n", "{}", 400, None),
        ("429 Too Many", "retry-after: 3600\r\n", "{}", 400, None),
        ("429 Too Many", "", "{}", 429, Some("5")),
        ("429 Too Many", "retry-after: 7\r\n", "{}", 429, Some("7")),
        (
            "429 Too Many",
            "retry-after-ms: 1200\r\n",
            "{}",
            429,
            Some("2"),
        ),
        ("503 Unavailable", "", "{}", 503, Some("5")),
        (
            "503 Unavailable",
            "retry-after: 7\r\n",
            "{}",
            503,
            Some("7"),
        ),
        ("529 Overloaded", "", "{}", 503, Some("5")),
        ("500 Error", "retry-after: 7\r\n", "{}", 503, Some("7")),
        (
            "500 Error",
            "x-should-retry: true\r\n",
            "{}",
            503,
            Some("5"),
        ),
    ] {
        upstream.script(response(status, headers, body));
        let content = json!([{"role": "user", "content": "x"}]);
        let body = json!({"model": "m", "stream": true, "max_tokens": 9, "messages": content, "input": "x"});
        for path in ["chat/completions", "responses", "messages"] {
            let (head, _) = gateway.request("POST", &format!("/v1/{path}"), &[], &body.to_string());
            // After 400 Claude Code tries again with fewer features.
            let shown = match (path, shown) {
                ("messages", 400) => 424,
                _ => shown,
            };
            let is_final = wait.is_none().then_some("false");
            let (after, retry) = (head.header("retry-after"), head.header("x-should-retry"));
            assert_eq!(
                (head.status, after, retry),
                (shown, wait, is_final),
                "{path}, {status}, {headers}"
            );
            gateway.line();
        }
    }
}

#[test]
fn what_an_odd_server_sends_is_understood() {
    let upstream = Upstream::new([hello()]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}],
        "tools": [{"name": "get_tide", "input_schema": {"type": "object"}}]});
    let ask = || {
        let (_, answer) = gateway.request("POST", "/v1/messages", &[], &body.to_string());
        let line = gateway.line();
        assert!(line.contains("turn=answered"), "{line}");
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    let ports = |answer: &Value| -> Vec<String> {
        let calls = answer["content"].as_array().unwrap().iter();
        calls
            .map(|call| call["input"]["port"].as_str().unwrap().to_owned())
            .collect()
    };
    let arguments = |port| format!("{{\"port\":\"{port}\"}}");
    let (brest, tokyo) = (arguments("Brest"), arguments("Tokyo"));
    // Ids that are repeated, or missing.
    for id in ["same", ""] {
        upstream.script(calls(
            &json!([call(id, 0, &brest), call(id, 1, &tokyo)]),
            "stop",
        ));
        let answer = ask();
        assert_eq!(ports(&answer), ["Brest", "Tokyo"]);
        assert_ne!(answer["content"][0]["id"], answer["content"][1]["id"]);
    }
    // Arguments by bytes, with a wrong content type.
    let mut bytes = chunk(&json!({"tool_calls": [call("a", 0, "")]}), None);
    for byte in brest.chars() {
        let delta = json!({"index": 0, "function": {"arguments": byte.to_string()}});
        bytes += &chunk(&json!({"tool_calls": [delta]}), None);
    }
    bytes += &chunk(&json!({}), Some("tool_calls"));
    upstream.script(response("200 OK", "content-type: text/plain\r\n", bytes));
    assert_eq!(ports(&ask()), ["Brest"]);
    // Of two choices the first.
    let two = json!({"choices": [{"index": 1, "delta": {"content": "two"}, "finish_reason": "stop"}, {"index": 0, "delta": {"content": "one"}}]});
    upstream.script(stream(format!(
        "data: {two}\n\n{}",
        chunk(&json!({}), Some("stop"))
    )));
    assert_eq!(ask()["content"][0]["text"], "one");
    // An answer is complete at its end, though the connection stays open.
    let whole = stream(chunk(&json!({"content": "Done"}), Some("stop")) + "data: [DONE]\n\n");
    upstream.script(whole.hangs());
    assert_eq!(ask()["content"][0]["text"], "Done");
    assert!(upstream.is_left());
}

#[test]
fn a_server_that_cannot_be_reached_is_a_failure_of_the_turn() {
    let gateway = Gateway::before(
        "127.0.0.1:9".parse().unwrap(),
        "messages",
        &["--model", "m"],
    );
    let (head, answer) = gateway.ask("m", &[]);
    assert_eq!(
        (head.status, &answer["error"]["message"]),
        (400, &json!("The model's server did not answer."))
    );
    let line = gateway.line();
    assert!(
        line.contains("cause=\"upstream: cannot connect: "),
        "{line}"
    );
    let listed = run(
        &[
            "serve",
            "--upstream",
            "http://127.0.0.1:9",
            "--dialect",
            "chat",
        ],
        "",
    );
    assert_eq!(listed.status, 2);
    assert!(
        listed.err.contains("name a model with --model"),
        "{}",
        listed.err
    );
}

#[test]
fn a_client_that_leaves_ends_the_request_to_the_server() {
    let text = stream(chunk(&json!({"content": "One"}), None)).hangs();
    let upstream = Upstream::new([text]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    let mut client = Client::connect(gateway.address).unwrap();
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]});
    client
        .post("/v1/chat/completions", body.to_string())
        .unwrap();
    client.head().unwrap();
    client.chunk().unwrap();
    drop(client);
    assert!(upstream.is_left());
    assert!(gateway.line().contains("turn=client_left"));
}

#[test]
fn a_busy_server_is_asked_again_only_where_that_is_wanted() {
    let busy = || response("429 Too Many Requests", "retry-after-ms: 1\r\n", "{}");
    let overloaded = || response("529 Overloaded", "retry-after-ms: 1\r\n", "{}");
    let upstream = Upstream::new([busy(), overloaded(), hello()]);
    let gateway = Gateway::before(
        upstream.address,
        "chat",
        &["--model", "m", "--retries", "2"],
    );
    let (_, answer) = gateway.ask("m", &[]);
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello.");
    assert_eq!(upstream.asked().len(), 3);
    let line = gateway.line();
    assert!(
        line.contains("turn=answered") && line.contains("input_tokens=7 output_tokens=3"),
        "{line}"
    );
    // Behind the first output never.
    let error = json!({"error": {"code": "rate_limit_exceeded", "message": ""}});
    upstream.script(stream(
        chunk(&json!({"content": "Half"}), None) + &format!("data: {error}\n\n"),
    ));
    gateway.ask("m", &[]);
    assert_eq!(upstream.asked().len(), 4);

    let upstream = Upstream::new([busy(), hello()]);
    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m"]);
    let (head, _) = gateway.ask("m", &[]);
    assert_eq!((head.status, head.header("x-should-retry")), (429, None));
    assert_eq!(upstream.asked().len(), 1);
}
