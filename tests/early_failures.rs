//! Turns of the model dialects that fail before their first output have a status.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "exchange/mod.rs"]
mod exchange;

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{
    AgentError, Conversation, Env, Environment, Outcome, Protocol, Refusal, Ticks,
};
use copilot_wire::{
    Agent, Body, Reply, Request, Router, agent_fn, anthropic, async_trait, openai, responses,
};
use copilot_wire_kit::Clock;
use exchange::{send, whole};
use futures::StreamExt;
use futures::executor::block_on;
use futures::stream::BoxStream;
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";
const PATHS: [&str; 3] = [CHAT, RESPONSES, MESSAGES];

/// Fails as the prompt says.
struct Fails {
    clock: Clock,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Fails {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        for word in prompt.split(' ') {
            match word {
                "say" => reply.text("Par").await?,
                "sleep" => self.clock.sleep(Duration::from_secs(3)).await,
                "panic" => panic!("a bug in the agent"),
                "elsewhere" => {
                    let other = std::thread::spawn(move || {
                        let _reply = reply;
                        panic!("a bug in another thread");
                    });
                    assert!(other.join().is_err());
                    return Ok(());
                }
                "io" => return Err(std::io::Error::other("password=hunter2").into()),
                "busy" => return Err(AgentError::new("Busy.").retryable()),
                "gone" => return Err(AgentError::new("Gone.").status(StatusCode::BAD_GATEWAY)),
                "long" => return Err(AgentError::too_long()),
                "longer" => return Err(AgentError::too_long().user_message("9 tokens > 8.")),
                "fail" => return Err(AgentError::new("Away.")),
                _ => {}
            }
        }
        Ok(())
    }
}

fn router(clock: &Clock) -> Router {
    let agent = || Fails {
        clock: clock.clone(),
    };
    Router::new()
        .env(Env::new(clock.clone()))
        .mount_model("m", agent())
        .unwrap()
        .mount(Descriptor::new("m", "M", "Fails"), agent())
        .unwrap()
}

fn body(path: &str, prompt: &str, stream: bool) -> String {
    let message = json!([{"role": "user", "content": prompt}]);
    let body = match path {
        RESPONSES => json!({"model": "m", "stream": stream, "input": prompt}),
        MESSAGES => json!({"model": "m", "stream": stream, "max_tokens": 99, "messages": message}),
        CHAT => json!({"model": "m", "stream": stream, "messages": message}),
        _ => json!({"messages": [{"role": "human", "content": prompt}]}),
    };
    body.to_string()
}

fn ask(router: &Router, path: &str, prompt: &str, stream: bool) -> Response<String> {
    let request = http::Request::post(path);
    send(router, request, body(path, prompt, stream)).map(whole)
}

type Chunks = BoxStream<'static, Result<Bytes, std::convert::Infallible>>;

