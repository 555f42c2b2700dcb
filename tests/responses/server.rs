//! The server role, in process: requests through a router, answers as a client reads them.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{AgentError, Env, Environment, Ticks, ToolCall};
use copilot_wire::responses::{Model, Response, Responses};
use copilot_wire::router::MountError;
use copilot_wire::{Router, agent_fn};
use futures::StreamExt;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rules::{End, check};
use crate::support::{HI, agent, answer, post, router, send, whole};

fn hello() -> Router {
    router(agent(|reply| async move {
        reply.status("Looking").await?;
        Ok(reply.text("Hello \"world\"\u{2028}").await?)
    }))
}

#[test]
fn the_headers_are_those_of_a_stream() {
    let response = send(&hello(), Method::POST, "/v1/responses", HI);
    let header = |name: &str| response.headers()[name].to_str().unwrap();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache, no-transform");
}

#[test]
fn without_stream_the_answer_is_one_response() {
    let (_, stream) = post(&hello(), HI);
    let streamed = check(&stream, End::Completed).response;
    for stream in ["", r#","stream":false"#, r#","stream":null"#] {
        let body = format!(r#"{{"model":"m","input":"hi"{stream}}}"#);
        let response = send(&hello(), Method::POST, "/v1/responses", &body);
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "application/json");
        let text = whole(response.into_body());
        let whole: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(whole, streamed);
        let response = Response::from_json(&text).unwrap();
        assert_eq!(response.text(), "Hello \"world\"\u{2028}");
    }
}

