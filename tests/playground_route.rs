//! Tests of the playground's routes. The page itself is tested in a browser.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::router::MountError;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use copilot_wire_kit::github::RequestSigner;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::{Response, StatusCode};

struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default();
        Ok(reply.text(&prompt).await?)
    }
}

fn descriptor() -> Descriptor {
    Descriptor::new("echo", "Echo", "Repeats")
}

fn ask(router: &Router, request: http::request::Builder, body: &str) -> Response<String> {
    let body = body.to_owned();
    let chunks = stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::from(body))]);
    let response = block_on(router.handle(request.body(chunks).unwrap()));
    let (head, body) = response.into_parts();
    Response::from_parts(head, text(body))
}

fn text(body: Body) -> String {
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap().to_vec()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

fn get(router: &Router, path: &str) -> Response<String> {
    ask(router, http::Request::get(path), "")
}

fn fronts(router: &Router) -> serde_json::Value {
    let response = get(router, "/playground.json");
    assert_eq!(response.status(), StatusCode::OK);
    serde_json::from_str(response.body()).unwrap()
}

/// A feature of a dependency may be switched on by anybody.
#[test]
fn a_router_without_it_is_as_ever() {
    let router = Router::new()
        .mount(
            copilot_wire::meilisearch::Mount::new().path("/{workspace}"),
            Echo,
        )
        .unwrap();
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}"#;
    let reply = ask(
        &router,
        http::Request::post("/films").header("content-type", "application/json"),
        body,
    );
    assert_eq!(
        reply.headers()["content-type"],
        "text/event-stream",
        "{reply:?}"
    );
    assert!(reply.body().contains("hello"), "{reply:?}");
    let router = Router::new()
        .mount(Mount::unverified().path("/playground.json"), Echo)
        .unwrap();
    assert_eq!(get(&router, "/playground.json").body(), "OK");
    assert_eq!(get(&router, "/").status(), StatusCode::NOT_FOUND);

    // Nor does a route of others make the page believe in a signer.
    let router = Router::new()
        .mount(Mount::unverified().path("/playground/{any}"), Echo)
        .unwrap()
        .playground()
        .unwrap();
    assert_eq!(fronts(&router)["signing"], false);
}

#[test]
fn the_page_runs_its_own_script_and_nothing_else() {
    let router = Router::new().playground().unwrap();
    let [one, two] = [get(&router, "/"), get(&router, "/")];
    let policy = |response: &Response<String>| {
        let policy = response.headers()["content-security-policy"].to_str();
        policy.unwrap().to_owned()
    };
    let nonce = policy(&one);
    let nonce = nonce.split("'nonce-").nth(1).unwrap();
    let nonce = nonce.split('\'').next().unwrap();
    assert!(one.body().contains(&format!("nonce=\"{nonce}\"")));
    assert_eq!(one.body().matches("<script").count(), 1);
    assert_ne!(policy(&one), policy(&two));
    assert!(policy(&one).starts_with("default-src 'none';"));
    assert!(!policy(&one).contains("unsafe-eval"));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(one.headers()[name], value);
    }
    // One document: nothing in it is fetched from anywhere.
    assert!(!one.body().contains(" src=\""));
    assert!(!one.body().contains("@import"));
}

#[test]
fn the_page_lists_every_agent_whenever_it_is_mounted() {
    let router = Router::new()
        .mount(descriptor(), Echo)
        .unwrap()
        .playground()
        .unwrap()
        .mount(Mount::unverified().path("/copilot"), Echo)
        .unwrap()
        .mount(copilot_wire::openai::Model::new("echo"), Echo)
        .unwrap();
    assert_eq!(
        fronts(&router),
        serde_json::json!({"signing": false, "fronts": [
            {"protocol": "openbb", "path": "/v1/query"},
            {"protocol": "github", "path": "/copilot"},
            {"protocol": "openai", "path": "/v1/chat/completions"},
        ]})
    );
}

#[test]
fn without_the_playground_there_is_no_page() {
    let router = Router::new().mount(descriptor(), Echo).unwrap();
    assert_eq!(get(&router, "/").status(), StatusCode::NOT_FOUND);
    assert_eq!(
        get(&router, "/playground.json").status(),
        StatusCode::NOT_FOUND
    );
}

#[test]
fn a_second_playground_is_refused() {
    let twice = Router::new().playground().unwrap().playground();
    assert!(matches!(twice.unwrap_err(), MountError::Taken { .. }));
}

/// A router whose GitHub agent takes what the playground's signer signed.
fn signing() -> Router {
    let signer = RequestSigner::generate().unwrap();
    Router::new()
        .mount(Mount::verified(signer.key_set()), Echo)
        .unwrap()
        .playground()
        .unwrap()
        .playground_signer(move |body| signer.sign(body))
        .unwrap()
}

fn sign(router: &Router, headers: &[(&str, &str)], body: &str) -> Response<String> {
    let request = http::Request::post("/playground/sign")
        .header("content-type", "application/json")
        .header("host", "127.0.0.1:7777");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    ask(router, request, body)
}

#[test]
fn what_is_signed_passes_verification() {
    let router = signing();
    assert_eq!(fronts(&router)["signing"], true);
    let body = r#"{"messages": [{"role": "user", "content": "é"}]}"#;
    let signed = sign(&router, &[("sec-fetch-site", "same-origin")], body);
    assert_eq!(signed.status(), StatusCode::OK);
    let headers: std::collections::HashMap<String, String> =
        serde_json::from_str(signed.body()).unwrap();
    let request = || http::Request::post("/github").header("content-type", "application/json");
    let with = |request, body: &str| {
        let request = headers
            .iter()
            .fold(request, |request: http::request::Builder, (name, value)| {
                request.header(name, value)
            });
        ask(&router, request, body)
    };
    assert_eq!(with(request(), body).status(), StatusCode::OK);
    assert_eq!(
        with(request(), r#"{"messages": []}"#).status(),
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        ask(&router, request(), body).status(),
        StatusCode::UNAUTHORIZED
    );
}

#[test]
fn other_pages_get_no_signature() {
    let router = signing();
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &[
            ("sec-fetch-site", "none"),
            ("origin", "http://127.0.0.1:7777"),
        ],
        &[("origin", "http://evil.example")],
        &[("origin", "http://127.0.0.1:7778")],
        &[("origin", "null")],
        &[("origin", "127.0.0.1:7777")],
    ] {
        let response = sign(&router, headers, "{}");
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{headers:?}");
        assert!(!response.body().contains("signature"));
    }
    for headers in [
        &[][..],
        &[("origin", "http://127.0.0.1:7777")],
        &[("origin", "https://127.0.0.1:7777")],
    ] {
        assert_eq!(
            sign(&router, headers, "{}").status(),
            StatusCode::OK,
            "{headers:?}"
        );
    }
}

/// Whoever opens the page of a router with keys reads what to do.
#[test]
fn a_guard_in_front_of_the_page_is_explained() {
    let refuse = async |_: http::request::Parts| {
        Err(copilot_wire::protocol::Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the API key is missing",
        ))
    };
    let router = Router::new().guard(refuse).playground().unwrap();
    let response = get(&router, "/");
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let text = response.body();
    assert!(text.starts_with("the API key is missing\n"), "{text}");
    assert!(text.contains("Site::guard"), "{text}");
}