fn request(path: &str, prompt: &str) -> http::Request<Chunks> {
    let body = Bytes::from(body(path, prompt, true));
    http::Request::post(path)
        .header("content-type", "application/json")
        .body(futures::stream::iter([Ok(body)]).boxed())
        .unwrap()
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the error object of an error response.
fn error(text: &str) -> Value {
    let body: Value = serde_json::from_str(text).unwrap();
    body["error"].clone()
}

fn retry(response: &Response<String>) -> Option<&str> {
    let header = response.headers().get("x-should-retry")?;
    Some(header.to_str().unwrap())
}

/// Returns the error object of a stream that failed.
fn failure(path: &str, stream: &str) -> Value {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let mut events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let at = match path {
        RESPONSES => "/response/error",
        _ => "/error",
    };
    events
        .find_map(|event| event.pointer(at).filter(|error| !error.is_null()).cloned())
        .unwrap_or_else(|| panic!("{stream}"))
}

/// Claude Code 2.1.330 sends a request again after 400, five times with fewer features.
fn final_status(path: &str, status: u16) -> u16 {
    match (path, status) {
        (MESSAGES, 400) => 424,
        _ => status,
    }
}

#[test]
fn a_failure_before_the_first_output_has_a_status() {
    let router = router(&Clock::new());
    let sorry = "Sorry, something went wrong and the answer is incomplete.";
    for stream in [true, false] {
        for (prompt, status, message, code, final_) in [
            ("fail", 400, "Away.", "agent_failed", true),
            ("io", 400, sorry, "agent_failed", true),
            ("panic", 400, sorry, "agent_failed", true),
            ("elsewhere", 400, sorry, "agent_failed", true),
            ("gone", 502, "Gone.", "agent_failed", true),
            ("busy", 503, "Busy.", "overloaded", false),
        ] {
            for path in PATHS {
                let response = ask(&router, path, prompt, stream);
                assert_eq!(
                    response.status(),
                    final_status(path, status),
                    "{path} {prompt}"
                );
                assert_eq!(response.headers()["content-type"], "application/json");
                assert_eq!(retry(&response), final_.then_some("false"), "{prompt}");
                let error = error(response.body());
                assert_eq!(error["message"], message);
                let kind = match (path, status) {
                    (_, 400) => "invalid_request_error",
                    (MESSAGES, 502) => "api_error",
                    (MESSAGES, _) => "overloaded_error",
                    _ => "server_error",
                };
                assert_eq!(error["type"], kind);
                assert_eq!(error.get("code").is_some(), path != MESSAGES);
                if path != MESSAGES {
                    assert_eq!(error["code"], code);
                }
                assert_eq!(
                    response.headers().contains_key("request-id"),
                    path == MESSAGES
                );
                assert!(response.extensions().get::<Refusal>().is_none());
            }
        }
    }
}

#[test]
fn a_failure_after_the_first_output_is_part_of_the_stream() {
    let router = router(&Clock::new());
    for prompt in ["say fail", "say panic", "say elsewhere"] {
        for (path, kind, code) in [
            (
                CHAT,
                json!("invalid_request_error"),
                json!("invalid_prompt"),
            ),
            (RESPONSES, json!(null), json!("invalid_prompt")),
            (MESSAGES, json!("invalid_request_error"), json!(null)),
        ] {
            let response = ask(&router, path, prompt, true);
            assert_eq!(response.status(), 200, "{path}");
            assert!(response.body().contains("Par"));
            let error = failure(path, response.body());
            assert_eq!((&error["type"], &error["code"]), (&kind, &code), "{path}");
        }
    }
    // Clients repeat it as before.
    let response = ask(&router, CHAT, "say busy", true);
    let error = failure(CHAT, response.body());
    assert_eq!(
        (&error["type"], &error["code"]),
        (&json!("server_error"), &json!(null))
    );
}

#[test]
fn a_server_that_died_says_so_without_the_word_for_a_retry() {
    let mut out = Vec::new();
    openai::OpenAi::lost(b"", 1, &mut out);
    let error = failure(CHAT, std::str::from_utf8(&out).unwrap());
    assert_eq!(error["type"], "invalid_request_error");
    assert_eq!(error["code"], "invalid_prompt");
}

#[test]
fn a_conversation_that_is_too_long_has_the_words_of_each_client() {
    let router = router(&Clock::new());
    let default = "The prompt is too long for the model.";
    for (prompt, message, anthropic) in [
        ("long", default, default),
        (
            "longer",
            "9 tokens > 8.",
            "prompt is too long: 9 tokens > 8.",
        ),
    ] {
        for stream in [true, false] {
            for path in PATHS {
                let response = ask(&router, path, prompt, stream);
                assert_eq!(response.status(), 400);
                assert_eq!(retry(&response), Some("false"));
                let error = error(response.body());
                assert_eq!(error["type"], "invalid_request_error");
                match path {
                    MESSAGES => assert_eq!(error["message"], anthropic),
                    _ => {
                        assert_eq!(error["message"], message);
                        assert_eq!(error["code"], "context_length_exceeded");
                    }
                }
            }
        }
        let late = format!("say {prompt}");
        let error = |path| failure(path, ask(&router, path, &late, true).body());
        // With the code of the others Copilot's command line runs the turn six times.
        assert_eq!(error(CHAT)["code"], "invalid_prompt");
        assert_eq!(error(RESPONSES)["code"], "context_length_exceeded");
        assert_eq!(error(RESPONSES)["message"], message);
        assert_eq!(error(MESSAGES)["type"], "invalid_request_error");
        assert_eq!(error(MESSAGES)["message"], anthropic);
        let shown = ask(&router, "/v1/query", prompt, true);
        assert!(shown.body().contains(message), "{}", shown.body());
    }
}

#[test]
fn a_relayed_error_is_too_long_in_every_dialect() {
    async fn relay<U, P>(upstream: &[u8], reply: Reply<P>) -> Result<(), AgentError>
    where
        U: Upstream<Failure: std::fmt::Debug + Send + Sync + 'static>,
        P: Protocol,
    {
        let mut relay = Relay::<U>::new();
        relay.text(upstream, &reply).await?;
        Ok(relay.end(reply)?)
    }

    struct Relays;

    #[async_trait]
    impl<P: Protocol> Agent<P> for Relays {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            const CODE: &str = r#""code":"context_length_exceeded","message":"9 tokens""#;
            match request.prompt().as_deref() {
                Some("chat") => {
                    let upstream = format!("data: {{\"error\":{{{CODE}}}}}\n\n");
                    relay::<openai::OpenAi, P>(upstream.as_bytes(), reply).await
                }
                Some("responses") => {
                    let upstream = format!(
                        "data: {{\"type\":\"response.failed\",\"response\":{{\"error\":{{{CODE}}}}}}}\n\n"
                    );
                    relay::<responses::Responses, P>(upstream.as_bytes(), reply).await
                }
                _ => {
                    let upstream = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens\"}}\n\n";
                    relay::<anthropic::Anthropic, P>(upstream, reply).await
                }
            }
        }
    }

    let router = Router::new().mount_model("m", Relays).unwrap();
    for prompt in ["chat", "responses", "messages"] {
        for path in PATHS {
            let response = ask(&router, path, prompt, true);
            assert_eq!(response.status(), 400, "{path} {prompt}");
            let error = error(response.body());
            match path {
                MESSAGES => assert_eq!(error["message"], "The prompt is too long for the model."),
                _ => assert_eq!(error["code"], "context_length_exceeded"),
            }
        }
    }
}

