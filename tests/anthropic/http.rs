//! Tests over HTTP: paths, headers, whole answers, refusals, keep-alive.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use copilot_wire::anthropic::{Anthropic, ErrorObject, Message, Model, StopReason};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{
    Citation, Conversation, Env, Environment, Protocol, Refusal, Ticks, ToolCall,
};
use copilot_wire::router::MountError;
use copilot_wire::{Reply, Request, Router};
use futures::StreamExt;
use futures::executor::block_on;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::strict::read;
use crate::support::{agent, ask, fixed, post, router, send, whole};

fn echo() -> Router {
    router(agent(
        |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
            Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
        },
    ))
}

#[test]
fn the_query_of_the_path_is_no_part_of_it() {
    let request = http::Request::post("/v1/messages?beta=true");
    let response = send(&echo(), request, ask("Hi").to_string());
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(read(&whole(response.into_body())).text(), "Hi");
    // Claude Code asks once, and does not mind.
    let head = http::Request::builder().method(Method::HEAD).uri("/");
    assert_eq!(send(&echo(), head, "").status(), 404);
}

#[test]
fn both_headers_with_a_key_reach_the_agent() {
    let keys = router(agent(
        |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
            let header = |name: &str| {
                request
                    .headers()
                    .get(name)
                    .map(|value| value.to_str().unwrap())
            };
            let said = format!("{:?} {:?}", header("x-api-key"), header("authorization"));
            Ok(reply.text(&said).await?)
        },
    ));
    for (name, value, said) in [
        ("x-api-key", "k", "Some(\"k\") None"),
        ("authorization", "Bearer k", "None Some(\"Bearer k\")"),
    ] {
        let request = http::Request::post("/v1/messages").header(name, value);
        let response = send(&keys, request, ask("Hi").to_string());
        assert_eq!(read(&whole(response.into_body())).text(), said);
    }
}

#[test]
fn a_guard_sees_both_headers_and_refuses_in_the_form_of_the_protocol() {
    let keys = echo().guard(|parts| async move {
        let key = parts.headers.get("x-api-key");
        let bearer = parts.headers.get("authorization");
        match key.is_some_and(|key| key == "k") || bearer.is_some_and(|key| key == "Bearer k") {
            true => Ok(parts),
            false => Err(Refusal::new(StatusCode::UNAUTHORIZED, "unknown key")),
        }
    });
    for (name, value) in [("x-api-key", "k"), ("authorization", "Bearer k")] {
        let request = http::Request::post("/v1/messages").header(name, value);
        let response = send(&keys, request, ask("Hi").to_string());
        assert_eq!(read(&whole(response.into_body())).text(), "Hi");
    }
    let (head, text) = post(&keys, &ask("Hi"));
    assert_eq!(head.status, 401);
    // Without it Claude Code sends the request eleven times.
    assert_eq!(head.headers["x-should-retry"], "false");
    let expected = ErrorObject::new("authentication_error", "unknown key").to_body();
    assert_eq!(text.as_bytes(), expected);
}

#[test]
fn a_whole_answer_is_one_message() {
    let router = router(agent(|_, reply: Reply<Anthropic>| async move {
        reply.status("Looking").await?;
        reply.text("Hel").await?;
        reply.text("lo").await?;
        reply
            .cite(Citation::new("S").url("https://a.example"))
            .await?;
        Ok(reply.call(ToolCall::new("get_tide", &json!({"n": 1}))?)?)
    }));
    for stream in [json!(false), Value::Null] {
        let mut body = ask("Hi");
        body["stream"] = stream;
        let (head, text) = post(&router, &body);
        assert_eq!(head.status, 200);
        assert_eq!(head.headers["content-type"], "application/json");
        assert!(head.headers.contains_key("request-id"));
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({
                "id": "msg_2a2a2a2a2a2a4a2aaa2a2a2a2a2a2a2a",
                "type": "message", "role": "assistant", "model": "analyst",
                "content": [
                    {"type": "thinking", "thinking": "Looking\n", "signature": "Y29waWxvdC13aXJl"},
                    {"type": "text", "text": "Hello\n\n**Sources**\n\n- [S](https://a.example)\n", "citations": [{
                        "type": "web_search_result_location", "url": "https://a.example", "title": "S",
                        "cited_text": "", "encrypted_index": "",
                    }]},
                    {"type": "tool_use", "id": "toolu_2a2a2a2a2a2a4a2aaa2a2a2a2a2a2a2a", "name": "get_tide", "input": {"n": 1}},
                ],
                "stop_reason": "tool_use", "stop_sequence": null,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            })
        );
    }
}

