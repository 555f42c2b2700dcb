//! Response headers that a page reads from another origin.

use std::collections::BTreeMap;

use copilot_wire::github::Mount as GitHub;
use copilot_wire::protocol::Refusal;
use copilot_wire::router::{Cors, Mount};
use copilot_wire::{Agent, Body, Router, ag_ui, anthropic, mcp, meilisearch, responses, ui_stream};
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::support::*;

/// Returns the headers that a browser shows to a page of another origin (Fetch, CORS filtered response).
fn fetched(response: &Response<Body>) -> BTreeMap<String, String> {
    let exposed = response.headers().get("access-control-expose-headers");
    let exposed = exposed.map_or("", |exposed| exposed.to_str().unwrap());
    let exposed: Vec<&str> = exposed.split(',').map(str::trim).collect();
    let safe = [
        "cache-control",
        "content-language",
        "content-length",
        "content-type",
        "expires",
        "last-modified",
        "pragma",
    ];
    let shown = response
        .headers()
        .iter()
        .filter(|(name, _)| exposed.contains(&name.as_str()) || safe.contains(&name.as_str()));
    shown
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect()
}

/// Checks that a page sees every header that is not for the browser or for caches.
fn sees_everything(response: &Response<Body>, at: &str) -> BTreeMap<String, String> {
    let seen = fetched(response);
    for name in response.headers().keys() {
        let name = name.as_str();
        let is_meant = !name.starts_with("access-control-") && name != "vary";
        assert!(!is_meant || seen.contains_key(name), "{at}: {name}");
    }
    seen
}

/// A mounted protocol, the path of its requests, one request, and the header that its replies have.
type Case = (Router, &'static str, String, Option<&'static str>);

fn case<M: Mount>(
    what: M,
    path: &'static str,
    body: impl Into<String>,
    header: Option<&'static str>,
) -> Case
where
    Echo: Agent<M::Protocol>,
{
    let router = Router::new().cors(Cors::any()).mount(what, Echo).unwrap();
    (router, path, body.into(), header)
}

fn cases(prompt: &str) -> Vec<Case> {
    let messages = format!(r#"[{{"id":"u","role":"user","content":"{prompt}"}}]"#);
    let page = format!(
        r#"{{"id":"c","messages":[{{"id":"u","role":"user","parts":[{{"type":"text","text":"{prompt}"}}]}}]}}"#
    );
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
        "capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"0"}}}"#;
    vec![
        case(descriptor("one"), "/one/query", human(prompt), None),
        case(
            copilot_wire::openai::Model::new("m"),
            "/v1/chat/completions",
            user("m", prompt),
            None,
        ),
        case(
            responses::Model::new("m"),
            "/v1/responses",
            format!(r#"{{"model":"m","stream":true,"input":"{prompt}"}}"#),
            None,
        ),
        case(
            anthropic::Model::new("m"),
            "/v1/messages",
            format!(r#"{{"model":"m","stream":true,"max_tokens":9,"messages":{messages}}}"#),
            Some("request-id"),
        ),
        case(
            meilisearch::Mount::new(),
            "/chats/w/chat/completions",
            user("m", prompt),
            None,
        ),
        case(
            GitHub::unverified(),
            "/github",
            format!(r#"{{"messages":{messages}}}"#),
            None,
        ),
        case(
            ui_stream::Mount::new(),
            "/api/chat",
            page,
            Some("x-vercel-ai-ui-message-stream"),
        ),
        case(
            ag_ui::Mount::new(),
            "/agui",
            format!(
                r#"{{"threadId":"t","runId":"r","messages":{messages},"tools":[],"context":[]}}"#
            ),
            None,
        ),
        case(
            mcp::Mount::new("ask", "Asks."),
            "/mcp",
            initialize,
            Some("mcp-session-id"),
        ),
    ]
}

fn asked(router: &Router, path: &str, body: &str) -> Response<Body> {
    let request = post(path).header("accept", "application/json, text/event-stream");
    handle(router, request, chunks(body.to_owned()))
}

#[test]
fn a_page_reads_every_header_of_a_reply() {
    for (router, path, body, header) in cases("hello") {
        let response = asked(&router, path, &body);
        assert_eq!(response.status(), 200, "{path}");
        let seen = sees_everything(&response, path);
        if let Some(header) = header {
            assert!(seen.contains_key(header), "{path}: {seen:?}");
        }
    }
}

#[test]
fn a_page_reads_every_header_of_a_refusal() {
    for (router, path, body, _) in cases("hello") {
        let busy = router.guard(async |_: Parts| {
            let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy");
            let refusal = refusal.header(RETRY_AFTER, HeaderValue::from_static("7"));
            let id = HeaderValue::from_static("r1");
            Err::<Parts, _>(refusal.header("x-request-id".parse().unwrap(), id))
        });
        let seen = sees_everything(&asked(&busy, path, &body), path);
        for name in ["retry-after", "x-request-id"] {
            assert!(seen.contains_key(name), "{path}: {name}");
        }
    }
}

/// Without it a client in a browser repeats a turn that cannot succeed.
#[test]
fn a_page_reads_whether_to_repeat_a_turn() {
    let mut paths = Vec::new();
    for (router, path, body, _) in cases("fail") {
        let response = asked(&router, path, &body);
        let has = response.headers().contains_key("x-should-retry");
        if has {
            paths.push(path);
        }
        let seen = sees_everything(&response, path);
        assert_eq!(seen.contains_key("x-should-retry"), has, "{path}");
    }
    assert_eq!(
        paths,
        ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
    );
}