#[test]
fn a_failure_without_stream_is_a_status_that_no_client_retries() {
    for (retryable, expected, kind, code) in [
        (
            false,
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "agent_failed",
        ),
        (
            true,
            StatusCode::SERVICE_UNAVAILABLE,
            "server_error",
            "overloaded",
        ),
    ] {
        let router = router(agent(move |reply| async move {
            reply.text("Half").await?;
            let error = AgentError::new("Away.");
            Err(if retryable { error.retryable() } else { error })
        }));
        let response = send(&router, Method::POST, "/v1/responses", r#"{"input":"hi"}"#);
        assert_eq!(response.status(), expected);
        let retry = response.headers().get("x-should-retry").cloned();
        assert_eq!(retry.is_some_and(|value| value == "false"), !retryable);
        let body: Value = serde_json::from_str(&whole(response.into_body())).unwrap();
        let error = json!({"code": code, "message": "Away.", "type": kind, "param": null});
        assert_eq!(body, json!({"error": error}));
    }
}

#[test]
fn a_websocket_is_refused_with_the_status_after_which_codex_posts() {
    let hello = hello();
    let request = http::Request::get("/v1/responses")
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let response = crate::exchange::send(&hello, request, "");
    assert_eq!(response.status(), StatusCode::UPGRADE_REQUIRED);
    assert_eq!(response.headers()["upgrade"], "HTTP/1.1");
    assert_eq!(response.headers()["connection"], "upgrade");
    let body: Value = serde_json::from_str(&whole(response.into_body())).unwrap();
    assert_eq!(body["error"]["type"], "invalid_request_error");
    let plain = send(&hello, Method::GET, "/v1/responses", "");
    assert_eq!(plain.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(plain.headers()["allow"], "POST, OPTIONS");
}

#[test]
fn what_a_client_must_not_repeat_is_refused_with_400() {
    let hello = hello();
    for (body, param, code) in [
        (
            r#"{"input":"hi","previous_response_id":"resp_1"}"#,
            "previous_response_id",
            "previous_response_not_found",
        ),
        (
            r#"{"input":"hi","previous_response_id":7}"#,
            "previous_response_id",
            "previous_response_not_found",
        ),
        (
            r#"{"input":["odd",{"role":"user","content":"hi"},{"type":"item_reference","id":"msg_1"}]}"#,
            "input[1]",
            "invalid_request",
        ),
        (r#"{"input":[]}"#, "input", "invalid_request"),
        (r#"{"model":"m"}"#, "input", "invalid_request"),
        (r#"{"input":7}"#, "input", "invalid_request"),
    ] {
        let (status, text) = post(&hello, body);
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        let error: Value = serde_json::from_str(&text).unwrap();
        let error = &error["error"];
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!(
            (&error["param"], &error["code"]),
            (&json!(param), &json!(code))
        );
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    for body in ["[]", "", "{", "7"] {
        let (status, text) = post(&hello, body);
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(text.contains("malformed_json"), "{text}");
        // Clients that check the form need the member.
        assert!(text.contains(r#""param":null"#), "{text}");
    }
}

#[test]
fn models_of_every_dialect_are_listed_once() {
    let named = |name: &'static str| agent(move |reply| async move { Ok(reply.text(name).await?) });
    let router = Router::new()
        .mount(Model::new("one").owned_by("us").created(7), named("first"))
        .unwrap()
        .mount(Model::new("two"), named("second"))
        .unwrap()
        .mount(Model::new("else").path("/else/responses"), named("third"))
        .unwrap();
    let get = |path: &str| {
        let response = send(&router, Method::GET, path, "");
        let status = response.status();
        let body: Value = serde_json::from_str(&whole(response.into_body())).unwrap();
        (status, body)
    };
    let one = json!({"id": "one", "object": "model", "created": 7, "owned_by": "us"});
    let two = json!({"id": "two", "object": "model", "created": 0, "owned_by": "copilot-wire"});
    assert_eq!(
        get("/v1/models"),
        (
            StatusCode::OK,
            json!({"object": "list", "data": [one, two]})
        )
    );
    assert_eq!(get("/v1/models/one"), (StatusCode::OK, one));
    let (status, body) = get("/v1/models/else");
    assert_eq!(
        (status, &body["error"]["code"]),
        (StatusCode::NOT_FOUND, &json!("model_not_found"))
    );
    assert_eq!(get("/else/models").1["data"][0]["id"], "else");

    let text = |body: &str| {
        let (status, text) = post(&router, body);
        let response = Response::from_json(&text).unwrap_or_default();
        (status.as_u16(), response.model.clone(), response.text())
    };
    assert_eq!(
        text(r#"{"model":"two","input":"hi"}"#),
        (200, "two".into(), "second".into())
    );
    assert_eq!(
        text(r#"{"input":"hi"}"#),
        (200, "one".into(), "first".into())
    );
    assert_eq!(text(r#"{"model":"none","input":"hi"}"#).0, 404);

    let again = Router::new()
        .mount(Model::new("m"), named("a"))
        .unwrap()
        .mount(Model::new("m"), named("b"));
    assert!(matches!(again, Err(MountError::Invalid(_))));
    let odd = Router::new().mount(Model::new("m").path("/v1/other"), named("a"));
    assert!(matches!(odd, Err(MountError::Path(_))));
}

#[cfg(feature = "openai")]
#[test]
fn one_name_in_two_dialects_stands_once_in_the_list() {
    use copilot_wire::protocol::{Conversation, Protocol};
    use copilot_wire::{Agent, Reply, Request, async_trait};

    struct Parrot;
    #[async_trait]
    impl<P: Protocol> Agent<P> for Parrot {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
        }
    }

    let parrot = Arc::new(Parrot);
    for chat_first in [true, false] {
        let chat = copilot_wire::openai::Model::new("parrot");
        let responses = Model::new("parrot");
        let router = Router::new();
        let router = match chat_first {
            true => router
                .mount(chat, parrot.clone())
                .and_then(|router| router.mount(responses, parrot.clone())),
            false => router
                .mount(responses, parrot.clone())
                .and_then(|router| router.mount(chat, parrot.clone())),
        };
        let router = router
            .unwrap()
            .mount(Model::new("other"), parrot.clone())
            .unwrap();
        let list = whole(send(&router, Method::GET, "/v1/models", "").into_body());
        let list: Value = serde_json::from_str(&list).unwrap();
        let ids = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| &model["id"]);
        assert_eq!(ids.collect::<Vec<_>>(), ["parrot", "other"]);
        let (_, text) = post(&router, r#"{"model":"parrot","input":"hi"}"#);
        assert_eq!(Response::from_json(&text).unwrap().text(), "hi");
        let chat = r#"{"model":"parrot","messages":[{"role":"user","content":"hi"}]}"#;
        let response = send(&router, Method::POST, "/v1/chat/completions", chat);
        assert_eq!(response.status(), StatusCode::OK);
    }
}

/// Ticks that come as fast as they are taken.
struct Ticking;

impl Environment for Ticking {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
        Some(Box::pin(futures::stream::repeat(()).take(6)))
    }
}

#[test]
fn a_keep_alive_is_a_numbered_event() {
    let waited = Arc::new(AtomicBool::new(false));
    let silent = agent(move |reply| {
        let waited = Arc::clone(&waited);
        async move {
            reply.text("One.").await?;
            // Pending for some polls, so that ticks are seen.
            let mut polls = 0;
            poll_fn(|cx: &mut Context<'_>| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls > 8 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            waited.store(true, Ordering::Relaxed);
            Ok(reply.text("Two.").await?)
        }
    });
    let router = Router::new().env(Env::new(Ticking));
    let router = router.mount(Model::new("m"), silent).unwrap();
    let checked = check(&post(&router, HI).1, End::Completed);
    let alive = checked
        .kinds()
        .into_iter()
        .filter(|kind| *kind == "in_progress")
        .count();
    assert!(alive > 1, "{:?}", checked.kinds());
    assert_eq!(checked.text, "One.Two.");
    assert_eq!(checked.items.len(), 1);
}

#[test]
fn a_client_that_leaves_drops_the_agent() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&gone);
    let router = router(agent(move |reply| {
        let gone = Gone(Arc::clone(&flag));
        async move {
            let _gone = gone;
            reply.text("One.").await?;
            std::future::pending().await
        }
    }));
    let mut body = send(&router, Method::POST, "/v1/responses", HI).into_body();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(
        body.poll_next_unpin(&mut cx),
        Poll::Ready(Some(_))
    ));
    assert!(!gone.load(Ordering::Relaxed));
    drop(body);
    assert!(gone.load(Ordering::Relaxed));
}

#[test]
fn an_answer_that_cannot_be_repeated_fails() {
    let piece = "x".repeat(1 << 20);
    for (pieces, end) in [(7, End::Completed), (9, End::Failed)] {
        let piece = piece.clone();
        let stream = answer(move |reply| {
            let piece = piece.clone();
            async move {
                for _ in 0..pieces {
                    reply.text(&piece).await?;
                }
                Ok(())
            }
        });
        let checked = check(&stream, end);
        assert_eq!(checked.text.len(), pieces.min(8) << 20);
        if end == End::Failed {
            assert_eq!(checked.response["error"]["code"], "invalid_prompt");
        }
    }
}

#[test]
fn the_conversation_has_a_stable_id() {
    for (members, expected) in [
        (r#","prompt_cache_key":"k""#, Some("k")),
        (r#","prompt_cache_key":"""#, None),
        ("", None),
    ] {
        let router = router(agent_fn::<Responses, _, _>(move |request, _| async move {
            assert_eq!(request.conversation_id().as_deref(), expected);
            Ok(())
        }));
        let body = format!(r#"{{"stream":true,"input":"hi"{members}}}"#);
        check(&post(&router, &body).1, End::Completed);
    }
}

/// Codex has the tools of a server of MCP in a namespace, and refuses a call without it.
#[test]
fn a_function_in_a_namespace_is_offered_called_and_remembered() {
    let agent = agent_fn(
        |request: copilot_wire::Request<Responses>, reply: copilot_wire::Reply<Responses>| async move {
            use copilot_wire::protocol::Conversation as _;
            let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
            assert_eq!(tools, ["plain", "mcp__analyst__ask"]);
            let tool = request.tools().nth(1).unwrap();
            assert_eq!(tool.description, "Asks.");
            let call = match request.results().next() {
                Some(result) => {
                    return Ok(reply
                        .text(&*format!("{} of {}", result.content, result.name))
                        .await?);
                }
                None => ToolCall::new(&*tool.name, &json!({"question": "tide"}))?,
            };
            Ok(reply.call(call)?)
        },
    );
    let router = Router::new().mount(Model::new("m"), agent).unwrap();
    let mut request = json!({
        "model": "m",
        "input": [{"role": "user", "content": "hi"}],
        "tools": [
            {"type": "function", "name": "plain"},
            {"type": "namespace", "name": "mcp__analyst", "description": "A server", "tools": [
                {"type": "function", "name": "ask", "description": "Asks.", "parameters": {"type": "object"}},
                {"type": "web_search"},
            ]},
        ],
    });
    let (_, first) = post(&router, &request.to_string());
    let first: Value = serde_json::from_str(&first).unwrap();
    let call = first["output"][0].clone();
    assert_eq!(
        (&call["name"], &call["namespace"]),
        (&json!("ask"), &json!("mcp__analyst"))
    );
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "high"});
    request["input"]
        .as_array_mut()
        .unwrap()
        .extend([call, output]);
    let (_, second) = post(&router, &request.to_string());
    let second: Value = serde_json::from_str(&second).unwrap();
    let text = &second["output"][0]["content"][0]["text"];
    assert_eq!(*text, "high of mcp__analyst__ask");
}