#[test]
fn an_empty_answer_is_a_sentence_in_one_message_too() {
    let mut body = ask("Hi");
    body["stream"] = json!(false);
    let (_, text) = post(&router(agent(|_, _| async { Ok(()) })), &body);
    let message = Message::from_json(text).unwrap();
    assert_eq!(message.text(), "There is no answer.");
    assert_eq!(message.stop_reason, Some(StopReason::EndTurn));
}

#[test]
fn an_answer_beyond_the_limit_is_a_failure() {
    let long = router(agent(|_, reply: Reply<Anthropic>| async move {
        let piece = "x".repeat(3 << 20);
        for _ in 0..12 {
            // The turn fails whatever the agent makes of it.
            let _ = reply.text(&piece).await;
        }
        Ok(())
    }));
    let mut body = ask("Hi");
    body["stream"] = json!(false);
    let (head, text) = post(&long, &body);
    assert_eq!(head.status, 424);
    assert_eq!(head.headers["x-should-retry"], "false");
    assert!(text.starts_with(r#"{"type":"error","error":{"type":"invalid_request_error","#));
}

#[test]
fn tokens_are_estimated_without_the_agent() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let router = router(agent(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }
    }));
    let tokens = |body: Value| {
        let request = http::Request::post("/v1/messages/count_tokens?beta=true");
        let response = send(&router, request, body.to_string());
        assert_eq!(response.status(), 200);
        let found: Value = serde_json::from_str(&whole(response.into_body())).unwrap();
        assert_eq!(found.as_object().unwrap().len(), 1);
        found["input_tokens"].as_u64().unwrap()
    };
    let user = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    assert_eq!(tokens(user(json!("x".repeat(400)))), 100);
    assert_eq!(tokens(user(json!(""))), 1);
    let blocks = json!([
        {"type": "text", "text": "x".repeat(100)},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x".repeat(100)}]},
        {"type": "image", "source": {"type": "base64", "data": "x".repeat(100_000)}},
    ]);
    assert_eq!(tokens(user(blocks)), 1_650);
    let mut with_tools = user(json!("x".repeat(400)));
    with_tools["system"] = json!("x".repeat(40));
    with_tools["tools"] = json!([{"name": "t", "description": "x".repeat(400)}]);
    assert!(tokens(with_tools) > 210);

    // What Claude Code does where there is no count.
    let mut probe = user(json!("x".repeat(400)));
    probe["max_tokens"] = json!(1);
    let (head, text) = post(&router, &probe);
    assert_eq!(head.status, 200);
    let message = Message::from_json(text).unwrap();
    assert_eq!(message.usage.input_tokens, Some(100));
    assert_eq!(message.model, "analyst");
    assert!(!message.text().is_empty());
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // A stream is meant.
    probe["stream"] = json!(true);
    read(&post(&router, &probe).1);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn refusals_have_the_form_of_the_protocol() {
    for (body, status, kind, place) in [
        ("{", 400, "invalid_request_error", ""),
        ("[]", 400, "invalid_request_error", ""),
        (
            r#"{"messages":[]}"#,
            400,
            "invalid_request_error",
            "messages: ",
        ),
        (
            r#"{"model":"other","messages":[{"role":"user","content":"hi"}]}"#,
            404,
            "not_found_error",
            "model: ",
        ),
    ] {
        let response = send(&echo(), http::Request::post("/v1/messages"), body);
        assert_eq!(response.status(), status, "{body}");
        assert_eq!(response.headers()["x-should-retry"], "false");
        assert!(response.headers().contains_key("request-id"));
        let text = whole(response.into_body());
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!([&found["type"], &found["error"]["type"]], ["error", kind]);
        assert!(
            found["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with(place),
            "{text}"
        );
    }
    let count = http::Request::post("/v1/messages/count_tokens");
    assert_eq!(send(&echo(), count, "[]").status(), 400);
    let large = echo().body_limit(10);
    let (head, text) = post(&large, &ask("Hi"));
    assert_eq!(head.status, 413);
    assert!(text.contains("request_too_large"), "{text}");
}

#[test]
fn every_status_has_its_type() {
    for (status, kind) in [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (529, "api_error"),
    ] {
        let status = StatusCode::from_u16(status).unwrap();
        let response = Anthropic::refuse(&Refusal::new(status, "no"));
        assert_eq!(response.status(), status);
        assert_eq!(*response.body(), ErrorObject::new(kind, "no").to_body());
        // After an overload Claude Code repeats the request whatever the header says.
        let retryable = Anthropic::refuse(&Refusal::new(status, "no").retryable());
        let kind = match status.as_u16() {
            503 | 529 => "overloaded_error",
            _ => kind,
        };
        assert_eq!(*retryable.body(), ErrorObject::new(kind, "no").to_body());
    }
}

#[test]
fn the_model_says_which_agent_answers() {
    let named = |name: &'static str| {
        agent(
            move |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
                Ok(reply.text(format!("{name}: {}", request.model)).await?)
            },
        )
    };
    let router = Router::new()
        .mount(Model::new("one"), named("first"))
        .unwrap()
        .mount(Model::new("two"), named("second"))
        .unwrap()
        .mount(Model::new("one").path("/other/messages/"), named("third"))
        .unwrap();
    let said = |path: &str, model: &str| {
        let mut body = ask("Hi");
        body["model"] = json!(model);
        let response = send(&router, http::Request::post(path), body.to_string());
        read(&whole(response.into_body())).text()
    };
    assert_eq!(said("/v1/messages", "one"), "first: one");
    assert_eq!(said("/v1/messages", "two"), "second: two");
    assert_eq!(said("/v1/messages", ""), "first: one");
    assert_eq!(said("/other/messages", "one"), "third: one");
    let again = router.mount(Model::new("two"), named("fourth"));
    assert_eq!(
        again.unwrap_err(),
        MountError::Invalid("model already mounted: two".into())
    );
}

