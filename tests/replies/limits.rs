//! The limits of a reply.

use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::Framing;
use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use futures::StreamExt as _;
use http::{Method, StatusCode};

use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, endless, in_virtual_time, memory, read, read_some, replies, router,
    seconds, send, text, watch,
};
use crate::spy::{Fault, Spy};

/// Much text without a pause.
fn flood() -> Talker {
    Talker {
        words: 2000,
        size: 1000,
        pause: Duration::ZERO,
    }
}

/// It reads the store, and what it does not read holds up nobody.
#[test]
fn a_slow_reader_stalls_nobody() {
    in_virtual_time(async {
        let flood = Talker {
            pause: Duration::from_millis(1),
            ..flood()
        };
        let store = Spy::new(memory());
        let router = router::<OpenAi>(flood, Some(replies(store.clone()).join(true)));
        let mut slow = ask::<OpenAi>(&router, "ada").await;
        let first = slow.next().await.unwrap().unwrap();
        let fast = read(again::<OpenAi>(&router, "ada").await);
        let fast = tokio::time::timeout(Duration::from_secs(5), fast);
        let fast = fast.await.unwrap();
        assert!(fast.len() > 2_000_000);
        seconds(60).await;
        assert!(!store.calls().contains(&"read"));
        let rest = read(slow).await;
        assert!([&first[..], &rest].concat() == fast);
        // All but the end of the reply is only in the store.
        let reads = store.calls().into_iter().filter(|call| *call == "read");
        assert!(reads.count() > 20);
    });
}

/// A later reader gets what was stored, and a failure.
#[test]
fn a_reply_beyond_its_limits_goes_on_for_its_reader() {
    for (bytes, events) in [(1_000_000, 100_000), (8 << 20, 100)] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let replies = replies(store.clone()).limit(bytes, events);
            let router = router::<UiStream>(flood(), Some(replies.clone()));
            let (router, outcomes) = watch(router);
            let got = read(ask::<UiStream>(&router, "ada").await).await;
            assert!(text(&got).ends_with("data: [DONE]\n\n"));
            assert_eq!(text(&got).matches("\"word").count(), 2000);
            assert_eq!(*outcomes.lock().unwrap(), ["answered, unstored"]);
            seconds(1).await;
            assert_eq!((replies.running(), replies.health().unstored), (0, 1));
            // Nothing is tried after the end of the log.
            let calls = store.calls();
            let last = calls.iter().rfind(|call| **call != "read");
            assert_eq!(last, Some(&"seal"));
            let state = store.state(&store.last()).await.unwrap();
            assert_eq!(state.end, Some(ReplyEnd::Lost));
            let later = read(again::<UiStream>(&router, "ada").await).await;
            assert!(later.len() < 1_100_000);
            let (stored, failure) = later.split_at(later.len() - 300);
            assert!(got.starts_with(stored));
            assert!(text(failure).contains("the rest of the answer is lost"));
        });
    }
}

/// Returns the end of the log of a reply with these limits.
async fn end_within(bytes: usize, events: u64) -> Option<ReplyEnd> {
    let store = Spy::new(memory());
    let limited = replies(store.clone()).limit(bytes, events);
    let router = router::<UiStream>(Talker::default(), Some(limited));
    read(ask::<UiStream>(&router, "ada").await).await;
    store.state(&store.last()).await.unwrap().end
}

#[test]
fn a_reply_of_exactly_its_limits_is_stored() {
    in_virtual_time(async {
        let (done, lost) = (Some(ReplyEnd::Done), Some(ReplyEnd::Lost));
        let router = router::<UiStream>(Talker::default(), Some(replies(memory())));
        let whole = read(ask::<UiStream>(&router, "ada").await).await;
        let (bytes, events) = (whole.len(), Framing::Sse.count(&whole));
        assert_eq!(end_within(bytes, events).await, done);
        assert_eq!(end_within(bytes - 1, events).await, lost);
        assert_eq!(end_within(bytes, events - 1).await, lost);
    });
}

/// The store is slower than the agent: the events beyond the limit are there when those before it are appended.
#[test]
fn the_log_of_a_reply_ends_with_the_event_that_exceeds_the_limit() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Slow);
        // Two of them are more than one append.
        let large = Talker {
            words: 7,
            size: 33_500,
            pause: Duration::from_millis(1),
        };
        let limited = replies(store.clone()).limit(80_000, 100_000);
        let router = router::<UiStream>(large, Some(limited.clone()));
        let body = ask::<UiStream>(&router, "ada").await;
        assert!(text(&read(body).await).contains("word6"));
        seconds(1).await;
        assert_eq!(limited.running(), 0);
        let (mut log, mut next) = (Vec::new(), 0);
        let end = loop {
            let page = store.store().read(&store.last(), next).await.unwrap();
            log.extend_from_slice(&page.events);
            next = page.next;
            if page.end.is_some() {
                break page.end;
            }
        };
        assert_eq!(end, Some(ReplyEnd::Lost));
        assert!(text(&log).contains("word2") && !text(&log).contains("word3"));
    });
}

#[test]
fn a_reply_beyond_its_limits_fails_without_a_reader() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let slow = Talker {
            pause: Duration::from_millis(1),
            ..flood()
        };
        let replies = replies(store.clone()).limit(1_000_000, 100_000);
        let (router, outcomes) = watch(router::<UiStream>(slow, Some(replies)));
        drop(ask::<UiStream>(&router, "ada").await);
        seconds(5).await;
        assert_eq!(*outcomes.lock().unwrap(), ["The answer became too large."]);
        let state = store.state(&store.last()).await.unwrap();
        assert_eq!(state.end, Some(ReplyEnd::Failed));
        let got = read(again::<UiStream>(&router, "ada").await).await;
        assert!(text(&got).contains("The answer became too large."));
        assert!(got.len() < 1_100_000);
    });
}

