//! Replies that are not stored, or no longer: they go on as fast as somebody reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures::StreamExt as _;
use http::{Method, StatusCode};
use tokio::time::{Instant, timeout};

use crate::protocols::background;
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};
use crate::spy::{Fault, Spy};

/// Writes much text, and counts the words, each of about 1 kB.
struct Counted(Arc<AtomicUsize>);

#[async_trait]
impl<P: Protocol> Agent<P> for Counted {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for number in 0..6000 {
            let word = format!("word{number} {}", "x".repeat(1000));
            self.0.fetch_add(1, Ordering::Relaxed);
            reply.text(word).await?;
        }
        Ok(())
    }
}

/// A reply that is not stored, for any reason, is written as fast as somebody reads it.
#[test]
fn a_reply_that_is_not_stored_waits_for_its_reader() {
    let faults = [
        None,
        Some(("append", Fault::Unavailable)),
        Some(("append", Fault::Hangs)),
        Some(("append", Fault::Full)),
        Some(("append", Fault::Gone)),
        Some(("create", Fault::Hangs)),
        Some(("create", Fault::Full)),
    ];
    for fault in faults {
        in_virtual_time(async {
            let store = Spy::new(memory());
            if let Some((call, fault)) = fault {
                store.fail_all(call, fault);
            }
            let replies = replies(store.clone()).limit(400_000, 100_000).join(true);
            let written = Arc::default();
            let router = router::<OpenAi>(Counted(Arc::clone(&written)), Some(replies.clone()));
            let mut body = ask::<OpenAi>(&router, "ada").await;
            let mut got = Vec::new();
            for step in 1..20 {
                seconds(1).await;
                let ahead = written.load(Ordering::Relaxed) - text(&got).matches("word").count();
                assert!(ahead < 1000, "{fault:?} {step}: {ahead}");
                // It goes on as soon as there is space, and not only once its reader has all of it.
                assert!(ahead >= 200, "{fault:?} {step}: {ahead}");
                while got.len() < step * 100_000 {
                    got.extend(body.next().await.unwrap().unwrap());
                }
            }
            // One that begins to read now is behind by more than there is: it gets a failure, and stops nobody.
            let late = again::<OpenAi>(&router, "ada").await;
            let start = Instant::now();
            let rest = async { (read(body).await, start.elapsed()) };
            let ((rest, took), late) = futures::join!(rest, read(late));
            got.extend(rest);
            // Its reader wakes it, and no clock does.
            assert!(took < Duration::from_secs(1), "{fault:?}: {took:?}");
            assert_eq!(text(&got).matches("word").count(), 6000, "{fault:?}");
            assert!(
                text(&late).contains("the rest of the answer is lost"),
                "{fault:?}"
            );
        });
    }
}

/// Its agent is dropped at once.
#[test]
fn a_reply_that_waits_for_its_reader_is_stopped() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Gone);
        let router = router::<UiStream>(Counted(Arc::default()), Some(replies(store)));
        let (router, outcomes) = watch(router);
        let body = ask::<UiStream>(&router, "ada").await;
        seconds(1).await;
        let stop = send(&router, "ada", Method::POST, "/api/chat/chat-1/stop", "{}");
        assert_eq!(stop.await.status(), StatusCode::NO_CONTENT);
        seconds(1).await;
        assert_eq!(*outcomes.lock().unwrap(), ["cancelled, unstored"]);
        assert!(text(&read(body).await).contains("{\"type\":\"abort\"}"));
    });
}

/// Each of its events is more than the memory of such a reply.
#[test]
fn a_reply_that_is_not_stored_has_events_of_any_size() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Gone);
        let large = Talker {
            words: 5,
            size: 300_000,
            ..Talker::default()
        };
        let router = router::<UiStream>(large, Some(replies(store)));
        let body = ask::<UiStream>(&router, "ada").await;
        let got = timeout(Duration::from_secs(60), read(body)).await.unwrap();
        assert_eq!(text(&got).matches("\"word").count(), 5);
        assert!(text(&got).ends_with("data: [DONE]\n\n"));
    });
}

/// It asks for a number beyond all events, and takes none.
#[test]
fn a_reader_that_waits_for_the_end_sets_no_pace() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Gone);
        let written = Arc::default();
        let router = router::<Responses>(Counted(Arc::clone(&written)), Some(replies(store)));
        let post = background(true);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
        let mut body = post.await.into_body();
        let first = body.next().await.unwrap().unwrap();
        let id = text(&first).split("\"id\":\"").nth(1).unwrap();
        let id = id.split('"').next().unwrap();
        let far = format!("/v1/responses/{id}?stream=true&starting_after=18446744073709551614");
        let far = send(&router, "ada", Method::GET, &far, "").await;
        let far = tokio::spawn(read(far.into_body()));
        for _ in 0..10 {
            seconds(1).await;
            let frame = body.next().await.unwrap().unwrap();
            assert!(!text(&frame).contains("is lost"));
        }
        assert!(written.load(Ordering::Relaxed) < 1000);
        assert!(text(&read(body).await).contains("response.completed"));
        assert_eq!(far.await.unwrap(), b"");
    });
}
