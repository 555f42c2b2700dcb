//! Checks of the head of a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use copilot_wire::github::Mount;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Protocol, Refusal};
use copilot_wire::router::{Endpoint, HttpRequest, MountError, Site};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use http::header::{ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use crate::support::*;

pub(crate) async fn api_key(mut parts: Parts) -> Result<Parts, Refusal> {
    match parts.headers.get("x-api-key") {
        Some(key) if key == "sesame" => {
            parts.extensions.insert(User("Ali"));
            Ok(parts)
        }
        _ => Err(Refusal::new(StatusCode::UNAUTHORIZED, "set your API key")
            .code("unauthorized")
            .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
    }
}

/// Greets whom the guard let pass.
pub(crate) struct Greeter;

#[async_trait]
impl<P: Protocol> Agent<P> for Greeter {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let user = request
            .extensions()
            .get()
            .map_or("nobody", |User(name)| name);
        Ok(reply.text(user).await?)
    }
}

#[test]
fn a_guard_refuses_in_the_form_of_the_route_before_the_body_is_read() {
    // The order of guards and mounts does not matter.
    let router = Router::new()
        .mount(descriptor("one"), Greeter)
        .unwrap()
        .guard(api_key)
        .mount(copilot_wire::openai::Model::new("one"), Greeter)
        .unwrap()
        .mount(Mount::unverified(), Greeter)
        .unwrap();
    for path in ["/one/query", "/v1/chat/completions", "/github"] {
        let response = handle(&router, post(path), unread());
        assert_eq!(response.status(), 401, "{path}");
        let headers = response.headers();
        assert_eq!(headers["www-authenticate"], "Bearer", "{path}");
        // A page can read why.
        assert_eq!(headers["access-control-allow-origin"], ORIGIN_OF_WORKSPACE);
        let exposed = headers["access-control-expose-headers"].to_str().unwrap();
        assert!(exposed.contains("www-authenticate"), "{exposed}");
        let body = text(response.into_body());
        let error: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(error["error"]["code"], "unauthorized", "{path}: {body}");
        // OpenAI's errors have a type.
        let is_openai = path == "/v1/chat/completions";
        assert_eq!(
            error["error"].get("type").is_some(),
            is_openai,
            "{path}: {body}"
        );
    }
    let asked = post("/one/query").header("x-api-key", "sesame");
    let (status, reply) = ask(&router, asked, human("hello"));
    assert!(status == 200 && reply.contains("Ali"), "{reply}");
    // Documents and probes are guarded as well, preflights never.
    for path in ["/agents.json", "/v1/models", "/v1/models/one", "/github"] {
        assert_eq!(get(&router, path).0, 401, "{path}");
        let preflight = http::Request::options(path)
            .header(ORIGIN, ORIGIN_OF_WORKSPACE)
            .header("access-control-request-method", "POST");
        assert_eq!(ask(&router, preflight, String::new()).0, 204, "{path}");
    }
}

#[test]
fn a_guard_of_some_agents_leaves_the_others_and_the_documents_open() {
    let router = Router::new()
        .mount(descriptor("open"), Greeter)
        .and_then(|router| {
            router.with(|site| {
                site.guard(api_key);
                site.mount(descriptor("one"), Greeter)?;
                site.mount(copilot_wire::openai::Model::new("one"), Greeter)?;
                site.mount(copilot_wire::openai::Model::new("two"), Greeter)
            })
        })
        .and_then(|router| router.mount(descriptor("late"), Greeter))
        .unwrap();
    for path in ["/open/query", "/late/query"] {
        assert_eq!(ask(&router, post(path), human("hello")).0, 200, "{path}");
    }
    assert_eq!(ask(&router, post("/one/query"), human("hello")).0, 401);
    for model in ["one", "two"] {
        let asked = ask(&router, post("/v1/chat/completions"), user(model, "hello"));
        assert_eq!(asked.0, 401);
    }
    let agents = document(&router, "/agents.json");
    assert_eq!(agents.as_object().unwrap().len(), 3);
    assert_eq!(
        document(&router, "/v1/models")["data"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[cfg(feature = "anthropic")]
#[test]
fn a_guard_of_one_anthropic_model_would_not_guard_either() {
    use copilot_wire::anthropic::Model;

    let free = Router::new().mount(Model::new("free"), Echo).unwrap();
    let paid = free.with(|site| {
        site.guard(api_key);
        site.mount(Model::new("paid"), Echo)
    });
    let error = paid.unwrap_err().to_string();
    assert!(error.contains("guards"), "{error}");
}

/// Models share one route, and who asks for which is not known before the body is read.
#[test]
fn a_guard_that_would_not_guard_is_an_error() {
    let free = Router::new()
        .mount(copilot_wire::openai::Model::new("free"), Echo)
        .unwrap();
    let other = Router::new().with(|site| {
        site.guard(async |parts: Parts| Ok(parts));
        site.mount(copilot_wire::openai::Model::new("free"), Echo)
    });
    for router in [free, other.unwrap()] {
        let paid = router.with(|site| {
            site.guard(api_key);
            site.mount(copilot_wire::openai::Model::new("paid"), Echo)
        });
        let error = paid.unwrap_err().to_string();
        assert!(
            error.contains("guards") && error.contains("/v1/chat/completions"),
            "{error}"
        );
    }
}

#[test]
fn guards_run_in_order_and_a_panic_lets_nothing_pass() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let router = Router::new()
        .guard(api_key)
        .guard(move |parts: Parts| {
            let counter = Arc::clone(&counter);
            async move {
                counter.fetch_add(1, Ordering::Relaxed);
                let User(name) = parts.extensions.get().unwrap();
                assert_eq!(*name, "Ali");
                assert!(!parts.headers.contains_key("x-panic"), "a bug in the guard");
                Ok(parts)
            }
        })
        .mount(descriptor("one"), Greeter)
        .unwrap();
    assert_eq!(ask(&router, post("/one/query"), human("hello")).0, 401);
    assert_eq!(count.load(Ordering::Relaxed), 0);
    let asked = || post("/one/query").header("x-api-key", "sesame");
    assert_eq!(ask(&router, asked(), human("hello")).0, 200);
    let response = handle(&router, asked().header("x-panic", "1"), unread());
    assert_eq!(response.status(), 500);
    assert!(
        response
            .headers()
            .contains_key("access-control-allow-origin")
    );
    let body = text(response.into_body());
    assert!(!body.contains("bug"), "{body}");
}

/// The agents drop their requests at once; the permit stays as long as the turn.
#[test]
fn what_a_guard_leaves_in_the_extensions_lives_as_long_as_the_turn() {
    let permit = Arc::new(());
    let given = Arc::clone(&permit);
    let router = Router::new()
        .guard(move |mut parts: Parts| {
            let permit = Arc::clone(&given);
            async move {
                if Arc::strong_count(&permit) > 3 {
                    let seconds = HeaderValue::from_static("1");
                    let busy = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy");
                    return Err(busy.header(RETRY_AFTER, seconds));
                }
                parts.extensions.insert(permit);
                Ok(parts)
            }
        })
        .mount(descriptor("one"), Echo)
        .unwrap();
    let turn = |prompt| handle(&router, post("/one/query"), chunks(human(prompt)));
    let mut body = turn("wait").into_body();
    assert!(block_on(body.next()).is_some());
    assert_eq!(Arc::strong_count(&permit), 3);
    let busy = turn("hello");
    assert_eq!(busy.status(), 429);
    assert_eq!(busy.headers()["retry-after"], "1");
    drop(body);
    assert_eq!(Arc::strong_count(&permit), 2);

    // A turn that is over gives it back with its body, a detached one with its run.
    let mut body = turn("hello").into_body();
    while block_on(body.next()).is_some() {}
    assert_eq!(Arc::strong_count(&permit), 3);
    drop(body);
    let mut body = turn("wait").into_body();
    assert!(block_on(body.next()).is_some());
    let run = body.detach().unwrap();
    drop(body);
    assert_eq!(Arc::strong_count(&permit), 3);
    drop(run);
    assert_eq!(Arc::strong_count(&permit), 2);
}

/// A future or stream that is moved to a server's task.
#[test]
fn handling_a_request_is_send() {
    fn send<T: Send>(_: T) {}
    fn stream() -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send {
        stream::empty()
    }
    let router = Router::new().guard(api_key);
    send(router.handle(http::Request::new(stream())));
}

/// A route that answers with what `Debug` shows of its request.
struct Shown;

#[async_trait]
impl Endpoint for Shown {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        Response::new(Body::full(format!("{call:?}")))
    }
}

impl copilot_wire::router::Mount for Shown {
    type Protocol = OpenBb;

    fn mount(self, _: Arc<dyn Agent<OpenBb>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.route(Method::POST, "/{chat}/shown", Self)
    }
}

#[test]
fn a_call_shows_no_secret_of_its_request() {
    let router = Router::new().mount(Shown, Greeter).unwrap();
    let request = post("/sesame-path/shown?key=sesame-query")
        .header("authorization", "Bearer sesame-key")
        .header("cookie", "id=sesame-cookie")
        .header("x-custom", "sesame-header");
    let (status, shown) = ask(&router, request, r#"{"key":"sesame-body"}"#.to_owned());
    assert_eq!(status, 200, "{shown}");
    assert!(!shown.contains("sesame"), "{shown}");
    for known in ["POST", "/{chat}/shown", "authorization", "21 bytes"] {
        assert!(shown.contains(known), "{known}: {shown}");
    }
}