#[test]
fn the_head_waits_for_five_seconds() {
    for path in PATHS {
        let clock = Clock::new();
        let router = router(&clock);
        // The failure comes after six seconds.
        let mut answer = pin!(router.handle(request(path, "sleep sleep fail")));
        for time in [0, 3000, 1999] {
            clock.advance(Duration::from_millis(time));
            assert!(poll(answer.as_mut()).is_pending());
        }
        clock.advance(Duration::from_millis(1));
        let Poll::Ready(response) = poll(answer.as_mut()) else {
            panic!("{path} still waits");
        };
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let mut first = pin!(body.next());
        // What the session has opened was not sent before.
        let Poll::Ready(Some(Ok(opening))) = poll(first.as_mut()) else {
            panic!("{path} has no opening");
        };
        clock.advance(Duration::from_secs(1));
        let stream = String::from_utf8(opening.to_vec()).unwrap() + &whole(body);
        assert_eq!(failure(path, &stream)["message"], "Away.");
    }
}

#[test]
fn the_wait_ends_with_the_first_output_and_with_a_failure() {
    let clock = Clock::new();
    let router = router(&clock);
    for (prompt, status) in [("sleep say sleep fail", 200), ("sleep fail", 400)] {
        for path in PATHS {
            let mut answer = pin!(router.handle(request(path, prompt)));
            assert!(poll(answer.as_mut()).is_pending());
            clock.advance(Duration::from_secs(3));
            // A document yields once.
            let Some(Poll::Ready(response)) =
                (0..2).map(|_| poll(answer.as_mut())).find(Poll::is_ready)
            else {
                panic!("{path} still waits");
            };
            assert_eq!(response.status(), final_status(path, status), "{path}");
        }
    }
}

