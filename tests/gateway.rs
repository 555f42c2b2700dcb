//! What a router needs behind a gateway: a base path, guards, limits of uploads, and reports.

#![cfg(all(feature = "openbb", feature = "github", feature = "openai"))]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{
    AgentError, Conversation, Env, Environment, Outcome, Protocol, Refusal, Ticks, Usage,
};
use copilot_wire::router::MountError;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use futures::channel::mpsc;
use futures::executor::block_on;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use http::header::{ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

const ORIGIN_OF_WORKSPACE: &str = "https://pro.openbb.co";

/// Repeats what is asked, or does what it says.
struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        drop(request);
        match &*prompt {
            "fail" => return Err(std::io::Error::other("the disk\nis full").into()),
            "panic" => panic!("a bug in the agent"),
            "wait" => {
                reply.text("one").await?;
                std::future::pending::<()>().await;
            }
            _ => {}
        }
        for word in prompt.split(' ') {
            reply.text(word).await?;
        }
        reply.usage(Usage::new(7, 3)).await?;
        Ok(reply.status("Done").await?)
    }
}

type Chunks = BoxStream<'static, Result<Bytes, std::io::Error>>;

fn chunks(body: impl Into<Bytes>) -> Chunks {
    stream::iter([Ok(body.into())]).boxed()
}

fn post(path: &str) -> http::request::Builder {
    http::Request::post(path)
        .header("content-type", "application/json")
        .header(ORIGIN, ORIGIN_OF_WORKSPACE)
}

fn human(prompt: &str) -> String {
    format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#)
}

fn user(model: &str, prompt: &str) -> String {
    format!(
        r#"{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]}}"#
    )
}

fn handle(router: &Router, request: http::request::Builder, body: Chunks) -> Response<Body> {
    block_on(router.handle(request.body(body).unwrap()))
}