#[test]
fn the_conversation_of_claude_code_has_an_id() {
    let router = router(agent(
        |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
            let id = request.conversation_id().map(|id| id.into_owned());
            Ok(reply.text(format!("{id:?}")).await?)
        },
    ));
    let said = |header: Option<&str>, user: &str| {
        let mut request = http::Request::post("/v1/messages");
        if let Some(id) = header {
            request = request.header("x-claude-code-session-id", id);
        }
        let mut body = ask("Hi");
        body["metadata"] = json!({"user_id": user});
        read(&whole(send(&router, request, body.to_string()).into_body())).text()
    };
    let user = r#"{"device_id":"d","session_id":"from-user"}"#;
    assert_eq!(said(Some("from-header"), user), r#"Some("from-header")"#);
    assert_eq!(said(None, user), r#"Some("from-user")"#);
    for user in ["ada", "{}", r#"{"session_id":7}"#, r#"{"session_id":""}"#] {
        assert_eq!(said(None, user), "None");
    }
}

/// An environment whose timer is always due.
struct Ticking;

impl Environment for Ticking {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
        Some(Box::pin(futures::stream::iter([(); 4])))
    }
}

#[test]
fn a_keep_alive_resets_the_timeout_of_claude_code() {
    let slow = agent(|_, reply: Reply<Anthropic>| async move {
        let mut waits = 4;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            waits -= 1;
            if waits == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        Ok(reply.text("Done.").await?)
    });
    let router = Router::new().env(Env::new(Ticking));
    let router = router.mount(Model::new("analyst"), slow).unwrap();
    let (_, text) = post(&router, &ask("Hi"));
    let alive = concat!(
        "event: message_delta\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":0}}"#,
        "\n\n",
    );
    assert!(text.contains(alive), "{text}");
    let answer = read(&text);
    assert!(answer.alive > 0);
    assert_eq!(answer.text(), "Done.");
}

#[test]
fn before_the_message_there_is_only_the_ping() {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = Anthropic::read(&parts, ask("Hi").to_string().into()).unwrap();
    let mut session = Anthropic::session(&request, &(), &fixed());
    let mut out = Vec::new();
    session.keep_alive(copilot_wire::protocol::Framing::Sse, &mut out);
    session.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_start\n";
    assert!(text.starts_with(ping), "{text}");
    read(&text);
}

/// An agent may still be at work when it has ended its answer.
#[test]
fn behind_an_error_a_keep_alive_is_no_event() {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = Anthropic::read(&parts, ask("Hi").to_string().into()).unwrap();
    let mut session = Anthropic::session(&request, &(), &fixed());
    let mut out = Vec::new();
    session.open(&mut out);
    let error = ErrorObject::new("api_error", "Failed.");
    session.ending(&error.into(), &mut out).unwrap();
    let end = out.len();
    session.keep_alive(copilot_wire::protocol::Framing::Sse, &mut out);
    assert_eq!(&out[end..], b": ping\n\n");
}

#[test]
fn an_agent_whose_client_leaves_is_dropped() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicUsize::new(0));
    let flag = Arc::clone(&gone);
    let router = router(agent(move |_, reply: Reply<Anthropic>| {
        let gone = Gone(Arc::clone(&flag));
        async move {
            let _gone = gone;
            reply.text("Hel").await?;
            pending().await
        }
    }));
    let request = http::Request::post("/v1/messages");
    let mut body = send(&router, request, ask("Hi").to_string()).into_body();
    assert!(block_on(body.next()).is_some());
    assert_eq!(gone.load(Ordering::Relaxed), 0);
    drop(body);
    assert_eq!(gone.load(Ordering::Relaxed), 1);
}
