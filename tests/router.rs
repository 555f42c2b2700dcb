//! Tests of a router's routes, whatever is mounted.

#![cfg(all(
    feature = "openbb",
    feature = "github",
    feature = "openai",
    feature = "meilisearch"
))]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use copilot_wire::github::Mount;
use copilot_wire::openai::Model;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::router::{Cors, MountError, escape_segment, path_params};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::StatusCode;

#[path = "exchange/mod.rs"]
mod exchange;

struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
    }
}

fn descriptor(id: &str) -> Descriptor {
    Descriptor::new(id, id, "Repeats").path(format!("/{id}/query"))
}

fn ask(router: &Router, request: http::request::Builder, body: &str) -> (StatusCode, String) {
    let response = exchange::send(router, request, body);
    (response.status(), exchange::whole(response.into_body()))
}

const HELLO: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}"#;

#[test]
fn no_mount_takes_the_route_of_another() {
    // A path of any name, before and after the paths that OpenBB needs.
    let before = Router::new()
        .mount(
            copilot_wire::meilisearch::Mount::new().path("/{workspace}"),
            Echo,
        )
        .and_then(|router| router.mount(descriptor("one"), Echo))
        .and_then(|router| router.mount(descriptor("two"), Echo));
    let after = Router::new()
        .mount(descriptor("one"), Echo)
        .and_then(|router| router.mount(descriptor("two"), Echo))
        .and_then(|router| {
            router.mount(
                copilot_wire::meilisearch::Mount::new().path("/{workspace}"),
                Echo,
            )
        });
    for router in [before.unwrap(), after.unwrap()] {
        let (status, reply) = ask(&router, http::Request::post("/films"), HELLO);
        assert!(status == 200 && reply.contains("hello"), "{status} {reply}");
        let (status, agents) = ask(&router, http::Request::get("/agents.json"), "");
        assert!(status == 200 && agents.contains("two"), "{status} {agents}");
    }

    // One path cannot be two things.
    let probe = |path| {
        Router::new()
            .mount(Mount::unverified().path(path), Echo)
            .unwrap()
    };
    for path in ["/agents.json", "/copilots.json"] {
        let taken = probe(path).mount(descriptor("one"), Echo);
        assert!(matches!(taken.unwrap_err(), MountError::Taken { .. }));
    }
    let taken = probe("/v1/models").mount(Model::new("one"), Echo);
    assert!(matches!(taken.unwrap_err(), MountError::Taken { .. }));
}

#[test]
fn a_trailing_slash_makes_no_difference() {
    for mounted in ["/chat", "/chat/", "/chat/{workspace}", "/chat/{workspace}/"] {
        let router = Router::new()
            .mount(copilot_wire::meilisearch::Mount::new().path(mounted), Echo)
            .unwrap();
        let path = mounted
            .trim_end_matches('/')
            .replace("{workspace}", "films");
        for asked in [path.clone(), format!("{path}/")] {
            let (status, _) = ask(&router, http::Request::post(&asked), HELLO);
            assert_eq!(status, 200, "{mounted} {asked}");
        }
        let (status, _) = ask(&router, http::Request::post(format!("{path}//")), HELLO);
        assert_eq!(status, 404, "{mounted}");
    }
}

#[test]
fn parameters_are_whole_segments_without_their_escapes() {
    let read = |template: &str, path: &str| {
        let params = path_params(template, path);
        let params = params.iter().map(|(name, value)| format!("{name}={value}"));
        params.collect::<Vec<_>>().join(" ")
    };
    for (template, path, expected) in [
        ("/chats/{a}/x/{b}/", "/chats/1/x/2", "a=1 b=2"),
        ("/{a}", "/%2F%25%c3%A9+/", "a=/%é+"),
        ("/{a}", "/", ""),
        ("/{a}", "//", ""),
        ("/{a}", "/b/c", ""),
        ("/{a}/c", "/b", ""),
        ("/{a}/c", "/b/d", ""),
        ("/{a}", "b", ""),
        // Escapes that are none.
        ("/{a}", "/%", ""),
        ("/{a}", "/%4", ""),
        ("/{a}", "/%4g", ""),
        ("/{a}", "/%g4", ""),
        ("/{a}", "/%ff", ""),
        // Templates that are none.
        ("{a}", "/b", ""),
        ("/{}", "/b", ""),
        ("/{a", "/b", ""),
        ("/x{a}", "/xb", ""),
        ("/{a}/?", "/b/?", ""),
    ] {
        assert_eq!(read(template, path), expected, "{template} {path}");
    }
    assert_eq!(escape_segment("a-Z_0.~ /é%"), "a-Z_0.~%20%2F%C3%A9%25");
    let text: String = ('\0'..='\u{ff}').collect();
    let path = format!("/{}", escape_segment(&text));
    assert_eq!(path_params("/{a}", &path), [("a".into(), text.into())]);
}

