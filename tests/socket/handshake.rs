//! Handshakes: who may open a socket.

use copilot_wire::router::socket::is_handshake;
use copilot_wire::router::{Cors, RouteKind};
use copilot_wire::{Router, openbb};
use futures::executor::block_on;
use http::{HeaderValue, StatusCode};

use crate::support::{Client, Witness, answer, create, handshake, keys, open, router};

fn status(router: &Router, uri: &str, headers: &[(&str, &str)]) -> u16 {
    match open(router, uri, headers) {
        Ok(_) => 101,
        Err(response) => response.status().as_u16(),
    }
}

#[test]
fn a_path_without_a_socket_is_refused_with_the_status_after_which_codex_posts() {
    let (router, agent) = router();
    let descriptor = openbb::Descriptor::new("witness", "Witness", "Tells what it sees.");
    let router = router.mount(descriptor, agent).unwrap();
    let refused = open(&router, "/v1/query", &[]).unwrap_err();
    assert_eq!(refused.status(), StatusCode::UPGRADE_REQUIRED);
    assert_eq!(refused.headers()["upgrade"], "HTTP/1.1");
    assert_eq!(refused.headers()["connection"], "upgrade");
    assert_eq!(status(&router, "/v1/nothing", &[]), 404);
    assert_eq!(status(&router, "/agents.json", &[]), 404);
    // A server that passes the handshake on as a request has no sockets.
    for path in ["/v1/query", "/v1/responses", "/api/chat"] {
        let request = http::Request::from_parts(
            handshake(path, &[]),
            futures::stream::empty::<Result<bytes::Bytes, ()>>(),
        );
        assert_eq!(
            block_on(router.handle(request)).status(),
            StatusCode::UPGRADE_REQUIRED,
            "{path}"
        );
    }
    let (parts, ()) = http::Request::get("/v1/responses")
        .body(())
        .unwrap()
        .into_parts();
    assert_eq!(
        block_on(router.socket(parts)).unwrap_err().status(),
        StatusCode::NOT_FOUND
    );
}

#[test]
fn a_handshake_is_a_get_that_names_its_upgrade() {
    for (method, connection, upgrade, expected) in [
        ("GET", "keep-alive, Upgrade", "h2c, WebSocket", true),
        ("POST", "upgrade", "websocket", false),
        ("GET", "keep-alive", "websocket", false),
        ("GET", "upgrade", "h2c", false),
    ] {
        let request = http::Request::builder()
            .method(method)
            .header("connection", connection)
            .header("upgrade", upgrade);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(
            is_handshake(&parts),
            expected,
            "{method} {connection} {upgrade}"
        );
    }
}

#[test]
fn guards_check_the_handshake() {
    let (router, _) = router();
    let router = router.guard(keys);
    assert_eq!(status(&router, "/v1/responses", &[]), 401);
    let mut client = open(&router, "/v1/responses", &[("authorization", "Bearer ann")]).unwrap();
    assert_eq!(answer(&client.ask(&create("who"))), "ann");
}

#[test]
fn guards_tell_a_handshake_from_a_turn() {
    let (router, _) = router();
    let router = router.guard(async |parts: http::request::Parts| {
        let status = match parts.extensions.get() {
            Some(RouteKind::Socket) => return Ok(parts),
            Some(RouteKind::Turn) => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Err(copilot_wire::protocol::Refusal::new(status, "slow down"))
    });
    let mut client = Client::responses(&router);
    assert_eq!(client.ask(&create("hi"))[0]["status"], 429);
}

#[test]
fn pages_of_other_origins_are_refused_and_bring_no_cookies() {
    let (router, _) = router();
    let page = [("origin", "https://evil.example")];
    assert_eq!(status(&router, "/v1/responses", &page), 403);
    assert_eq!(status(&router, "/v1/responses", &[("origin", "null")]), 403);
    assert_eq!(
        status(
            &router,
            "/v1/responses",
            &[("origin", "https://agents.example")]
        ),
        101
    );
    assert_eq!(
        status(
            &router,
            "/v1/responses",
            &[("origin", "https://agents.example:8443")]
        ),
        403
    );
    let app = "https://app.example";
    let listed = Cors::default().allow(HeaderValue::from_static("https://app.example"));
    for cors in [listed, Cors::any()] {
        let router = router.clone().cors(cors);
        let headers = [
            ("origin", app),
            ("cookie", "session=1"),
            ("authorization", "Basic YTpi"),
            // What a proxy makes of them.
            ("x-forwarded-user", "ann"),
        ];
        let mut client = open(&router, "/v1/responses", &headers).unwrap();
        assert_eq!(
            answer(&client.ask(&create("headers"))),
            "POST /v1/responses content-type,host,origin",
        );
    }
    let own = [
        ("origin", "https://agents.example"),
        ("cookie", "session=1"),
    ];
    let mut client = open(&router, "/v1/responses", &own).unwrap();
    let seen = client.ask(&create("headers"));
    assert!(answer(&seen).contains("cookie"));
}

#[test]
fn hosts_and_base_paths_are_those_of_requests() {
    let (router, _) = router();
    let router = router.hosts(["agents.example"]).base_path("/agents");
    assert_eq!(status(&router, "/v1/responses", &[]), 101);
    assert_eq!(status(&router, "/agents/v1/responses", &[]), 101);
    let mut client = open(&router, "/agents/v1/responses/", &[]).unwrap();
    assert_eq!(answer(&client.ask(&create("hi"))), "[user:hi]");
    let router = router.hosts(["elsewhere.example"]);
    assert_eq!(status(&router, "/v1/responses", &[]), 421);
}

#[test]
fn the_first_subprotocol_is_selected() {
    let (router, _) = router();
    let headers = [("sec-websocket-protocol", "chat.v1, token.abc")];
    let client = open(&router, "/api/chat", &headers).unwrap();
    assert_eq!(client.0.subprotocol().unwrap(), "chat.v1");
    assert!(Client::chats(&router).0.subprotocol().is_none());
}

#[test]
fn a_socket_is_mounted_with_each_model_path() {
    let agent = std::sync::Arc::new(Witness::default());
    let at = |name: &str, path: &str| copilot_wire::responses::Model::new(name).path(path);
    let router = Router::new()
        .mount(at("a", "/one/v1/responses"), agent.clone())
        .unwrap()
        .mount(at("b", "/one/v1/responses"), agent.clone())
        .unwrap()
        .mount(at("c", "/two/v1/responses"), agent)
        .unwrap();
    assert_eq!(status(&router, "/one/v1/responses", &[]), 101);
    assert_eq!(status(&router, "/two/v1/responses", &[]), 101);
    assert_eq!(status(&router, "/v1/responses", &[]), 404);
}
