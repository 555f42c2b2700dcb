//! The routes, and what a page sees of a refusal.

use copilot_wire::Router;
use copilot_wire::router::{Cors, MountError};
use copilot_wire::ui_stream::{Mount, UiStream};
use copilot_wire_kit::check::{Target, check};
use copilot_wire_kit::kit;
use futures::executor::block_on;
use http::{HeaderValue, Method};

use crate::support::{agent, hello, router, send};

fn quiet() -> Router {
    router(
        Mount::new(),
        agent(|_, reply| async move { Ok(reply.text("Hi").await?) }),
    )
}

#[test]
fn a_stream_has_the_headers_of_the_sdk() {
    let response = send(&quiet(), Method::POST, "/api/chat", &hello());
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["x-vercel-ai-ui-message-stream"], "v1");
    assert_eq!(headers["x-accel-buffering"], "no");
    assert!(
        headers["cache-control"]
            .to_str()
            .unwrap()
            .contains("no-cache")
    );
}

#[test]
fn a_refusal_is_one_sentence_in_plain_text() {
    let big = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
    for (body, status, expected) in [
        ("", 400, "the body ends where a value is expected"),
        ("[]", 400, "expected an object (byte 0)"),
        (
            r#"{"id":"c","message":{"role":"user"}}"#,
            400,
            "messages: must be a list with the messages of the conversation",
        ),
        (
            r#"{"messages":[]}"#,
            400,
            "messages: must be a list with the messages of the conversation",
        ),
        (
            r#"{"messages":{}}"#,
            400,
            "messages: must be a list with the messages of the conversation",
        ),
        (&big, 413, ""),
    ] {
        let router = quiet().body_limit(100);
        let response = send(&router, Method::POST, "/api/chat", body);
        assert_eq!(response.status(), status, "{body}");
        assert_eq!(
            response.headers()["content-type"],
            "text/plain; charset=utf-8"
        );
        let text = response.body();
        assert!(!text.is_empty() && !text.contains(['{', '\n']), "{text}");
        assert!(expected.is_empty() || text == expected, "{text}");
    }
}

#[test]
fn there_is_nothing_to_resume() {
    let response = send(&quiet(), Method::GET, "/api/chat/chat-1/stream", "");
    assert_eq!((response.status().as_u16(), &**response.body()), (204, ""));
}

#[test]
fn a_path_is_taken_once() {
    let mount = || Mount::new().path("/talk/");
    let mounted = router(mount(), agent(|_, _| async { Ok(()) }));
    assert_eq!(
        send(&mounted, Method::POST, "/talk", &hello()).status(),
        200
    );
    assert_eq!(
        send(&mounted, Method::GET, "/talk/c/stream", "").status(),
        204
    );
    let again = mounted.mount(mount(), agent(|_, _| async { Ok(()) }));
    assert!(matches!(again, Err(MountError::Taken { .. })));
    let wrong = Router::new().mount(Mount::new().path("talk"), agent(|_, _| async { Ok(()) }));
    assert!(matches!(wrong, Err(MountError::Path(_))));
}

#[test]
fn a_page_of_another_origin_is_let_in_by_one_line() {
    let asked = |router: &Router| {
        let preflight = send(router, Method::OPTIONS, "/api/chat", "");
        let refused = send(router, Method::POST, "/api/chat", "[]");
        [preflight, refused].map(|response| {
            let allowed = response.headers().get("access-control-allow-origin");
            (response.status().as_u16(), allowed.cloned())
        })
    };
    let [(status, none), (_, also_none)] = asked(&quiet());
    assert_eq!((status, none, also_none), (403, None, None));
    let origin = HeaderValue::from_static("http://localhost:3000");
    let router = quiet().cors(Cors::default().allow(origin.clone()));
    let allowed = Some(origin);
    // A refusal too: the page could not show it otherwise.
    assert_eq!(asked(&router), [(204, allowed.clone()), (400, allowed)]);
}

#[test]
fn the_conformance_kit_finds_nothing() {
    let router = router(Mount::new(), agent(crate::golden::native));
    let report = block_on(check(&router, Target::new(kit::<UiStream>())));
    assert!(report.is_clean(), "{report}");
}
