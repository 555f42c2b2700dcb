//! Counts of tokens by an agent: what it gets, what it costs, and what is left of it if it fails.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Conversation as _, Env, Refusal, User};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::Clock;
use http::request::Parts;
use serde_json::{Value, json};

use crate::ask;
use crate::streams::{MESSAGES, RESPONSES};

/// The path of the counts behind that of turns, and the member of the request with the prompt.
const COUNTS: [(&str, &str, &str); 2] = [
    (MESSAGES, "count_tokens", "messages"),
    (RESPONSES, "input_tokens", "input"),
];

/// Behaves as the prompt says.
#[derive(Clone, Default)]
struct Counter(Arc<Mutex<Vec<String>>>);

impl Counter {
    async fn count(&self, request: String, asked: &str) -> Result<Option<u64>, AgentError> {
        self.0.lock().unwrap().push(request);
        match asked {
            "panic" => panic!("the table is missing"),
            "fail" => Err(AgentError::new("the table is missing")),
            "nothing" => Ok(None),
            "wait" => std::future::pending().await,
            _ => Ok(Some(321)),
        }
    }
}

macro_rules! counter {
    ($($protocol:ty),*) => {$(
        #[async_trait]
        impl Agent<$protocol> for Counter {
            async fn answer(
                &self,
                _: Request<$protocol>,
                reply: Reply<$protocol>,
            ) -> Result<(), AgentError> {
                Ok(reply.text("a").await?)
            }

            async fn count_tokens(
                &self,
                request: Request<$protocol>,
            ) -> Result<Option<u64>, AgentError> {
                let all = request.prompt().unwrap_or_default().into_owned();
                let tenant = request.param("tenant").unwrap_or_default();
                self.count(format!("{} {tenant}", request.model), &all).await
            }
        }
    )*};
}

counter!(OpenAi, Anthropic, Responses);

fn prompt(member: &str, text: &str) -> Value {
    json!({"model": "m", member: [{"role": "user", "content": text}]})
}

