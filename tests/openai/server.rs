//! The server role, in process: requests through a router, replies as a client reads them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::{ChatCompletion, ErrorObject, Model, OpenAi, Usage};
use copilot_wire::protocol::{AgentError, Conversation, Env, Environment, Ticks};
use copilot_wire::router::MountError;
use copilot_wire::{Reply, Router, agent_fn};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{agent, fixed, get, post, send, whole};

async fn hello(reply: Reply<OpenAi>) -> Result<(), AgentError> {
    reply.text("Hello").await?;
    reply.send(Usage::new(19, 10)).await?;
    reply.text(" \"world\"\u{2028}").await?;
    reply.text("\u{2029}!").await?;
    reply.text("fifteen letters\"").await?;
    Ok(())
}

fn server() -> Router {
    let router = Router::new().env(fixed());
    router.mount(Model::new("m"), agent(hello)).unwrap()
}

#[test]
fn the_headers_are_those_of_a_stream() {
    let body = r#"{"messages":[{"role":"user","content":"hi"}],"stream":true}"#;
    let response = send(&server(), Method::POST, "/v1/chat/completions", body);
    let header = |name: &str| response.headers()[name].to_str().unwrap();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache, no-transform");
    assert_eq!(header("x-accel-buffering"), "no");
}

#[test]
fn a_very_long_answer_is_collected_whole() {
    let long = agent(|reply| async move {
        let piece = "x".repeat(3 << 20);
        for _ in 0..8 {
            reply.text(&piece).await?;
        }
        Ok(())
    });
    let router = Router::new().mount(Model::new("m"), long).unwrap();
    let (status, text) = post(&router, r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(status, StatusCode::OK);
    let completion = ChatCompletion::from_json(&text).unwrap();
    assert_eq!(completion.message().unwrap().content.text().len(), 24 << 20);
}

#[test]
fn an_agent_that_never_waits_yields_and_ends_with_its_client() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&gone);
    let endless = agent(move |reply| {
        let gone = Gone(Arc::clone(&flag));
        async move {
            let _gone = gone;
            loop {
                // Nothing of it is sent, and no error of it is looked at.
                let _ = reply.status("Working").await;
                let _ = reply.text("x").await;
            }
        }
    });
    let router = Router::new().mount(Model::new("m"), endless).unwrap();
    let body = futures::stream::iter([Ok::<_, Infallible>(Bytes::from_static(
        br#"{"messages":[{"role":"user","content":"hi"}]}"#,
    ))]);
    let request = http::Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    let mut answer = Box::pin(router.handle(request));
    for _ in 0..3 {
        let poll = answer
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    }
    assert!(!gone.load(Ordering::Relaxed));
    drop(answer);
    assert!(gone.load(Ordering::Relaxed));
}

