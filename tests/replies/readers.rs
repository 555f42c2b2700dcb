//! Readers keep a reply alive, and get keep-alives while it is silent.

use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::replies::{ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use futures::StreamExt as _;
use http::Method;
use tokio::time::Instant;

use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, endless, in_virtual_time, memory, read, replies, router, seconds, send,
    watch,
};
use crate::spy::{Fault, Spy};

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

/// Also without an event, from which the failure would have the ids.
#[test]
fn a_reader_of_another_servers_silent_reply_fails_at_a_shutdown() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Unavailable);
        let one = router::<UiStream>(endless(), Some(replies(store.clone())));
        let two = router::<UiStream>(endless(), Some(replies(store.clone())));
        let _body = ask::<UiStream>(&one, "ada").await;
        let reader = again::<UiStream>(&two, "ada").await;
        let start = Instant::now();
        let (read, ()) = futures::join!(read(reader), two.drain(seconds(3)));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        assert!(
            String::from_utf8(read)
                .unwrap()
                .contains(r#""type":"error""#)
        );
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

/// There may be readers on other servers, which note themselves in the store.
#[test]
fn a_reply_is_not_abandoned_while_the_store_is_away() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let router = router::<UiStream>(endless(), Some(replies.clone()));
        let (router, outcomes) = watch(router);
        drop(ask::<UiStream>(&router, "ada").await);
        store.fail_all("state", Fault::Unavailable);
        seconds(1000).await;
        assert_eq!(replies.running(), 1);
        store.fail_all("none", Fault::Unavailable);
        seconds(10).await;
        assert_eq!(*outcomes.lock().unwrap(), ["cancelled"]);
        assert_eq!(replies.running(), 0);
    });
}

#[test]
fn a_reader_who_comes_while_others_are_looked_for_keeps_a_reply_alive() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("state", Fault::Slow);
        let replies = replies(store.clone());
        let router = router::<UiStream>(endless(), Some(replies.clone()));
        drop(ask::<UiStream>(&router, "ada").await);
        // The look begins after 600 seconds, and takes three milliseconds.
        tokio::time::sleep(Duration::from_millis(600_001)).await;
        assert!(store.calls().contains(&"state"));
        let reader = again::<UiStream>(&router, "ada").await;
        seconds(5).await;
        assert_eq!(replies.running(), 1);
        drop(reader);
    });
}

/// At its first second, because the reply may be about to be cancelled, and every half minute.
#[test]
fn a_reader_is_noted_where_the_reply_does_not_run() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = router::<UiStream>(endless(), Some(replies(store.clone())));
        let two = router::<UiStream>(endless(), Some(replies(store.clone())));
        let notes = || {
            let calls = store.calls().into_iter();
            calls.filter(|call| *call == "note_reader").count()
        };
        let here = tokio::spawn(read(ask::<UiStream>(&one, "ada").await));
        seconds(100).await;
        assert_eq!(notes(), 0);
        let _elsewhere = tokio::spawn(read(again::<UiStream>(&two, "ada").await));
        for (second, wanted) in [(2, 1), (28, 1), (2, 2), (28, 2), (2, 3)] {
            seconds(second).await;
            assert_eq!(notes(), wanted);
        }
        here.abort();
    });
}

/// Proxies end streams that are silent, some after half a minute.
#[test]
fn a_reader_gets_a_keep_alive_after_fifteen_seconds_of_silence() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let server = || {
            let slow = Talker {
                words: 2,
                pause: Duration::from_secs(40),
                ..Talker::default()
            };
            let configured = replies(store.clone()).join(true);
            router::<OpenAi>(slow, Some(configured))
        };
        let (one, two) = (server(), server());
        let start = Instant::now();
        let pings = async |mut body: copilot_wire::Body| {
            let mut pings = Vec::new();
            while let Some(frame) = body.next().await {
                if frame.unwrap() == ": ping\n\n" {
                    pings.push(start.elapsed().as_secs());
                }
            }
            pings
        };
        let here = ask::<OpenAi>(&one, "ada").await;
        let elsewhere = again::<OpenAi>(&two, "ada").await;
        let both = futures::join!(pings(here), pings(elsewhere));
        assert_eq!(both, (vec![15, 30, 55, 70], vec![15, 30, 55, 70]));
    });
}