fn count(router: &Router, (path, end, member): (&str, &str, &str), text: &str) -> u64 {
    let (status, body) = ask(router, &format!("{path}/{end}"), &prompt(member, text));
    assert_eq!(status, 200, "{path}: {body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    body["input_tokens"].as_u64().unwrap()
}

async fn as_user(mut parts: Parts) -> Result<Parts, Refusal> {
    parts.extensions.insert(User::new("ali"));
    Ok(parts)
}

#[test]
fn a_count_that_fails_is_reported_and_estimated() {
    for kind in COUNTS {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reports);
        let router = Router::new().mount_model("m", Counter::default()).unwrap();
        let router = router.observe(move |turn| {
            let report = (turn.path.to_owned(), turn.agent.map(str::to_owned));
            let mut seen = seen.lock().unwrap();
            seen.push((turn.outcome.as_str(), report));
        });
        let path = format!("{}/{}", kind.0, kind.1);
        for (text, counted, outcome) in [
            ("count", Some(321), Some("answered")),
            ("panic", None, Some("panicked")),
            ("fail", None, Some("failed")),
            ("nothing", None, None),
        ] {
            let tokens = count(&router, kind, text);
            assert_eq!(tokens == 321, counted.is_some(), "{path}: {text}: {tokens}");
            let found: Vec<_> = reports.lock().unwrap().drain(..).collect();
            let report = (path.clone(), Some("m".to_owned()));
            let expected: Vec<_> = outcome.map(|it| (it, report)).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn the_agent_gets_the_request_as_in_a_turn() {
    for (path, end, member) in COUNTS {
        let counter = Counter::default();
        let router = Router::new()
            .mount_model_at("/{tenant}/v1", "other", counter.clone())
            .and_then(|router| router.mount_model_at("/{tenant}/v1", "m", counter.clone()));
        let router = router.unwrap();
        for model in ["m", ""] {
            let mut body = prompt(member, "count");
            body["model"] = json!(model);
            let (status, body) = ask(&router, &format!("/acme{path}/{end}"), &body);
            assert!(status == 200 && body.contains("321"), "{path}: {body}");
        }
        assert_eq!(*counter.0.lock().unwrap(), ["m acme", "other acme"]);
    }
}

#[test]
fn a_count_has_the_turns_that_it_continues() {
    let store = Conversations::single_user(MemoryConversationStore::new());
    let router = Router::new().conversations(store);
    let router = router.mount_model("m", Counter::default()).unwrap();
    for (path, end, member) in COUNTS {
        let mut body = prompt(member, &"nothing ".repeat(1_000));
        body["thread"] = json!({"type": "create"});
        let answer: Value = serde_json::from_str(&ask(&router, path, &body).1).unwrap();
        let mut body = prompt(member, "nothing");
        // Each protocol ignores the member of the other one.
        body["thread"] = json!({"type": "continue", "previous_message_id": answer["id"]});
        body["previous_response_id"] = answer["id"].clone();
        let (_, count) = ask(&router, &format!("{path}/{end}"), &body);
        assert!(count.contains(r#""input_tokens":200"#), "{path}: {count}");
    }
}

#[test]
fn everything_is_estimated_and_nothing_compacted() {
    let router = Router::new().mount_model("m", Counter::default()).unwrap();
    let ask = |end: &str, body: &Value| ask(&router, &format!("{RESPONSES}/{end}"), body);
    let text = "x".repeat(400);
    let body = json!({"model": "m", "instructions": text, "input": [
        {"role": "user", "content": [
            {"type": "input_text", "text": "nothing"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        ]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": text},
    ]});
    let estimate = r#"{"object":"response.input_tokens","input_tokens":1803}"#;
    assert_eq!(ask("input_tokens", &body), (200, estimate.to_owned()));
    let (status, error) = ask("input_tokens", &json!({}));
    assert!(
        status == 400 && error.contains(r#""param":"input""#),
        "{error}"
    );
    let (status, error) = ask("compact", &body);
    assert!(
        status == 404 && error.contains("unsupported_endpoint"),
        "{error}"
    );
}

#[test]
fn counts_have_the_limits_of_turns_and_take_no_turn() {
    for (path, end, member) in COUNTS {
        let kind = (path, end, member);
        let turn = |router: &Router| ask(router, path, &crate::request(path, false)).0;
        let router = || Router::new().mount_model("m", Counter::default()).unwrap();

        for limited in [
            router().max_turns(1),
            router().guard(as_user).max_turns_per_user(1),
        ] {
            let body = Bytes::from(prompt(member, "wait").to_string());
            let request = http::Request::post(format!("{path}/{end}"))
                .header("content-type", "application/json")
                .body(futures::stream::iter([Ok::<_, std::io::Error>(body)]));
            {
                let mut waiting = pin!(limited.handle(request.unwrap()));
                let polled = waiting
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending(), "{path}");
                assert!(count(&limited, kind, "count") < 321, "{path}");
                assert_eq!(turn(&limited), 200, "{path}");
            }
            assert_eq!(count(&limited, kind, "count"), 321, "{path}");
        }

        let clock = Clock::new();
        let limited = router().env(Env::new(clock.clone())).guard(as_user);
        let limited = limited.max_turns_per_minute(2);
        let counts: Vec<_> = (0..3).map(|_| count(&limited, kind, "count")).collect();
        assert_eq!(counts[..2], [321, 321], "{path}");
        assert!(counts[2] < 321, "{path}: {counts:?}");
        assert_eq!(turn(&limited), 200, "{path}");
        // The limit stays when the routes are replaced.
        let next = router().env(Env::new(clock.clone())).guard(as_user);
        limited.replace(next.max_turns_per_minute(2));
        assert!(count(&limited, kind, "count") < 321, "{path}");
    }
}
