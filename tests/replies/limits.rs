//! The limits of a reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures::StreamExt as _;
use http::{Method, StatusCode};

use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, read_some, replies, router, seconds, send,
    text, watch,
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

/// Whatever the reason: what is not stored is written as fast as somebody reads it.
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
                while got.len() < step * 100_000 {
                    got.extend(body.next().await.unwrap().unwrap());
                }
            }
            // One that begins to read now is behind by more than there is: it gets a failure, and stops nobody.
            let late = again::<OpenAi>(&router, "ada").await;
            let (rest, late) = futures::join!(read(body), read(late));
            got.extend(rest);
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
}

#[test]
fn abandoned_replies_leave_nothing() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone()).runs_per_user(100);
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