#[test]
fn errors_of_feedback_are_reported() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&heard);
    let router = Router::new()
        .observe(move |turn| {
            log.lock().unwrap().push(turn.to_string());
            panic!("a bug in the observer");
        })
        .with(copilot_wire::openbb::feedback(
            "/v1/feedback",
            |feedback| async move {
                assert_ne!(feedback.user_comment, "panic", "a bug in the handler");
                let cause = std::io::Error::other("the disk is full");
                Err(AgentError::from(cause).user_message("try again"))
            },
        ))
        .unwrap();
    for (comment, expected) in [
        ("fail", "try again"),
        ("panic", "Sorry, something went wrong"),
    ] {
        let body = format!(r#"{{"vote":"thumbs_up","user_comment":"{comment}"}}"#);
        let (status, reply) = ask(&router, http::Request::post("/v1/feedback"), &body);
        assert_eq!(status, 500);
        assert!(reply.contains(expected), "{reply}");
        assert!(!reply.contains("bug"), "{reply}");
    }
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].contains("the disk is full"), "{heard:?}");
    assert!(heard[1].contains("panicked"), "{heard:?}");
}

#[test]
fn only_a_host_of_the_list_is_served() {
    let router = Router::new().mount(Model::new("echo"), Echo).unwrap();
    let local = router.clone().hosts(["localhost", "127.0.0.1", "[::1]"]);
    let ask = |router: &Router, uri: &str, host: &[&str]| {
        let mut request = http::Request::post(uri);
        for host in host {
            request = request.header("host", *host);
        }
        ask(router, request, HELLO.replace("\"m\"", "\"echo\"").as_str()).0
    };
    let path = "/v1/chat/completions";
    let rebound = format!("http://evil.example:7777{path}");
    for (uri, host, status) in [
        (path, &["localhost:7777"][..], 200),
        (path, &["LocalHost"], 200),
        (path, &["127.0.0.1:7777"], 200),
        (path, &["[::1]:7777"], 200),
        (path, &[], 200),
        ("http://localhost:7777/v1/chat/completions", &[], 200),
        (path, &["evil.example:7777"], 421),
        (path, &["localhost.evil.example"], 421),
        (path, &["127.0.0.1@evil.example"], 421),
        (path, &[""], 421),
        (&rebound, &[], 421),
        (&rebound, &["localhost:7777"], 421),
    ] {
        assert_eq!(ask(&local, uri, host), status, "{uri} {host:?}");
        assert_eq!(ask(&router, uri, host), 200, "{uri} {host:?}");
    }
}

#[test]
fn a_preflight_is_answered_as_the_router_allows() {
    let router = Router::new().mount(descriptor("one"), Echo).unwrap();
    let private = "access-control-request-private-network";
    for (cors, asked, status, allowed) in [
        (Cors::default(), true, 204, true),
        (Cors::default(), false, 204, false),
        (Cors::default().private_network(false), true, 204, false),
        (Cors::any(), true, 204, false),
        (Cors::any().private_network(true), true, 204, true),
        (Cors::none(), true, 403, false),
    ] {
        let router = router.clone().cors(cors.clone());
        let mut request = http::Request::options("/one/query")
            .header("origin", "https://pro.openbb.co")
            .header("access-control-request-method", "POST");
        if asked {
            request = request.header(private, "true");
        }
        let response = exchange::send(&router, request, "");
        assert_eq!(response.status(), status, "{cors:?}");
        let headers = response.headers();
        let is_allowed = headers.contains_key("access-control-allow-private-network");
        assert_eq!(is_allowed, allowed, "{cors:?} {asked}");
        let is_readable = headers.contains_key("access-control-allow-origin");
        assert_eq!(is_readable, status == 204, "{cors:?}");
    }
}

#[cfg(feature = "resumable")]
#[test]
fn a_route_exists_where_the_router_has_one_of_its_stores() {
    use copilot_wire::Body;
    use copilot_wire::conversations::{Conversations, MemoryConversationStore};
    use copilot_wire::replies::{MemoryReplyStore, Replies};
    use copilot_wire::router::{Endpoint, HttpRequest};
    use http::{Method, Response};

    struct Here;

    #[async_trait]
    impl Endpoint for Here {
        async fn call(&self, _: HttpRequest) -> Response<Body> {
            Response::new(Body::full("here"))
        }
    }

    let router = Router::new()
        .with(|site| {
            site.conversation_route(Method::GET, "/turns", Here)?;
            site.resumable_route(Method::GET, "/replies", Here)?;
            site.conversation_route(Method::GET, "/both", Here)?;
            site.resumable_route(Method::GET, "/both", Here)?;
            // It was there without a store before.
            site.shared_route(Method::GET, "/always", Here)?;
            site.resumable_route(Method::GET, "/always", Here)
        })
        .unwrap();
    let turns = Conversations::single_user(MemoryConversationStore::new());
    let replies = Replies::single_user(MemoryReplyStore::new(), |_| {});
    for (router, expected) in [
        (router.clone(), [404, 404, 404, 200]),
        (router.clone().conversations(turns), [200, 404, 200, 200]),
        (router.resumable(replies), [404, 200, 200, 200]),
    ] {
        let paths = ["/turns", "/replies", "/both", "/always"];
        let seen = paths.map(|path| ask(&router, http::Request::get(path), "").0.as_u16());
        assert_eq!(seen, expected);
    }
}