#[test]
fn the_wait_can_be_shorter_or_left_out() {
    let clock = Clock::new();
    let short = router(&clock).first_output_timeout(Duration::from_secs(1));
    let none = router(&clock).first_output_timeout(Duration::ZERO);
    for path in PATHS {
        let mut answer = pin!(short.handle(request(path, "sleep fail")));
        assert!(poll(answer.as_mut()).is_pending());
        clock.advance(Duration::from_secs(1));
        assert!(poll(answer.as_mut()).is_ready());
        let response = ask(&none, path, "fail", true);
        assert_eq!(response.status(), 200);
        assert_eq!(failure(path, response.body())["message"], "Away.");
    }
}

#[test]
fn without_a_timer_the_head_waits_for_the_first_poll() {
    struct NoTimer;
    impl Environment for NoTimer {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            None
        }
    }
    let clock = Clock::new();
    let router = router(&clock).env(Env::new(NoTimer));
    for path in PATHS {
        let response = ask(&router, path, "fail", true);
        assert_eq!(response.status(), final_status(path, 400));
        let answer = poll(pin!(router.handle(request(path, "sleep fail"))));
        let Poll::Ready(response) = answer else {
            panic!("{path} waits for ever");
        };
        clock.advance(Duration::from_secs(3));
        let stream = whole(response.into_body());
        assert_eq!(failure(path, &stream)["message"], "Away.");
    }
}

#[test]
fn pages_and_workspaces_get_their_head_at_once() {
    let router = router(&Clock::new());
    let Poll::Ready(response) = poll(pin!(router.handle(request("/v1/query", "sleep")))) else {
        panic!("the head waits");
    };
    assert_eq!(response.status(), 200);
    assert_eq!(ask(&router, "/v1/query", "fail", true).status(), 200);
}

#[test]
fn a_turn_that_failed_early_is_reported_once_as_sent() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reports);
    let router = router(&Clock::new()).observe(move |turn| {
        let sent = match turn.outcome {
            Outcome::Failed { sent, .. } | Outcome::Panicked { sent } => sent,
            _ => false,
        };
        let report = (
            turn.outcome.as_str(),
            sent,
            turn.bytes,
            turn.path.to_owned(),
        );
        seen.lock().unwrap().push(report);
    });
    for (prompt, outcome) in [("fail", "failed"), ("panic", "panicked")] {
        for path in PATHS {
            let response = ask(&router, path, prompt, true);
            let report = (outcome, true, response.body().len() as u64, path.to_owned());
            assert_eq!(std::mem::take(&mut *reports.lock().unwrap()), [report]);
        }
    }
}

