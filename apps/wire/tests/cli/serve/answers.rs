//! The answers that front ends get, and the requests that servers of models get.

use std::time::Duration;

use copilot_wire_kit::kits;
use serde_json::{Value, json};

use super::{FRONT_ENDS, Gateway, hello};
use crate::server::Server;
use crate::upstream::{Upstream, response, stream};

#[test]
fn every_front_end_is_answered_by_every_dialect() {
    let front_ends: Vec<_> = kits().iter().map(|kit| kit.name).collect();
    let front_ends = front_ends.into_iter().filter(|name| *name != "mcp");
    assert_eq!(
        front_ends.collect::<std::collections::BTreeSet<_>>(),
        FRONT_ENDS.into()
    );
    let analyst =
        Server::new(analyst::routes(analyst::Analyst::new(None).pace(Duration::ZERO)).unwrap());
    for dialect in ["chat", "responses", "messages"] {
        // Without names, those that the upstream lists.
        let gateway = Gateway::before(analyst.address, dialect, &["--catch-all"]);
        for protocol in FRONT_ENDS {
            let seen = gateway.chat(protocol, "call get_nothing");
            assert!(
                seen.contains("There is no tool **get_nothing**."),
                "{protocol}: {seen}"
            );
            let line = gateway.line();
            let said = format!("turn=answered front_end={protocol} path=/");
            assert!(line.contains(&said), "{line}");
            assert!(
                line.contains(" model=analyst upstream_status=200 duration_ms="),
                "{line}"
            );
        }
        let tool =
            r#"{"type":"function","function":{"name":"get_tide","parameters":{"type":"object"}}}"#;
        let prompt = r#"call get_tide {\"port\":\"Brest\"}"#;
        let body = format!(
            r#"{{"model":"x","messages":[{{"role":"user","content":"{prompt}"}}],"tools":[{tool}]}}"#
        );
        let (_, body) = gateway.request("POST", "/v1/chat/completions", &[], &body);
        assert!(
            body.contains(r#""name":"get_tide","arguments":"{\"port\":\"Brest\"}""#),
            "{body}"
        );
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask",
            "arguments": {"question": "call get_nothing"}}});
        let accept = [
            "accept: application/json, text/event-stream",
            "mcp-protocol-version: 2025-06-18",
        ];
        let (head, body) = gateway.request("POST", "/mcp", &accept, &body.to_string());
        assert!(
            head.status == 200 && body.contains("There is no tool"),
            "{body}"
        );
        let (head, page) = gateway.get("/");
        assert!(
            head.status == 200 && page.to_lowercase().contains("<!doctype html>"),
            "{page}"
        );
    }
}

#[test]
fn the_server_gets_its_own_key_the_trace_and_the_instructions() {
    let upstream = Upstream::new([stream(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"up\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
         event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n\
         event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    )]);
    let more = [
        "--model",
        "m",
        "--key-env",
        "UPSTREAM_KEY",
        "--keys-env",
        "USER_KEYS",
        "--instructions",
        "Be brief.",
    ];
    let gateway = Gateway::before(upstream.address, "messages", &more);
    let trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let beta = "anthropic-beta: context-1m-2025-08-07";
    let user = "authorization: Bearer sesame";
    gateway.ask("m", &[user, trace, beta]);
    let body = json!({"model": "m", "max_tokens": 9, "system": "Own.", "messages": [{"role": "user", "content": "x"}]});
    gateway.request(
        "POST",
        "/v1/messages",
        &["x-api-key: poppy", beta],
        &body.to_string(),
    );
    let [chat, messages] = &upstream.asked()[..] else {
        panic!()
    };
    assert!(
        chat.head.starts_with("POST /v1/messages HTTP/1.1"),
        "{}",
        chat.head
    );
    for line in [
        "x-api-key: sk-upstream",
        "anthropic-version: 2023-06-01",
        "accept-encoding: identity",
        trace,
    ] {
        assert!(chat.head.contains(line), "{}", chat.head);
    }
    // A client of another dialect cannot mean this server.
    assert!(
        !chat.head.contains(beta) && messages.head.contains(beta),
        "{}",
        messages.head
    );
    assert!(!chat.head.contains("sesame") && !messages.head.contains("poppy"));
    assert!(
        chat.body.contains(r#""system":"Be brief.""#),
        "{}",
        chat.body
    );
    assert!(
        messages.body.contains("Be brief.\\n\\nOwn."),
        "{}",
        messages.body
    );
    for user in ["user=ali", "user=dorothy"] {
        let line = gateway.line();
        assert!(
            line.contains(user) && !line.contains("secret words"),
            "{line}"
        );
    }
    let (head, _) = gateway.ask("m", &["authorization: Bearer wrong"]);
    assert_eq!(head.status, 401);
    let line = gateway.line();
    assert!(
        line.contains("turn=refused") && line.contains("cause=\"401: "),
        "{line}"
    );
    assert!(!line.contains("wrong"), "{line}");
    // Without a key: what watches the server. The page has none to send.
    assert_eq!(gateway.get("/health").1, "OK\n");
    let (head, metrics) = gateway.get("/metrics");
    // Without it Prometheus reads nothing.
    let kind = head.header("content-type").unwrap();
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    let counted = r#"agent_turns_total{protocol="openai",path="/v1/chat/completions",outcome="answered",model="m"} 1"#;
    assert!(
        metrics.contains(counted) && metrics.contains("reply_store_up 1"),
        "{metrics}"
    );
    assert_eq!(gateway.get("/").0.status, 404);
}

/// Lists of servers have pages, doubled names, names that differ in signs alone, or no object around them.
#[test]
fn any_list_of_models_is_read_to_its_end() {
    let list = |body: Value| {
        response(
            "200 OK",
            "content-type: application/json\r\n",
            body.to_string(),
        )
    };
    let of = |ids: &[&str]| ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
    for (dialect, pages, names) in [
        (
            "chat",
            vec![json!({"data": of(&["m", "m", "o/2", "o-2"])})],
            3,
        ),
        ("chat", vec![json!(of(&["m", "n"]))], 2),
        (
            "messages",
            vec![
                json!({"data": of(&["m", "n"]), "has_more": true, "last_id": "n"}),
                json!({"data": of(&["n", "o"]), "has_more": true, "last_id": "o"}),
                // A server that does not know pages.
                json!({"data": of(&["n", "o"]), "has_more": true, "last_id": "o"}),
            ],
            3,
        ),
    ] {
        let count = pages.len();
        let upstream = Upstream::new(pages.into_iter().map(list));
        let gateway = Gateway::before(upstream.address, dialect, &[]);
        let (_, listed) = gateway.get("/v1/models");
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed["data"].as_array().unwrap().len(), names, "{listed}");
        let asked = upstream.asked();
        assert_eq!(asked.len(), count);
        for (at, after) in [(1, "after_id=n "), (2, "after_id=o ")] {
            assert!(asked.get(at).is_none_or(|asked| asked.head.contains(after)));
        }
        let (head, _) = gateway.get("/v1/models/m");
        assert_eq!(head.status, 200);
    }
}

