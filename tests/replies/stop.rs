//! Cancelled replies.

use std::time::Duration;

use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Reply, Request, async_trait};
use http::{Method, StatusCode};

use crate::protocols::{background, json};
use crate::server::{
    Talker, ask, in_virtual_time, memory, read, read_some, replies, router, seconds, send, text,
    watch,
};

const STOP: &str = "/api/chat/chat-1/stop";

/// An agent that never gets past one of its steps.
struct Stuck(&'static str);

#[async_trait]
impl<P: Protocol> Agent<P> for Stuck {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if self.0 == "waits" {
            seconds(1_000_000).await;
        }
        reply.text("before ").await?;
        if self.0 == "runs a tool" {
            reply.status("Looking it up").await?;
            seconds(1_000_000).await;
        }
        loop {
            reply.text("burst ").await?;
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    }
}

#[test]
fn a_page_stops_an_agent_that_waits_runs_a_tool_or_writes() {
    for step in ["waits", "runs a tool", "writes"] {
        in_virtual_time(async {
            let replies = replies(memory());
            let router = router::<UiStream>(Stuck(step), Some(replies.clone()));
            let (router, outcomes) = watch(router);
            let body = ask::<UiStream>(&router, "ada").await;
            let (bytes, ()) = futures::join!(read(body), async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let stopped = send(&router, "ada", Method::POST, STOP, "{}").await;
                assert_eq!(stopped.status(), StatusCode::NO_CONTENT);
            });
            let bytes = text(&bytes);
            assert_eq!(bytes.matches("{\"type\":\"abort\"}").count(), 1, "{step}");
            assert!(bytes.ends_with("data: [DONE]\n\n"), "{step}");
            assert_eq!(*outcomes.lock().unwrap(), ["cancelled"], "{step}");
            seconds(1).await;
            assert_eq!(replies.running(), 0);
            // Again, and for a chat without a reply.
            for path in [STOP, "/api/chat/other/stop"] {
                let again = send(&router, "ada", Method::POST, path, "{}").await;
                assert_eq!(again.status(), StatusCode::NO_CONTENT);
            }
        });
    }
}

#[test]
fn a_stop_needs_the_type_that_browsers_ask_for_first() {
    in_virtual_time(async {
        let router = router::<UiStream>(Talker::default(), Some(replies(memory())));
        let request = http::Request::post(STOP).header("x-user", "ada");
        let request = request.header("content-type", "text/plain");
        let body = futures::stream::iter([Ok::<_, std::convert::Infallible>(&b"{}"[..])]);
        let response = router.handle(request.body(body).unwrap()).await;
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    });
}

/// Another server than the one that runs the agent.
#[test]
fn a_stop_reaches_the_server_that_runs_the_agent() {
    in_virtual_time(async {
        let store = crate::spy::Spy::new(memory());
        let one = router::<UiStream>(Stuck("writes"), Some(replies(store.clone())));
        let two = router::<UiStream>(Stuck("writes"), Some(replies(store)));
        let (one, outcomes) = watch(one);
        let body = ask::<UiStream>(&one, "ada").await;
        let (bytes, ()) = futures::join!(read(body), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            send(&two, "ada", Method::POST, STOP, "{}").await;
        });
        assert!(text(&bytes).contains("abort"));
        assert_eq!(*outcomes.lock().unwrap(), ["cancelled"]);
    });
}

/// A reply has one end, stop or answer, whichever is first.
#[test]
fn a_stop_races_the_end() {
    for micros in (998_000..1_003_000).step_by(250) {
        in_virtual_time(async {
            let router = router::<UiStream>(Talker::default(), Some(replies(memory())));
            let (router, outcomes) = watch(router);
            let body = ask::<UiStream>(&router, "ada").await;
            let (bytes, ()) = futures::join!(read(body), async {
                tokio::time::sleep(Duration::from_micros(micros)).await;
                send(&router, "ada", Method::POST, STOP, "{}").await;
            });
            let bytes = text(&bytes);
            let ends = [r#"{"type":"abort"}"#, r#"{"type":"finish","#];
            let ends = ends.map(|end| bytes.matches(end).count());
            assert_eq!(ends[0] + ends[1], 1, "{micros}: {bytes}");
            assert_eq!(bytes.matches("[DONE]").count(), 1);
            assert_eq!(outcomes.lock().unwrap().len(), 1);
        });
    }
}

#[test]
fn a_response_is_cancelled_once() {
    in_virtual_time(async {
        let router = router::<Responses>(Talker::default(), Some(replies(memory())));
        let (router, outcomes) = watch(router);
        let post = background(true);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
        let begun = text(&read_some(post.await.into_body(), 2000).await).to_owned();
        let id = begun
            .split("\"id\":\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let path = format!("/v1/responses/{id}");
        for _ in 0..3 {
            let cancel = format!("{path}/cancel");
            let cancelled = send(&router, "ada", Method::POST, &cancel, "{}").await;
            assert_eq!(cancelled.status(), StatusCode::OK);
            assert_eq!(json(cancelled).await["status"], "cancelled");
        }
        let stored = json(send(&router, "ada", Method::GET, &path, "").await).await;
        assert_eq!(stored["status"], "cancelled");
        assert_eq!(stored["id"], id);
        let unknown = send(&router, "ada", Method::POST, "/v1/responses/x/cancel", "{}").await;
        assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
        assert_eq!(*outcomes.lock().unwrap(), ["cancelled"]);
    });
}