#[test]
fn a_client_that_leaves_during_the_wait_drops_the_agent() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let left = Arc::new(AtomicUsize::new(0));
    let (flag, count) = (Arc::clone(&gone), Arc::clone(&left));
    let router = Router::new()
        .env(Env::new(Clock::new()))
        .observe(move |turn| {
            assert!(matches!(turn.outcome, Outcome::ClientLeft));
            count.fetch_add(1, Ordering::Relaxed);
        })
        .mount(
            responses::Model::new("m"),
            agent_fn(move |_, reply: Reply<responses::Responses>| {
                let gone = Gone(Arc::clone(&flag));
                async move {
                    let _both = (gone, reply);
                    std::future::pending().await
                }
            }),
        )
        .unwrap();
    let mut answer = Box::pin(router.handle(request(RESPONSES, "hi")));
    assert!(poll(answer.as_mut()).is_pending());
    assert!(!gone.load(Ordering::Relaxed));
    drop(answer);
    assert!(gone.load(Ordering::Relaxed));
    assert_eq!(left.load(Ordering::Relaxed), 1);
}

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn output_of_another_thread_ends_the_wait() {
    let (go, orders) = channel::<()>();
    let (done, answers) = channel::<()>();
    let orders = Arc::new(Mutex::new(Some((orders, done))));
    let router = Router::new()
        .env(Env::new(Clock::new()))
        .mount(
            openai::Model::new("m"),
            agent_fn(move |_, reply: Reply<openai::OpenAi>| {
                let (orders, done): (Receiver<()>, _) = orders.lock().unwrap().take().unwrap();
                std::thread::spawn(move || {
                    orders.recv().unwrap();
                    block_on(reply.text("from afar")).unwrap();
                    done.send(()).unwrap();
                });
                std::future::pending()
            }),
        )
        .unwrap();
    let wakes = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut answer = pin!(router.handle(request(CHAT, "hi")));
    assert!(answer.as_mut().poll(&mut cx).is_pending());
    go.send(()).unwrap();
    answers.recv().unwrap();
    assert!(wakes.0.load(Ordering::SeqCst) > 0);
    let Poll::Ready(response) = answer.as_mut().poll(&mut cx) else {
        panic!("nobody looked");
    };
    let mut body: Body = response.into_body();
    let Poll::Ready(Some(Ok(frame))) = body.poll_next_unpin(&mut cx) else {
        panic!("no output");
    };
    assert!(frame.ends_with(b"\"from afar\"},\"finish_reason\":null}]}\n\n"));
}

#[test]
fn an_answer_is_the_same_with_and_without_the_wait() {
    let long = |_: Request<anthropic::Anthropic>, reply: Reply<anthropic::Anthropic>| async move {
        for _ in 0..1000 {
            reply
                .text("some words that fill more than one frame ")
                .await?;
        }
        Ok(())
    };
    let answer = |timeout| {
        let router = Router::new()
            .env(Env::new(Clock::new()))
            .first_output_timeout(timeout)
            .mount(anthropic::Model::new("m"), agent_fn(long))
            .unwrap();
        ask(&router, MESSAGES, "hi", true).into_body()
    };
    let stream = answer(Duration::from_secs(5));
    assert!(stream.len() > 100_000);
    assert_eq!(stream, answer(Duration::ZERO));
}

/// Refuses with the status in a header, and says when to come again if the header says so.
async fn guard(parts: Parts) -> Result<Parts, Refusal> {
    let Some(wanted) = parts.headers.get("x-refuse") else {
        return Ok(parts);
    };
    let wanted = wanted.to_str().unwrap();
    let status = wanted.trim_end_matches(['+', '!']).parse().unwrap();
    let refusal = Refusal::new(StatusCode::from_u16(status).unwrap(), "no");
    Err(match wanted.chars().last() {
        Some('+') => refusal.header(RETRY_AFTER, HeaderValue::from_static("5")),
        Some('!') => refusal.retryable(),
        _ => refusal,
    })
}

#[test]
fn a_refusal_forbids_a_retry_unless_it_says_when() {
    let router = router(&Clock::new()).guard(guard);
    for path in PATHS {
        for status in [400, 401, 403, 408, 413, 422, 429, 500, 503] {
            for (retryable, wanted) in [
                (false, format!("{status}")),
                (true, format!("{status}+")),
                (true, format!("{status}!")),
            ] {
                let request = http::Request::post(path).header("x-refuse", &wanted);
                let response = send(&router, request, body(path, "hi", true)).map(whole);
                assert_eq!(response.status(), status);
                assert_eq!(
                    retry(&response),
                    (!retryable).then_some("false"),
                    "{wanted}"
                );
            }
        }
        // Bad requests and unknown models as well.
        for body in [
            "{",
            "[]",
            r#"{"model":"other","max_tokens":9,"input":"x","messages":[{"role":"user","content":"x"}]}"#,
        ] {
            let response = send(&router, http::Request::post(path), body).map(whole);
            assert!(response.status().is_client_error());
            assert_eq!(retry(&response), Some("false"), "{path} {body}");
        }
    }
}
