//! Replies on the server that runs them: what it does without the store, and what it leaves behind.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use futures::Stream as _;
use http::{Method, StatusCode};
use tokio::time::timeout;

use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, read_some, replies, router, seconds, send,
    text, watch,
};
use crate::spy::{Fault, Spy};

const RESUME: &str = "/api/chat/chat-1/stream";
const STOP: &str = "/api/chat/chat-1/stop";

/// An agent that never says a word.
fn silent() -> Talker {
    Talker {
        pause: Duration::from_secs(1_000_000),
        ..Talker::default()
    }
}

#[test]
fn a_page_stops_its_reply_while_the_store_is_away() {
    for fault in [Fault::Unavailable, Fault::Hangs] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let router = router::<UiStream>(silent(), Some(replies(store.clone())));
            let (router, outcomes) = watch(router);
            let body = ask::<UiStream>(&router, "ada").await;
            store.fail(0..100_000, fault);
            let stop = send(&router, "ada", Method::POST, STOP, "{}");
            let (stopped, bytes) =
                futures::join!(timeout(Duration::from_secs(5), stop), read(body));
            assert!(text(&bytes).contains("{\"type\":\"abort\"}"), "{fault:?}");
            assert_eq!(*outcomes.lock().unwrap(), ["cancelled"]);
            if fault == Fault::Unavailable {
                assert_eq!(stopped.unwrap().status(), StatusCode::NO_CONTENT);
                // Another server's reply cannot be stopped now.
                let other = "/api/chat/other/stop";
                let other = send(&router, "ada", Method::POST, other, "{}").await;
                assert_eq!(other.status(), StatusCode::SERVICE_UNAVAILABLE);
            }
        });
    }
}

#[test]
fn a_response_is_cancelled_while_the_store_is_away() {
    for fault in [Fault::Unavailable, Fault::Hangs] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let router = router::<Responses>(silent(), Some(replies(store.clone())));
            let post = background(false);
            let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
            let id = json(post.await).await["id"].as_str().unwrap().to_owned();
            store.fail(0..100_000, fault);
            let path = format!("/v1/responses/{id}");
            let running = send(&router, "ada", Method::GET, &path, "").await;
            assert_eq!(json(running).await["status"], "in_progress");
            for _ in 0..2 {
                let cancel = format!("{path}/cancel");
                let cancelled = send(&router, "ada", Method::POST, &cancel, "{}").await;
                assert_eq!(cancelled.status(), StatusCode::OK, "{fault:?}");
                assert_eq!(json(cancelled).await["status"], "cancelled");
            }
            let stream = format!("{path}?stream=true&starting_after=0");
            let stream = send(&router, "ada", Method::GET, &stream, "").await;
            assert!(text(&read(stream.into_body()).await).contains("\"cancelled\""));
        });
    }
}

/// A chat may run on two servers, after a page has sent its message again.
#[test]
fn a_stop_reaches_the_latest_reply_elsewhere_too() {
    in_virtual_time(async {
        let store = memory();
        let store = Spy::new(store);
        let (one, first) = watch(router::<UiStream>(silent(), Some(replies(store.clone()))));
        let (two, second) = watch(router::<UiStream>(silent(), Some(replies(store))));
        let earlier = ask::<UiStream>(&one, "ada").await;
        let later = ask::<UiStream>(&two, "ada").await;
        let stop = send(&one, "ada", Method::POST, STOP, "{}");
        let (stopped, _, _) = futures::join!(stop, read(earlier), read(later));
        assert_eq!(stopped.status(), StatusCode::NO_CONTENT);
        assert_eq!(*first.lock().unwrap(), ["cancelled"]);
        assert_eq!(*second.lock().unwrap(), ["cancelled"]);
    });
}

#[test]
fn the_latest_reply_of_a_chat_is_found_elsewhere_too() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = router::<UiStream>(silent(), Some(replies(store.clone())));
        let two = router::<UiStream>(Talker::default(), Some(replies(store)));
        let _earlier = ask::<UiStream>(&one, "ada").await;
        let later = ask::<UiStream>(&two, "ada").await;
        let found = send(&one, "ada", Method::GET, RESUME, "").await;
        let found = timeout(Duration::from_secs(100), read(found.into_body()));
        let (later, found) = futures::join!(read(later), found);
        assert_eq!(text(&found.unwrap()), text(&later));
    });
}

/// The first one ends while the second one, of the same chat, goes on.
#[test]
fn the_latest_reply_of_a_chat_remains_when_an_earlier_one_ends() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
        let earlier = ask::<UiStream>(&router, "ada").await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let later = ask::<UiStream>(&router, "ada").await;
        read(earlier).await;
        tokio::task::yield_now().await;
        store.fail(0..100_000, Fault::Unavailable);
        let found = send(&router, "ada", Method::GET, RESUME, "").await;
        assert_eq!(found.status(), StatusCode::OK);
        let (later, found) = futures::join!(read(later), read(found.into_body()));
        assert_eq!(text(&found), text(&later));
    });
}