#[test]
fn an_answer_in_one_piece_has_no_keep_alive() {
    struct Ticking;
    impl Environment for Ticking {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            Some(Box::pin(futures::stream::iter([(); 8])))
        }
    }
    let slow = agent(|reply| async move {
        let mut waited = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            match std::mem::replace(&mut waited, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        Ok(reply.text("Done.").await?)
    });
    let router = Router::new()
        .env(Env::new(Ticking))
        .mount(Model::new("m"), slow)
        .unwrap();
    let (status, text) = post(&router, r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(status, StatusCode::OK);
    let completion = ChatCompletion::from_json(&text).unwrap();
    assert_eq!(completion.message().unwrap().content.text(), "Done.");
}

#[test]
fn an_answer_beyond_the_limit_is_a_failure() {
    let long = agent(|reply| async move {
        let piece = "x".repeat(3 << 20);
        for _ in 0..12 {
            // The turn fails whatever the agent makes of it.
            let _ = reply.text(&piece).await;
        }
        Ok(())
    });
    let router = Router::new().mount(Model::new("m"), long).unwrap();
    let body = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    let response = send(&router, Method::POST, "/v1/chat/completions", body);
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(response.headers()["x-should-retry"], "false");
    let error = error(whole(response.into_body()));
    assert_eq!(error.code.as_deref(), Some("agent_failed"));
}

fn error(text: String) -> ErrorObject {
    let body = Json::parse(text).unwrap();
    ErrorObject::from_raw(&body.get("error").unwrap()).unwrap()
}

#[test]
fn an_error_that_the_agent_ends_with_is_a_status_without_a_stream() {
    let ending = agent(|reply| async move {
        reply.text("Par").await?;
        Ok(reply.end(ErrorObject::new("The model is away.").code("away"))?)
    });
    let router = Router::new().mount(Model::new("m"), ending).unwrap();
    let (status, text) = post(&router, r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error(text).code.as_deref(), Some("away"));
}

#[test]
fn refusals_have_the_shape_of_openai() {
    let cases = [
        ("{", 400, "invalid_request_error", None, "malformed_json"),
        (
            "{\"messages\":[]}",
            400,
            "invalid_request_error",
            Some("messages"),
            "invalid_request",
        ),
        (
            r#"{"model":"other","messages":[{"role":"user","content":"hi"}]}"#,
            404,
            "invalid_request_error",
            Some("model"),
            "model_not_found",
        ),
    ];
    for (body, status, kind, param, code) in cases {
        let (found, text) = post(&server(), body);
        assert_eq!(found, status, "{body}");
        let error = error(text);
        assert_eq!(error.kind.as_deref(), Some(kind));
        assert_eq!(error.param.as_deref(), param);
        assert_eq!(error.code.as_deref(), Some(code));
        assert!(!error.message.is_empty());
    }
    let too_large = server().body_limit(10);
    let (status, text) = post(&too_large, r#"{"messages":[{"role":"user"}]}"#);
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(error(text).message.contains("10 bytes"));
}

/// Says which agent and which model answered.
fn named(name: &'static str) -> impl copilot_wire::Agent<OpenAi> {
    agent_fn::<OpenAi, _, _>(move |request, reply| async move {
        let prompt = request.prompt().unwrap_or_default();
        Ok(reply.text(format!("{name}: {prompt}")).await?)
    })
}

#[test]
fn the_model_says_which_agent_answers() {
    let router = Router::new()
        .mount(Model::new("one").owned_by("us").created(7), named("first"))
        .unwrap()
        .mount(Model::new("two/b"), named("second"))
        .unwrap()
        .mount(
            Model::new("one").path("/other/v1/chat/completions"),
            named("third"),
        )
        .unwrap();
    let ask = |path: &str, model: &str| {
        let body = format!(r#"{{{model}"messages":[{{"role":"user","content":"hi"}}]}}"#);
        let response = send(&router, Method::POST, path, &body);
        let completion = ChatCompletion::from_json(whole(response.into_body())).unwrap();
        let text = completion
            .message()
            .map(|message| message.content.text().into_owned());
        (text.unwrap_or_default(), completion.model)
    };
    let pair = |text: &str, model: &str| (text.to_owned(), model.to_owned());
    let path = "/v1/chat/completions";
    assert_eq!(ask(path, r#""model":"one","#), pair("first: hi", "one"));
    assert_eq!(
        ask(path, r#""model":"two/b","#),
        pair("second: hi", "two/b")
    );
    assert_eq!(ask(path, ""), pair("first: hi", "one"));
    assert_eq!(
        ask("/other/v1/chat/completions", ""),
        pair("third: hi", "one")
    );

    let (status, list) = get(&router, "/v1/models");
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        serde_json::from_str::<Value>(&list).unwrap(),
        json!({"object": "list", "data": [
            {"id": "one", "object": "model", "created": 7, "owned_by": "us"},
            {"id": "two/b", "object": "model", "created": 0, "owned_by": "copilot-wire"},
        ]})
    );
    let (status, one) = get(&router, "/v1/models/two%2Fb");
    assert_eq!(status, StatusCode::OK);
    assert_eq!(serde_json::from_str::<Value>(&one).unwrap()["id"], "two/b");
    let (status, text) = get(&router, "/v1/models/three");
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(error(text).code.as_deref(), Some("model_not_found"));
}

#[test]
fn a_model_is_mounted_once() {
    let result = server().mount(Model::new("m"), named("again"));
    let message = "model already mounted: m";
    assert_eq!(result.unwrap_err(), MountError::Invalid(message.into()));
    for path in ["v1/chat/completions", "/v1/chat", "/{/chat/completions"] {
        let result = Router::new().mount(Model::new("m").path(path), named("odd"));
        assert!(matches!(result, Err(MountError::Path(_))), "{path}");
    }
}