fn text(body: Body) -> String {
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap().to_vec()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

fn ask(router: &Router, request: http::request::Builder, body: String) -> (StatusCode, String) {
    let response = handle(router, request, chunks(body));
    (response.status(), text(response.into_body()))
}

fn get(router: &Router, path: &str) -> (StatusCode, String) {
    ask(router, http::Request::get(path), String::new())
}

fn document(router: &Router, path: &str) -> serde_json::Value {
    let (status, document) = get(router, path);
    assert_eq!(status, 200, "{path}");
    serde_json::from_str(&document).unwrap()
}

fn descriptor(id: &str) -> Descriptor {
    Descriptor::new(id, id, "Repeats").path(format!("/{id}/query"))
}

// A base path.

#[test]
fn documents_advertise_the_base_path_and_requests_are_found_with_it_and_without() {
    for base in ["/agents", "/agents/", "agents", "/gateway/agents/"] {
        let router = Router::new()
            .base_path(base)
            .mount(
                descriptor("one")
                    .feedback("/v1/feedback")
                    .image("/one.png")
                    .base_url("https://example.com"),
                Echo,
            )
            .and_then(|router| router.mount("one", Echo))
            .unwrap();
        let base = format!("/{}", base.trim_matches('/'));
        for prefix in ["", &base] {
            let agents = document(&router, &format!("{prefix}/agents.json"));
            let one = &agents["one"];
            let query = one["endpoints"]["query"].as_str().unwrap();
            assert_eq!(query, format!("{base}/one/query"));
            assert_eq!(one["endpoints"]["feedback"], format!("{base}/v1/feedback"));
            assert_eq!(one["image"], format!("{base}/one.png"));
            let old = document(&router, &format!("{prefix}/copilots.json"));
            let whole = format!("https://example.com{base}/one/query");
            assert_eq!(old["one"]["endpoints"]["query"], whole);
            // Below the host, below the URL of the server, and as a proxy leaves it that strips.
            for path in [
                query,
                &format!("{base}{query}"),
                "/one/query",
                "/one/query/",
            ] {
                let (status, reply) = ask(&router, post(path), human("hello"));
                assert!(
                    status == 200 && reply.contains("hello"),
                    "{path}: {status} {reply}"
                );
            }
            let (status, _) = get(&router, &format!("{prefix}/v1/models"));
            assert_eq!(status, 200);
        }
        let (status, _) = get(&router, "/agentsmith/agents.json");
        assert_eq!(status, 404);
    }
}

#[test]
fn a_base_path_hides_no_route_of_its_name() {
    let router = Router::new()
        .base_path("/v1")
        .mount(Descriptor::new("one", "One", "Repeats"), Echo)
        .unwrap();
    for path in ["/v1/query", "/v1/v1/query"] {
        assert_eq!(ask(&router, post(path), human("hello")).0, 200, "{path}");
    }
}

#[test]
fn a_whole_url_does_not_move_the_agent() {
    let elsewhere = "https://example.com/deep/below/query";
    let one = Descriptor::new("one", "One", "Repeats").url(elsewhere);
    let two = Descriptor::new("two", "Two", "Repeats")
        .url(elsewhere)
        .path("/two");
    let router = Router::new().base_path("/agents").mount(one, Echo).unwrap();
    let router = router.mount(two, Echo).unwrap();
    let agents = document(&router, "/agents.json");
    for (id, path) in [("one", "/v1/query"), ("two", "/two")] {
        assert_eq!(agents[id]["endpoints"]["query"], elsewhere);
        assert_eq!(ask(&router, post(path), human("hello")).0, 200, "{path}");
    }
    assert_eq!(
        ask(&router, post("/deep/below/query"), human("hello")).0,
        404
    );
    // A URL is no path.
    let path = Descriptor::new("one", "One", "Repeats").path(elsewhere);
    let error = Router::new().mount(path, Echo).unwrap_err();
    assert!(matches!(error, MountError::Path(_)), "{error}");
}

// Guards.

#[derive(Clone)]
struct User(&'static str);

async fn api_key(mut parts: Parts) -> Result<Parts, Refusal> {
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

/// A body that nobody must ask for.
fn unread() -> Chunks {
    stream::poll_fn(|_| panic!("the body is read")).boxed()
}

/// Greets whom the guard let pass.
struct Greeter;

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
        .mount("one", Greeter)
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
        assert!(exposed.contains("www-authenticate") && exposed.contains("retry-after"));
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
                site.mount("one", Greeter)?;
                site.mount("two", Greeter)
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
    let free = Router::new().mount("free", Echo).unwrap();
    let paid = free.with(|site| {
        site.guard(api_key);
        site.mount("paid", Echo)
    });
    let error = paid.unwrap_err().to_string();
    assert!(
        error.contains("guards") && error.contains("/v1/chat/completions"),
        "{error}"
    );
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

// Uploads.

/// A body that stalls after its first chunk.
fn stalled(size: usize) -> Chunks {
    chunks(vec![b' '; size]).chain(stream::pending()).boxed()
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn stalled_uploads_share_a_budget_and_others_are_served() {
    const MIB: usize = 1024 * 1024;
    let router = Router::new()
        .body_budget(32 * MIB)
        .mount(descriptor("one"), Echo)
        .unwrap();
    let small = || ask(&router, post("/one/query"), human("hello")).0;
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..60 {
        let request = post("/one/query").body(stalled(MIB)).unwrap();
        let mut upload = Box::pin(router.handle(request));
        match poll(upload.as_mut()) {
            Poll::Pending => held.push(upload),
            Poll::Ready(response) => {
                assert_eq!(response.status(), 503);
                assert!(response.headers().contains_key("retry-after"));
                refused += 1;
            }
        }
        assert_eq!(small(), 200);
    }
    assert!(held.len() < 32 && refused > 28, "{} {refused}", held.len());
    drop(held);
    let response = handle(&router, post("/one/query"), chunks(" ".repeat(8 * MIB)));
    assert_eq!(response.status(), 400, "the budget is whole again");
}

/// The bytes of a request are in the budget until its agent drops them.
#[test]
fn a_request_under_way_is_in_the_budget() {
    struct Keeper;
    #[async_trait]
    impl<P: Protocol> Agent<P> for Keeper {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            reply.text("one").await?;
            let _request = request;
            std::future::pending().await
        }
    }
    let router = Router::new()
        .body_budget(48 * 1024)
        .mount(descriptor("one"), Keeper)
        .unwrap();
    // Documents of the crate's own are slices of the request's bytes.
    let large = format!(
        r#"{{"messages":[{{"role":"human","content":"x"}}],"extra_state":{{"a":"{}"}}}}"#,
        "a".repeat(20 * 1024)
    );
    let turn = || handle(&router, post("/one/query"), chunks(large.clone()));
    let first = turn();
    assert_eq!(first.status(), 200);
    assert_eq!(turn().status(), 503);
    drop(first);
    assert_eq!(turn().status(), 200);
}

/// Ticks that a test drives.
struct Timer(Mutex<Option<mpsc::UnboundedReceiver<()>>>);

impl Environment for Timer {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        assert_eq!(period, Duration::from_secs(5));
        Some(self.0.lock().unwrap().take()?.boxed())
    }
}

#[test]
fn an_upload_that_stalls_is_refused_after_a_while() {
    let (tick, ticks) = mpsc::unbounded();
    let router = Router::new()
        .body_timeout(Duration::from_secs(5))
        .env(Env::new(Timer(Mutex::new(Some(ticks)))))
        .mount(descriptor("one"), Echo)
        .unwrap();
    let request = post("/one/query").body(stalled(10)).unwrap();
    let mut upload = pin!(router.handle(request));
    assert!(poll(upload.as_mut()).is_pending());
    tick.unbounded_send(()).unwrap();
    let Poll::Ready(response) = poll(upload.as_mut()) else {
        panic!("it still waits");
    };
    assert_eq!(response.status(), 408);
    assert!(
        response
            .headers()
            .contains_key("access-control-allow-origin")
    );
    let body = text(response.into_body());
    assert!(body.contains("took longer than 5s"), "{body}");
}

#[cfg(feature = "verify")]
#[test]
fn an_unsigned_request_is_refused_before_its_body_is_read() {
    use copilot_wire::github::verify::KeySet;

    let router = Router::new()
        .mount(Mount::verified(KeySet::default()), Echo)
        .unwrap();
    let response = handle(&router, post("/github"), unread());
    assert_eq!(response.status(), 401);
}

// Reports.

#[derive(Default)]
struct Clock(AtomicUsize);

/// An environment whose clock is a second later whenever it is asked.
impl Environment for Clock {
    fn now(&self) -> SystemTime {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed) as u64;
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn ticks(&self, _: Duration) -> Option<Ticks> {
        None
    }
}

fn reporting() -> (Router, Arc<Mutex<Vec<String>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&reports);
    let router = Router::new()
        .guard(async |mut parts: Parts| {
            parts.extensions.insert(User("Ali"));
            Ok(parts)
        })
        .observe(move |turn| {
            let told = match turn.outcome {
                Outcome::Failed { told, .. } | Outcome::Panicked { told } => format!(" {told}"),
                _ => String::new(),
            };
            let report = format!(
                "{} {}{told} {:?} {:?} {}s {}b {}e {}t {}",
                turn.path,
                turn.outcome.as_str(),
                turn.conversation_id,
                turn.first_byte.map(|time| time.as_secs()),
                turn.duration.as_secs(),
                turn.bytes,
                turn.events,
                turn.usage.map_or(0, |usage| usage.input_tokens),
                turn.extensions.get().map_or("", |User(name)| *name),
            );
            log.lock().unwrap().push(report);
        })
        .env(Env::new(Clock::default()))
        .mount(descriptor("one"), Echo)
        .unwrap()
        .mount("one", Echo)
        .unwrap();
    (router, reports)
}

#[test]
fn every_turn_is_reported_once_when_it_is_over() {
    let (router, reports) = reporting();
    let reported = || std::mem::take(&mut *reports.lock().unwrap());
    let turn = |prompt: &str| {
        let asked = post("/one/query").header("x-trace-id", "talk-1");
        let response = handle(&router, asked, chunks(human(prompt)));
        assert!(reports.lock().unwrap().is_empty(), "it is not over");
        response.into_body()
    };
    let size = text(turn("one two three")).len();
    let head = "/one/query";
    let id = r#"Some("talk-1")"#;
    assert_eq!(
        reported(),
        [format!("{head} answered {id} Some(1) 2s {size}b 5e 7t Ali")]
    );
    let size = text(turn("fail")).len();
    assert_eq!(
        reported(),
        [format!(
            "{head} failed true {id} Some(1) 2s {size}b 0e 0t Ali"
        )]
    );
    let size = text(turn("panic")).len();
    assert_eq!(
        reported(),
        [format!(
            "{head} panicked true {id} Some(1) 2s {size}b 0e 0t Ali"
        )]
    );

    // Before the first byte, after it, and with bytes that nobody read.
    drop(turn("wait"));
    assert_eq!(
        reported(),
        [format!("{head} client_left {id} None 1s 0b 0e 0t Ali")]
    );
    let mut body = turn("wait");
    let size = block_on(body.next()).unwrap().unwrap().len();
    drop(body);
    assert_eq!(
        reported(),
        [format!(
            "{head} client_left {id} Some(1) 2s {size}b 1e 0t Ali"
        )]
    );

    // A detached run ends its turn itself.
    let mut body = turn("one");
    let run = body.detach().unwrap();
    drop(body);
    assert!(reported().is_empty());
    block_on(run);
    assert_eq!(
        reported(),
        [format!("{head} answered {id} None 1s 0b 3e 7t Ali")]
    );

    // An answer without a stream.
    let body = r#"{"model":"one","messages":[{"role":"user","content":"hello"}]}"#;
    let (_, answer) = ask(&router, post("/v1/chat/completions"), body.to_owned());
    let size = answer.len();
    let reports = reported();
    let end = format!("Some(1) 2s {size}b 3e 7t Ali");
    assert!(
        reports.len() == 1 && reports[0].ends_with(&end),
        "{reports:?} {end}"
    );
}

#[test]
fn a_refused_request_is_reported_and_no_fault() {
    let (router, reports) = reporting();
    let (status, body) = ask(&router, post("/one/query"), "[]".to_owned());
    assert_eq!(status, 422, "{body}");
    let (status, _) = ask(&router, post("/v1/chat/completions"), user("two", "hello"));
    assert_eq!(status, 404);
    // Documents are no turns.
    let _ = get(&router, "/agents.json");
    let _ = get(&router, "/none");
    let reports = reports.lock().unwrap().clone();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(
        reports[0].starts_with("/one/query refused None None 1s"),
        "{reports:?}"
    );
    assert!(
        reports[1].starts_with("/v1/chat/completions refused"),
        "{reports:?}"
    );
}

/// The line for a log is one line, and says where and why.
#[test]
fn a_report_is_a_line() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let router = Router::new()
        .observe(move |turn| log.lock().unwrap().push(turn.to_string()))
        .mount(descriptor("one"), Echo)
        .unwrap();
    for prompt in ["fail", "panic", "hello"] {
        drop(text(
            handle(&router, post("/one/query"), chunks(human(prompt))).into_body(),
        ));
    }
    let _ = ask(&router, http::Request::post("/one/query"), String::new());
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "openbb turn at /one/query failed: the disk\\nis full",
            "openbb turn at /one/query panicked",
            "openbb turn at /one/query answered",
            "openbb turn at /one/query was refused (415 Unsupported Media Type): \
             content-type must be application/json",
        ]
    );
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
