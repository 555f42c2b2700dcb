//! Profiles, several upstreams of one model, budgets, and the sentences of upstreams.

use serde_json::{Value, json};

use super::{Gateway, KEY, chunk, hello};
use crate::program::run;
use crate::upstream::{Script, Upstream, response, stream};

/// Starts a gateway with a file of settings, in which `{0}` and `{1}` are the addresses of the upstreams.
fn gateway(text: &str, upstreams: &[&Upstream]) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.toml");
    let mut text = text.to_owned();
    for (at, upstream) in upstreams.iter().enumerate() {
        text = text.replace(&format!("{{{at}}}"), &upstream.address.to_string());
    }
    std::fs::write(&file, text).unwrap();
    Gateway::new(&["--json", "--config", file.to_str().unwrap()])
}

const TWO: &str = r#"
[server]
listen = "127.0.0.1:0"

[[models]]
name = "m"
upstream = "http://{0}"
dialect = "chat"

[[models.next]]
upstream = "http://{1}"
dialect = "chat"
model = "other"
"#;

fn busy() -> Script {
    let headers = "retry-after: 9\r\nx-ratelimit-remaining-tokens: 0\r\n";
    response("503 Service Unavailable", headers, "{}")
}

#[test]
fn the_next_upstream_answers_if_the_first_is_busy_and_only_then() {
    let (one, two) = (Upstream::new([busy()]), Upstream::new([hello()]));
    let gateway = gateway(TWO, &[&one, &two]);
    for turns in 1..=2 {
        let (head, answer) = gateway.ask("m", &[]);
        assert_eq!(head.status, 200, "{answer}");
        // The second turn does not ask the one that is busy.
        assert_eq!((one.asked().len(), two.asked().len()), (1, turns));
    }
    assert!(two.asked()[0].body.contains(r#""model":"other""#));
    let (_, metrics) = gateway.get("/metrics");
    for line in [
        "agent_upstream_failures_total{model=\"m\",upstream=\"0\"} 1\n",
        "agent_upstream_failures_total{model=\"m\",upstream=\"1\"} 0\n",
        "agent_upstream_up{model=\"m\",upstream=\"0\"} 0\n",
        "agent_upstream_up{model=\"m\",upstream=\"1\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    // All of them fail: the last failure counts, and each was asked once.
    two.script(busy());
    let (head, _) = gateway.ask("m", &[]);
    assert_eq!((head.status, head.header("retry-after")), (503, Some("9")));
    assert_eq!(head.header("x-ratelimit-remaining-tokens"), Some("0"));
    assert_eq!((one.asked().len(), two.asked().len()), (2, 3));
}

#[test]
fn a_request_that_is_refused_is_not_sent_to_the_next_upstream() {
    for status in ["400 Bad Request", "401 Unauthorized", "404 Not Found"] {
        let one = Upstream::new([response(status, "", "{}")]);
        let two = Upstream::new([hello()]);
        let gateway = gateway(TWO, &[&one, &two]);
        assert_eq!(gateway.ask("m", &[]).0.status, 400);
        assert_eq!((one.asked().len(), two.asked().len()), (1, 0), "{status}");
    }
}

/// A server that may have run a tool of its own is not repeated by another.
#[test]
fn a_request_with_tools_of_the_server_goes_on_only_if_the_first_is_busy() {
    let failed = || response("500 Internal Server Error", "", "{}");
    let own = json!([{"type": "function", "function": {"name": "f"}}]);
    let theirs = json!([{"type": "mcp", "server_label": "s"}]);
    for (first, tools, expected) in [
        (failed(), &own, 1),
        (failed(), &theirs, 0),
        (busy(), &theirs, 1),
    ] {
        let (one, two) = (Upstream::new([first]), Upstream::new([hello()]));
        let gateway = gateway(TWO, &[&one, &two]);
        let body = json!({"model": "m", "tools": tools,
            "messages": [{"role": "user", "content": "x"}]});
        let (head, _) = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
        assert_eq!(
            (one.asked().len(), two.asked().len()),
            (1, expected),
            "{tools}"
        );
        assert_eq!(head.status == 200, expected == 1, "{tools}");
    }
}

/// Each upstream has the whole time.
#[test]
fn the_next_upstream_answers_if_the_first_says_nothing() {
    let silent = Script {
        bytes: Vec::new(),
        hangs: true,
        forever: b"",
    };
    let (one, two) = (Upstream::new([silent]), Upstream::new([hello()]));
    let text = TWO.replacen(
        "name = \"m\"\n",
        "name = \"m\"\nfirst-output-timeout = 1\n",
        1,
    );
    let gateway = gateway(&text, &[&one, &two]);
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]});
    let (head, _) = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
    assert_eq!((head.status, two.asked().len()), (200, 1));
    let (_, metrics) = gateway.get("/metrics");
    for line in [
        "agent_upstream_up{model=\"m\",upstream=\"0\"} 0\n",
        "agent_upstream_up{model=\"m\",upstream=\"1\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn turns_are_shared_by_weight() {
    let (one, two) = (Upstream::new([hello()]), Upstream::new([hello()]));
    let text = TWO.replace("dialect = \"chat\"\n", "dialect = \"chat\"\nweight = 1\n");
    let text = text.replacen("weight = 1", "weight = 2", 1);
    let gateway = gateway(&text, &[&one, &two]);
    for _ in 0..6 {
        assert_eq!(gateway.ask("m", &[]).0.status, 200);
    }
    assert_eq!((one.asked().len(), two.asked().len()), (4, 2));
}

#[test]
fn a_profile_changes_the_request() {
    let one = Upstream::new([hello()]);
    let text = r#"
[server]
listen = "127.0.0.1:0"

[[models]]
name = "m"
upstream = "http://{0}"
dialect = "chat"
provider = "llama.cpp"

[models.profile]
max-tokens = 77
drop = ["seed"]
headers = { x-team = "search" }
"#;
    let gateway = gateway(text, &[&one]);
    let body = json!({"model": "m", "seed": 1, "messages": [
        {"role": "user", "content": "x"}, {"role": "developer", "content": "Be brief."}]});
    let (head, _) = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
    assert_eq!(head.status, 200);
    let asked = one.asked();
    let sent: Value = serde_json::from_str(&asked[0].body).unwrap();
    // What the file says, and the rest of the known server.
    assert_eq!(sent["max_tokens"], 77);
    assert_eq!(sent["seed"], Value::Null);
    assert_eq!(
        sent["messages"][0],
        json!({"content": "Be brief.", "role": "system"})
    );
    assert!(
        asked[0].head.contains("\r\nx-team: search"),
        "{}",
        asked[0].head
    );
}

#[test]
fn a_server_is_recognized_by_its_list() {
    let list = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm"}]}"#;
    let list = response("200 OK", "content-type: application/json\r\n", list);
    let one = Upstream::new([list, hello()]);
    let gateway = Gateway::before(one.address, "chat", &[]);
    let body = json!({"model": "m", "messages": [{"role": "developer", "content": "x"}]});
    let (head, _) = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
    assert_eq!(head.status, 200);
    assert!(one.asked()[1].body.contains(r#""role":"system""#));
}

#[test]
fn a_budget_of_tokens_ends_after_the_answer_that_spends_it() {
    let one = Upstream::new([hello()]);
    let more = [
        "--model",
        "m",
        "--tokens-per-day",
        "15",
        "--keys-env",
        "USER_KEYS",
    ];
    let gateway = Gateway::before(one.address, "chat", &more);
    let (ali, dorothy) = (["authorization: Bearer sesame"], ["x-api-key: poppy"]);
    // Each answer has ten tokens.
    for status in [200, 200, 429] {
        let (head, answer) = gateway.ask("m", &ali);
        assert_eq!(head.status, status, "{answer}");
        gateway.line();
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(message.contains("budget of 15 tokens"), status == 429);
        assert_eq!(head.header("retry-after"), None);
    }
    assert_eq!(gateway.ask("m", &dorothy).0.status, 200);
    gateway.line();
    // Documents are free.
    let (head, _) = gateway.request("GET", "/v1/models", &ali, "");
    assert_eq!(head.status, 200);
    let (_, metrics) = gateway.get("/metrics");
    assert!(
        metrics.contains("agent_budget_refusals_total 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("agent_budget_tokens_today 30\n"),
        "{metrics}"
    );
}

/// A server that does not tell the usage, like a client that leaves before the event with it.
#[test]
fn a_turn_without_usage_is_charged_by_its_length() {
    let text = chunk(&json!({"content": "Hello."}), None) + &chunk(&json!({}), Some("stop"));
    let one = Upstream::new([stream(text + "data: [DONE]\n\n")]);
    let more = [
        "--model",
        "m",
        "--tokens-per-day",
        "5",
        "--keys-env",
        "USER_KEYS",
    ];
    let gateway = Gateway::before(one.address, "chat", &more);
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]});
    for status in [200, 429] {
        let (head, _) = gateway.request(
            "POST",
            "/v1/chat/completions",
            &["x-api-key: poppy"],
            &body.to_string(),
        );
        assert_eq!(head.status, status);
        gateway.line();
    }
}

#[test]
fn the_log_has_the_sentence_of_the_upstream_if_the_operator_wants_it() {
    let long = "k".repeat(40);
    let error = json!({"error": {"type": "odd", "message": format!("bad\nschema {KEY} {long} {}", "a ".repeat(400))}});
    let one = Upstream::new([response("400 Bad Request", "", error.to_string())]);
    let more = ["--model", "m", "--key-env", "UPSTREAM_KEY", "--json"];
    for (more, expected) in [
        (&more[..], None),
        (
            &[&more[..], &["--log-upstream"]].concat(),
            Some("bad schema [...] [...] a a"),
        ),
    ] {
        let gateway = Gateway::before(one.address, "chat", more);
        assert_eq!(gateway.ask("m", &[]).0.status, 400);
        let line: Value = serde_json::from_str(&gateway.line()).unwrap();
        let message = line["upstream_message"].as_str();
        assert_eq!(message.is_some(), expected.is_some(), "{line}");
        assert!(
            message
                .unwrap_or_default()
                .starts_with(expected.unwrap_or_default())
        );
        assert!(message.is_none_or(|it| it.len() <= 300), "{line}");
        assert!(!line.to_string().contains(KEY));
    }
}

#[test]
fn tokens_are_counted_by_a_server_that_can() {
    let asks = [
        (
            "/v1/messages/count_tokens",
            json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}),
        ),
        (
            "/v1/responses/input_tokens",
            json!({"input": "x", "model": "m"}),
        ),
    ];
    let ask = |gateway: &Gateway| {
        let counts = asks.iter().map(|(path, body)| {
            let (head, body) = gateway.request("POST", path, &[], &body.to_string());
            assert_eq!(head.status, 200, "{path}: {body}");
            let body: Value = serde_json::from_str(&body).unwrap();
            body["input_tokens"].as_u64().unwrap()
        });
        counts.collect::<Vec<_>>()
    };
    for (dialect, path, member) in [
        ("messages", "/v1/messages/count_tokens", "messages"),
        ("responses", "/v1/responses/input_tokens", "input"),
    ] {
        let upstream = Upstream::new([response("200 OK", "", r#"{"input_tokens": 321}"#)]);
        let gateway = Gateway::before(upstream.address, dialect, &["--model", "m"]);
        assert_eq!(ask(&gateway), [321, 321], "{dialect}");
        for asked in upstream.asked() {
            let expected = format!("POST {path} ");
            assert!(asked.head.starts_with(&expected), "{}", asked.head);
            // Members of an answer are refused there.
            let body: Value = serde_json::from_str(&asked.body).unwrap();
            let names: Vec<_> = body.as_object().unwrap().keys().collect();
            assert_eq!(names.len(), 2, "{names:?}");
            assert!(body["model"] == "m" && !body[member].is_null(), "{body}");
        }
    }
    // The others estimate. They are not asked again if they do not have the path.
    let unknown = json!({"type": "error", "error": {"type": "not_found_error", "message": "m"}});
    let unknown = unknown.to_string();
    for (status, body, asked) in [
        ("404 Not Found", "{}", 1),
        ("404 Not Found", r#"{"detail": "Not Found"}"#, 1),
        ("404 Not Found", "404 page not found", 1),
        ("405 Method Not Allowed", &unknown, 1),
        ("501 Not Implemented", "", 1),
        ("404 Not Found", &unknown, 4),
        ("400 Bad Request", "{}", 4),
    ] {
        for (dialect, asked) in [("chat", 0), ("messages", asked), ("responses", asked)] {
            let upstream = Upstream::new([response(status, "", body)]);
            let gateway = Gateway::before(upstream.address, dialect, &["--model", "m"]);
            let place = format!("{dialect}: {status}: {body}");
            for _ in 0..2 {
                assert!(ask(&gateway).iter().all(|count| *count < 321), "{place}");
            }
            assert_eq!(upstream.asked().len(), asked, "{place}");
        }
    }
}

#[test]
fn counts_are_logged() {
    let upstream = Upstream::new([
        response("200 OK", "", r#"{"input_tokens": 321}"#),
        response("401 Unauthorized", "", "{}"),
    ]);
    let more = ["--model", "m", "--json"];
    let gateway = Gateway::before(upstream.address, "messages", &more);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}).to_string();
    for counted in [true, false] {
        let (head, body) = gateway.request("POST", "/v1/messages/count_tokens", &[], &body);
        assert!(
            head.status == 200 && body.contains("321") == counted,
            "{body}"
        );
    }
    for (outcome, status) in [("answered", 200), ("failed", 401)] {
        let line: Value = serde_json::from_str(&gateway.line()).unwrap();
        assert_eq!(line["turn"], outcome, "{line}");
        assert_eq!(line["path"], "/v1/messages/count_tokens", "{line}");
        assert_eq!(
            (&line["model"], &line["upstream_status"]),
            (&json!("m"), &json!(status)),
            "{line}"
        );
    }
}

#[test]
fn listed_models_are_chosen_by_their_names() {
    let ids = ["gpt-5", "claude-opus-4", "claude-haiku-4", "opus"].map(|id| json!({"id": id}));
    let list = json!({"data": ids}).to_string();
    for (names, expected) in [
        (&["claude-*"][..], &["claude-haiku-4", "claude-opus-4"][..]),
        (&["*-4"], &["claude-haiku-4", "claude-opus-4"]),
        (&["*opus*"], &["claude-opus-4", "opus"]),
        (&["c*o*4"], &["claude-opus-4"]),
        (&["gpt-*", "mine"], &["gpt-5", "mine"]),
        (
            &["*"],
            &["claude-haiku-4", "claude-opus-4", "gpt-5", "opus"],
        ),
    ] {
        let upstream = Upstream::new([response("200 OK", "", &list)]);
        let names: Vec<_> = names.iter().flat_map(|name| ["--model", name]).collect();
        let gateway = Gateway::before(upstream.address, "chat", &names);
        let (_, models) = gateway.get("/v1/models");
        let models: Value = serde_json::from_str(&models).unwrap();
        let models = models["data"].as_array().unwrap().iter();
        let mut ids: Vec<_> = models.map(|it| it["id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{names:?}");
    }
    for names in [
        &["gemini-*"][..],
        &["gpt-5", "gemini-*"],
        &["gpt-*", "gemini-*"],
    ] {
        let upstream = Upstream::new([response("200 OK", "", &list)]);
        let url = format!("http://{}", upstream.address);
        let mut arguments = vec![
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &url,
            "--dialect",
            "chat",
        ];
        arguments.extend(names.iter().flat_map(|name| ["--model", name]));
        let refused = run(&arguments, "");
        let why = "--model: gemini-*: the upstream lists no such model";
        assert!(
            refused.status == 2 && refused.err.contains(why),
            "{}",
            refused.err
        );
    }
}