#[test]
fn a_reply_is_not_joined_between_its_end_and_the_end_of_its_log() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("seal", Fault::Unavailable);
        let replies = replies(store).join(true);
        let router = router::<OpenAi>(Talker::default(), Some(replies.clone()));
        let first = read(ask::<OpenAi>(&router, "ada").await).await;
        assert_eq!(replies.running(), 1);
        let second = read(ask::<OpenAi>(&router, "ada").await).await;
        assert_ne!(first, second);
    });
}

/// As long as the log would have been kept.
#[test]
fn the_end_of_a_reply_waits_for_the_store_for_a_while() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("seal", Fault::Unavailable);
        let replies = replies(store).keep(Duration::from_secs(10));
        let short = Talker {
            words: 1,
            ..Talker::default()
        };
        let router = router::<UiStream>(short, Some(replies.clone()));
        read(ask::<UiStream>(&router, "ada").await).await;
        for (wait, running) in [(10_500, 1), (1000, 0)] {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            assert_eq!(replies.running(), running);
        }
    });
}

/// The log is there before the client can ask for it, here and elsewhere.
#[test]
fn a_reply_is_found_at_once() {
    for fault in [None, Some(Fault::Slow)] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            if let Some(fault) = fault {
                store.fail(0..1, fault);
            }
            let one = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
            let two = router::<UiStream>(Talker::default(), Some(replies(store)));
            let body = ask::<UiStream>(&one, "ada").await;
            let here = send(&one, "ada", Method::GET, RESUME, "").await;
            let elsewhere = send(&two, "ada", Method::GET, RESUME, "").await;
            assert_eq!(here.status(), StatusCode::OK, "{fault:?}");
            assert_eq!(elsewhere.status(), StatusCode::OK, "{fault:?}");
            let (whole, here, elsewhere) = futures::join!(
                read(body),
                read(here.into_body()),
                read(elsewhere.into_body())
            );
            assert_eq!(text(&here), text(&whole));
            assert_eq!(text(&elsewhere), text(&whole));
        });
    }
}

/// The head does not wait for long, and the server that runs the reply finds it without the store.
#[test]
fn a_reply_is_found_where_it_runs_while_the_store_is_away() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail(0..1, Fault::Hangs);
        let router = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
        let start = tokio::time::Instant::now();
        let body = ask::<UiStream>(&router, "ada").await;
        assert!(start.elapsed() < Duration::from_millis(50));
        for fault in [None, Some(Fault::Unavailable)] {
            if let Some(fault) = fault {
                store.fail(0..100_000, fault);
            }
            let here = send(&router, "ada", Method::GET, RESUME, "").await;
            assert_eq!(here.status(), StatusCode::OK, "{fault:?}");
        }
        assert!(text(&read(body).await).contains("word9"));
    });
}

/// A task that panics, here in the store, ends its log.
#[test]
fn a_panic_ends_the_log() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
        // The first call creates the log.
        store.fail(3..4, Fault::Panics);
        let body = ask::<UiStream>(&router, "ada").await;
        let bytes = read(body).await;
        assert!(text(&bytes).contains("the rest of the answer is lost"));
        // The reader has the first event, and reads nothing for the failure.
        assert!(!store.calls().contains(&"read"));
        let state = store.state(&store.last()).await.unwrap();
        assert_eq!(state.end, Some(ReplyEnd::Lost));
        assert_eq!(replies.running(), 0);
    });
}

/// A runtime that ends drops its tasks; the store is another one's too.
#[test]
fn the_end_of_a_runtime_ends_the_logs() {
    let store = Spy::new(MemoryReplyStore::new());
    let replies = replies(store.clone());
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    };
    let first = runtime();
    let body = first.block_on(async {
        let router = router::<UiStream>(silent(), Some(replies.clone()));
        ask::<UiStream>(&router, "ada").await
    });
    drop(first);
    runtime().block_on(async {
        let state = store.state(&store.last()).await.unwrap();
        assert_eq!(state.end, Some(ReplyEnd::Lost));
    });
    assert_eq!(replies.running(), 0);
    drop(body);
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// Here they wait for local memory, and on the other server for the store.
#[test]
fn readers_that_leave_leave_nothing() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = router::<UiStream>(silent(), Some(replies(store.clone())));
        let two = router::<UiStream>(silent(), Some(replies(store)));
        let body = ask::<UiStream>(&one, "ada").await;
        drop(read_some(body, 10).await);
        for router in [&one, &two] {
            let mut tasks = Vec::new();
            for _ in 0..100 {
                let task = Arc::new(Nobody);
                tasks.push(Arc::downgrade(&task));
                let waker = Waker::from(task);
                let mut reader = again::<UiStream>(router, "ada").await;
                let mut cx = Context::from_waker(&waker);
                while Pin::new(&mut reader).poll_next(&mut cx).is_ready() {}
            }
            assert!(tasks.iter().all(|task| task.upgrade().is_none()));
        }
        seconds(1).await;
    });
}
