//! Turns of the model dialects that fail before their first output have a status.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../exchange/mod.rs"]
mod exchange;
mod wait;

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
    (openai::OpenAi::EXTRAS.lost)(b"", 1, &mut out);
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
        U: Upstream,
        P: Protocol,
    {
        let mut relay = Relay::<U>::new();
        relay.pass(upstream, &reply).await?;
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
