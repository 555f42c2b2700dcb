//! The limits of a reply.

use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use futures::StreamExt as _;
use http::{Method, StatusCode};

use crate::faults::Spy;
use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, read_some, replies, router, seconds, send,
    text, watch,
};

/// Much text without a pause.
fn flood() -> Talker {
    Talker {
        words: 2000,
        size: 1000,
        pause: Duration::ZERO,
    }
}

fn endless() -> Talker {
    Talker {
        words: 1_000_000,
        pause: Duration::from_secs(1),
        ..Talker::default()
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
        assert!(store.calls().contains(&"read"));
    });
}

#[test]
fn a_reply_that_becomes_too_large_fails() {
    for (bytes, events) in [(1_000_000, 100_000), (8 << 20, 100)] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let replies = replies(store.clone()).limit(bytes, events);
            let router = router::<UiStream>(flood(), Some(replies));
            let (router, outcomes) = watch(router);
            let got = read(ask::<UiStream>(&router, "ada").await).await;
            assert!(text(&got).contains("The answer became too large."));
            assert!(got.len() < 1_100_000);
            let outcome = ["The answer became too large."];
            assert_eq!(*outcomes.lock().unwrap(), outcome);
            seconds(1).await;
            let state = store.state(&store.last()).await.unwrap();
            assert_eq!(state.end, Some(ReplyEnd::Failed));
        });
    }
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
fn a_reply_without_readers_is_cancelled() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let router = router::<UiStream>(endless(), Some(replies.clone()));
        let (router, outcomes) = watch(router);
        drop(ask::<UiStream>(&router, "ada").await);
        seconds(590).await;
        assert_eq!(replies.running(), 1);
        seconds(20).await;
        assert_eq!(*outcomes.lock().unwrap(), ["cancelled"]);
        assert_eq!(replies.running(), 0);
        let state = store.state(&store.last()).await.unwrap();
        assert_eq!(state.end, Some(ReplyEnd::Cancelled));
    });
}

/// Here, or on another server.
#[test]
fn a_reader_keeps_a_reply_alive() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = router::<UiStream>(endless(), Some(replies(store.clone())));
        let two = router::<UiStream>(endless(), Some(replies(store.clone())));
        for router in [&one, &two] {
            drop(ask::<UiStream>(&one, "ada").await);
            let reader = tokio::spawn(read(again::<UiStream>(router, "ada").await));
            seconds(1500).await;
            let end = store.state(&store.last()).await.unwrap().end;
            assert_eq!(end, None);
            reader.abort();
            seconds(700).await;
            let end = store.state(&store.last()).await.unwrap().end;
            assert_eq!(end, Some(ReplyEnd::Cancelled));
        }
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
        assert_eq!(*outcomes.lock().unwrap(), ["client_left"]);
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

#[test]
fn abandoned_replies_leave_nothing() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let router = router::<Responses>(endless(), Some(replies.clone()));
        for _ in 0..100 {
            let post = background(false);
            send(&router, "ada", Method::POST, "/v1/responses", &post).await;
        }
        assert_eq!(replies.running(), 100);
        seconds(610).await;
        assert_eq!(replies.running(), 0);
        assert_eq!(store.len(), 100);
        seconds(610).await;
        assert_eq!(store.len(), 0);
    });
}

#[test]
fn a_response_that_a_client_polls_is_not_abandoned() {
    in_virtual_time(async {
        let replies = replies(memory());
        let router = router::<Responses>(endless(), Some(replies.clone()));
        let post = background(false);
        let posted = send(&router, "ada", Method::POST, "/v1/responses", &post).await;
        let id = json(posted).await["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/responses/{id}");
        for _ in 0..30 {
            seconds(30).await;
            let found = send(&router, "ada", Method::GET, &path, "").await;
            assert_eq!(json(found).await["status"], "in_progress");
        }
        assert_eq!(replies.running(), 1);
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