#[test]
fn models_are_listed_and_others_are_unknown_unless_one_answers_for_all() {
    let upstream = Upstream::new([hello()]);
    let gateway = Gateway::before(
        upstream.address,
        "chat",
        &["--model", "m", "--model", "o/2"],
    );
    let (_, list) = gateway.get("/v1/models");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(
        (&list["data"][0]["id"], &list["data"][1]["id"]),
        (&json!("m"), &json!("o/2"))
    );
    let (_, agents) = gateway.get("/agents.json");
    assert!(agents.contains("/o-2/query"), "{agents}");
    let (head, answer) = gateway.ask("gpt", &[]);
    assert_eq!(
        (head.status, &answer["error"]["code"]),
        (404, &json!("model_not_found"))
    );
    gateway.ask("o/2", &[]);
    assert!(upstream.asked()[0].body.contains(r#""model":"o/2""#));

    let gateway = Gateway::before(upstream.address, "chat", &["--model", "m", "--catch-all"]);
    assert_eq!(gateway.ask("gpt", &[]).0.status, 200);
    assert!(upstream.asked()[1].body.contains(r#""model":"m""#));
}

#[test]
fn in_the_dialect_of_the_server_its_answer_arrives_as_it_was_sent() {
    let answer = "event: message_start\r\ndata:{\"type\":\"message_start\",\"message\":{\"id\":\"up\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"up\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\r\n\r\n\
        event: content_block_start\r\ndata:{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"SIG\"}}\r\n\r\n\
        event: content_block_stop\r\ndata:{\"type\":\"content_block_stop\",\"index\":0}\r\n\r\n\
        event: message_delta\r\ndata:{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"},\"usage\":{\"output_tokens\":1}}\r\n\r\n\
        event: message_stop\r\ndata:{\"type\":\"message_stop\"}\r\n\r\n";
    let upstream = Upstream::new([stream(answer)]);
    let gateway = Gateway::before(upstream.address, "messages", &["--model", "m"]);
    let mut request = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "q"}]});
    let (head, body) = gateway.request("POST", "/v1/messages", &[], &request.to_string());
    assert_eq!(head.status, 200, "{body}");
    assert_eq!(
        body,
        answer.replace("\r\n", "\n").replace("data:", "data: ")
    );
    let document = r#"{"id":"up","type":"message","role":"assistant","content":[{"type":"compaction","content":"all"}],"usage":{"input_tokens":1,"output_tokens":1},"stop_reason":"compaction"}"#;
    upstream.script(response(
        "200 OK",
        "content-type: application/json\r\n",
        document,
    ));
    request["stream"] = json!(false);
    let (head, body) = gateway.request("POST", "/v1/messages", &[], &request.to_string());
    assert_eq!((head.status, &*body), (200, document));
    assert!(upstream.asked()[1].body.contains("\"stream\":false"));
}
