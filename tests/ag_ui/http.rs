//! Status, headers, CORS and keep-alive.

use std::time::Duration;

use copilot_wire::Router;
use copilot_wire::ag_ui::{AgUi, Mount};
use copilot_wire::protocol::{Env, Environment, Ticks};
use copilot_wire::router::Cors;
use copilot_wire_kit::check::{Target, check};
use copilot_wire_kit::kit;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::{HeaderValue, Method, Request};

use crate::support::{agent, ask, post, read, router, send};

#[test]
fn a_stream_has_its_type_and_its_ids() {
    let router = router(Mount::new(), agent(|_, _| async { Ok(()) }));
    let (head, _) = post(&router, &ask("Hi"));
    assert_eq!(head.status, 200);
    assert_eq!(head.headers["content-type"], "text/event-stream");
    // A request without ids is given some.
    let (_, stream) = post(&router, r#"{"messages":[]}"#);
    let answer = read(&stream);
    let started = answer.one("RUN_STARTED");
    assert!(
        started["threadId"].as_str().unwrap().starts_with("thread_"),
        "{started}"
    );
    assert_eq!(started["runId"], answer.one("RUN_FINISHED")["runId"]);
}

#[test]
fn a_refusal_is_a_status_with_a_place() {
    let router = router(Mount::new(), agent(|_, _| async { Ok(()) }));
    for body in ["{}", "[]", "{", r#"{"messages":7}"#] {
        let (head, text) = post(&router, body);
        assert_eq!(head.status, 400, "{body}");
        assert_eq!(head.headers["content-type"], "application/json");
        assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["error"].is_object());
    }
    let get = send(
        &router,
        Request::builder().method(Method::GET).uri("/agui"),
        "",
    );
    assert_eq!(get.status(), 405);
}

#[test]
fn an_agent_is_where_it_is_mounted() {
    let mount = Mount::new().path("/agents/analyst");
    let router = router(mount, agent(|_, _| async { Ok(()) }));
    let ask_at = |path: &str| {
        let request = Request::builder().method(Method::POST).uri(path);
        send(&router, request, ask("Hi")).status()
    };
    assert_eq!(
        (ask_at("/agents/analyst").as_u16(), ask_at("/agui").as_u16()),
        (200, 404)
    );
}

#[test]
fn a_page_of_another_origin_may_post() {
    let router = router(Mount::new(), agent(|_, _| async { Ok(()) }));
    let router =
        router.cors(Cors::default().allow(HeaderValue::from_static("https://app.example")));
    let preflight = Request::builder()
        .method(Method::OPTIONS)
        .uri("/agui")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type");
    let response = send(&router, preflight, "");
    let allowed = &response.headers()["access-control-allow-origin"];
    assert_eq!(allowed, "https://app.example");
}

#[test]
fn keep_alives_are_comments() {
    struct Impatient;
    impl Environment for Impatient {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            Some(Box::pin(stream::iter([(); 8])))
        }
    }
    let slow = agent(|_, reply| async move {
        reply.text("one").await?;
        for _ in 0..8 {
            let mut waited = false;
            futures::future::poll_fn(|cx| match std::mem::replace(&mut waited, true) {
                true => std::task::Poll::Ready(()),
                false => {
                    cx.waker().wake_by_ref();
                    std::task::Poll::Pending
                }
            })
            .await;
        }
        reply.text(" two").await?;
        Ok(())
    });
    let router = Router::new()
        .env(Env::new(Impatient))
        .mount(Mount::new(), slow)
        .unwrap();
    let (_, text) = post(&router, &ask("Hi"));
    assert!(text.contains(": ping\n\n"), "{text}");
    assert_eq!(read(&text).texts(), ["one two"]);
}

#[test]
fn a_client_that_leaves_ends_the_run() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let waits = agent(move |_, reply| {
        struct Gone(std::sync::mpsc::Sender<()>);
        impl Drop for Gone {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let gone = Gone(sender.clone());
        async move {
            reply.text("one").await?;
            futures::future::pending::<()>().await;
            drop(gone);
            Ok(())
        }
    });
    let router = router(Mount::new(), waits);
    let request = Request::builder().method(Method::POST).uri("/agui");
    let mut body = send(&router, request, ask("Hi")).into_body();
    let first = block_on(body.next()).unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("\"one\""));
    assert!(receiver.try_recv().is_err());
    drop(body);
    receiver.try_recv().unwrap();
}

#[test]
fn the_conformance_kit_finds_nothing() {
    let parrot = agent(|request, reply| async move {
        use copilot_wire::protocol::Conversation;
        reply.status("Looking").await?;
        reply.text(request.prompt().unwrap_or_default()).await?;
        Ok(())
    });
    let router = router(Mount::new(), parrot);
    let report = block_on(check(&router, Target::new(kit::<AgUi>())));
    assert!(report.is_clean(), "{report}");
}