#[test]
fn a_reply_that_takes_too_long_fails() {
    in_virtual_time(async {
        let replies = replies(memory()).lifetime(Duration::from_secs(30));
        let router = router::<UiStream>(endless(), Some(replies));
        let got = read(ask::<UiStream>(&router, "ada").await).await;
        assert!(text(&got).contains("The answer took too long."));
        assert!(text(&got).contains("word28"));
    });
}

#[test]
fn past_the_number_of_runs_replies_are_ordinary() {
    in_virtual_time(async {
        let replies = replies(memory()).runs(2);
        let router = router::<UiStream>(endless(), Some(replies.clone()));
        let (router, outcomes) = watch(router);
        for user in ["ada", "bob", "eve"] {
            let body = ask::<UiStream>(&router, user).await;
            drop(read_some(body, 100).await);
        }
        assert_eq!(replies.running(), 2);
        assert_eq!(*outcomes.lock().unwrap(), ["client_left, unstored"]);
        let path = "/api/chat/chat-1/stream";
        let eve = send(&router, "eve", Method::GET, path, "").await;
        assert_eq!(eve.status(), StatusCode::NO_CONTENT);
    });
    in_virtual_time(async {
        let router = router::<Responses>(endless(), Some(replies(memory()).runs(1)));
        let mut seen = Vec::new();
        for _ in 0..2 {
            let post = background(true);
            let response = send(&router, "ada", Method::POST, "/v1/responses", &post).await;
            seen.push(response.status());
        }
        assert_eq!(seen, [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE]);
    });
}

/// The others still have resumable replies.
#[test]
fn one_user_does_not_take_all_runs() {
    in_virtual_time(async {
        let replies = replies(memory()).runs(10).runs_per_user(2);
        let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
        let (router, outcomes) = watch(router);
        let path = "/api/chat/chat-1/stream";
        for run in 1..=3 {
            drop(read_some(ask::<UiStream>(&router, "ada").await, 100).await);
            assert_eq!(replies.running(), run.min(2));
        }
        assert_eq!(*outcomes.lock().unwrap(), ["client_left, unstored"]);
        drop(ask::<UiStream>(&router, "bob").await);
        assert_eq!(replies.running(), 3);
        seconds(5).await;
        // The last reply of the chat was an ordinary one, and an earlier one does not take its place.
        let status = async |user| send(&router, user, Method::GET, path, "").await.status();
        assert_eq!(status("ada").await, StatusCode::NO_CONTENT);
        assert_eq!(status("bob").await, StatusCode::OK);
        // The ended ones do not count.
        drop(ask::<UiStream>(&router, "ada").await);
        assert_eq!(replies.running(), 1);
        assert_eq!(replies.health().unstored, 1);
    });
    in_virtual_time(async {
        let router = router::<Responses>(endless(), Some(replies(memory()).runs_per_user(1)));
        let mut seen = Vec::new();
        for user in ["ada", "ada", "bob"] {
            let post = background(true);
            let response = send(&router, user, Method::POST, "/v1/responses", &post).await;
            seen.push(response.status().as_u16());
        }
        assert_eq!(seen, [200, 503, 200]);
    });
    // One of two that ends leaves room for one.
    in_virtual_time(async {
        let router = router::<Responses>(endless(), Some(replies(memory()).runs_per_user(2)));
        let post =
            async |path: &str, body: &str| send(&router, "ada", Method::POST, path, body).await;
        let begin = async || post("/v1/responses", &background(false)).await;
        let first = json(begin().await).await;
        assert_eq!(begin().await.status(), StatusCode::OK);
        let path = format!("/v1/responses/{}/cancel", first["id"].as_str().unwrap());
        assert_eq!(post(&path, "{}").await.status(), StatusCode::OK);
        seconds(5).await;
        assert_eq!(begin().await.status(), StatusCode::OK);
        assert_eq!(begin().await.status(), StatusCode::SERVICE_UNAVAILABLE);
    });
}

#[test]
fn a_server_that_shuts_down_waits_for_its_replies() {
    in_virtual_time(async {
        let store = Spy::new(MemoryReplyStore::new());
        let replies = replies(store.clone());
        let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
        let body = ask::<UiStream>(&router, "ada").await;
        let (got, ()) = futures::join!(read(body), router.drain(seconds(10)));
        assert!(text(&got).contains("word9"));
        assert_eq!(replies.running(), 0);
        let end = store.state(&store.last()).await.unwrap().end;
        assert_eq!(end, Some(ReplyEnd::Done));
    });
    in_virtual_time(async {
        let store = Spy::new(MemoryReplyStore::new());
        let replies = replies(store.clone());
        let router = router::<UiStream>(endless(), Some(replies.clone()));
        let body = ask::<UiStream>(&router, "ada").await;
        let (got, ()) = futures::join!(read(body), router.drain(seconds(10)));
        assert!(text(&got).contains("The server is shutting down"));
        let end = store.state(&store.last()).await.unwrap().end;
        assert_eq!(end, Some(ReplyEnd::Failed));
        assert_eq!(replies.running(), 0);
    });
}
