//! Stores that fail.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::mcp::Mcp;
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{Env, Environment, Ticks};
use copilot_wire::replies::{ReplyEnd, ReplyStore};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use http::{Method, StatusCode};

use crate::protocols::background;
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};
use crate::spy::{Fault, Spy};

/// Returns what a connected reader gets, with ids taken out, and how long it took.
async fn connected(store: &Spy) -> (String, Duration) {
    let router = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
    let start = tokio::time::Instant::now();
    let bytes = read(ask::<UiStream>(&router, "ada").await).await;
    let took = start.elapsed();
    let bytes = text(&bytes).to_owned();
    let id = bytes
        .split("msg_")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    (bytes.replace(id, ""), took)
}

#[test]
fn the_connected_reader_notices_nothing_of_the_store() {
    let (plain, calls) = in_virtual_time(async {
        let store = Spy::new(memory());
        let plain = connected(&store).await;
        seconds(5).await;
        (plain, store.calls())
    });
    let appends = calls.iter().filter(|call| **call == "append").count();
    assert!(appends >= 10, "{calls:?}");
    let faults = [
        Fault::Unavailable,
        Fault::Forgotten,
        Fault::Gone,
        Fault::Full,
        Fault::Hangs,
    ];
    for fault in faults {
        for first in 0..calls.len() {
            for count in [1, 3, 1000] {
                let seen = in_virtual_time(async {
                    let store = Spy::new(memory());
                    store.fail(first..first + count, fault);
                    connected(&store).await
                });
                assert_eq!(seen, plain, "{fault:?} {first} {count}");
            }
        }
    }
}

/// Events that could not be stored for a while are stored later, and none twice.
#[test]
fn a_store_that_comes_back_gets_all_of_the_reply() {
    for fault in [
        Fault::Unavailable,
        Fault::Forgotten,
        Fault::Full,
        Fault::Late,
    ] {
        for first in 0..12 {
            for count in [1, 2, 6] {
                in_virtual_time(async {
                    let store = Spy::new(memory());
                    store.fail(first..first + count, fault);
                    let router =
                        router::<UiStream>(Talker::default(), Some(replies(store.clone())));
                    let whole = read(ask::<UiStream>(&router, "ada").await).await;
                    seconds(60).await;
                    let page = store.store().read(&store.last(), 0).await.unwrap();
                    assert_eq!(
                        text(&page.events),
                        text(&whole),
                        "{fault:?} {first} {count}"
                    );
                    assert_eq!(page.end, Some(ReplyEnd::Done));
                });
            }
        }
    }
}

#[test]
fn a_reply_that_cannot_be_stored_ends_with_its_connection() {
    for (fault, first) in [(Fault::Gone, 0), (Fault::Exists, 0), (Fault::Gone, 4)] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            store.fail(first..first + 1000, fault);
            let replies = replies(store.clone());
            let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
            let (router, outcomes) = watch(router);
            let body = ask::<UiStream>(&router, "ada").await;
            drop(crate::server::read_some(body, 600).await);
            seconds(5).await;
            assert_eq!(
                *outcomes.lock().unwrap(),
                ["client_left, unstored"],
                "{fault:?}"
            );
            assert_eq!(replies.running(), 0);
            // One that stays gets all of it.
            read(ask::<UiStream>(&router, "ada").await).await;
            seconds(1).await;
            let told = outcomes.lock().unwrap().join("; ");
            assert!(told.ends_with("answered, unstored"), "{told}");
        });
    }
}

#[test]
fn the_agent_of_a_reply_that_cannot_be_stored_is_dropped_with_its_connection() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("create", Fault::Exists);
        let silent = Talker {
            pause: Duration::from_secs(1_000_000),
            ..Talker::default()
        };
        let (router, outcomes) = watch(router::<UiStream>(silent, Some(replies(store))));
        let start = tokio::time::Instant::now();
        let body = ask::<UiStream>(&router, "ada").await;
        // The head does not wait for a log that will not be there.
        assert_eq!(start.elapsed(), Duration::ZERO);
        // Between two ticks.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        drop(body);
        tokio::task::yield_now().await;
        assert_eq!(*outcomes.lock().unwrap(), ["client_left, unstored"]);
    });
}

/// The store comes back, and has the whole reply then.
#[test]
fn a_reply_outlives_its_connection_although_the_store_is_away() {
    for fault in [Fault::Unavailable, Fault::Full, Fault::Hangs] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            store.fail(0..1000, fault);
            let router = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
            let (router, outcomes) = watch(router);
            let first = crate::server::read_some(ask::<UiStream>(&router, "ada").await, 300).await;
            let path = "/api/chat/chat-1/stream";
            let again = send(&router, "ada", Method::GET, path, "").await;
            assert_eq!(again.status(), StatusCode::OK, "{fault:?}");
            drop(again);
            seconds(60).await;
            // Of a call that has no answer yet it is not known.
            let unstored = match fault {
                Fault::Hangs => "answered",
                _ => "answered, unstored",
            };
            assert_eq!(*outcomes.lock().unwrap(), [unstored], "{fault:?}");
            let again = send(&router, "ada", Method::GET, path, "").await;
            let whole = read(again.into_body()).await;
            assert!(whole.starts_with(&first) && text(&whole).contains("word9"));
            store.fail(0..0, fault);
            seconds(10).await;
            let page = store.store().read(&store.last(), 0).await.unwrap();
            assert_eq!(text(&page.events), text(&whole), "{fault:?}");
            assert_eq!(page.end, Some(ReplyEnd::Done));
        });
    }
}

/// Also where its log is created late, or not yet.
#[test]
fn the_latest_reply_of_a_chat_is_the_one_that_began_last() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = || router::<UiStream>(Talker::default(), Some(replies(store.clone())));
        let (one, two) = (router(), router());
        let first = read(ask::<UiStream>(&one, "ada").await).await;
        store.fail_all("create", Fault::Full);
        let second = ask::<UiStream>(&one, "ada").await;
        let here = again::<UiStream>(&one, "ada").await;
        // The log of the third reply is created before that of the second one.
        store.fail_all("none", Fault::Full);
        let third = ask::<UiStream>(&one, "ada").await;
        seconds(5).await;
        let elsewhere = again::<UiStream>(&two, "ada").await;
        let (second, here) = futures::join!(read(second), read(here));
        assert_eq!(text(&here), text(&second));
        let (third, elsewhere) = futures::join!(read(third), read(elsewhere));
        assert_eq!(text(&elsewhere), text(&third));
        assert!(first != second && second != third);
    });
}

/// A page that is loaded asks whether there is something to resume: there is nothing now.
#[test]
fn a_page_that_is_loaded_during_an_outage_shows_no_error() {
    for fault in [Fault::Unavailable, Fault::Hangs] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let router = || router::<UiStream>(Talker::default(), Some(replies(store.clone())));
            let (one, two) = (router(), router());
            let body = ask::<UiStream>(&one, "ada").await;
            store.fail(0..1000, fault);
            for (router, status) in [(&one, 200), (&two, 204)] {
                let path = "/api/chat/chat-1/stream";
                let response = send(router, "ada", Method::GET, path, "").await;
                assert_eq!(response.status().as_u16(), status, "{fault:?}");
            }
            store.fail(0..0, fault);
            let whole = read(body).await;
            seconds(10).await;
            let later = read(again::<UiStream>(&two, "ada").await).await;
            assert_eq!(text(&later), text(&whole));
        });
    }
}

/// Neither the search for a reply to join, nor the creation of the log.
#[test]
fn the_head_of_a_reply_that_can_be_joined_does_not_wait_for_the_store() {
    for fault in [Fault::Hangs, Fault::Late] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            store.fail(0..1000, fault);
            let replies = replies(store).join(true);
            let router = router::<OpenAi>(Talker::default(), Some(replies));
            let start = tokio::time::Instant::now();
            let body = ask::<OpenAi>(&router, "ada").await;
            assert!(start.elapsed() < Duration::from_millis(50), "{fault:?}");
            assert!(text(&read(body).await).contains("word9"));
        });
    }
}

/// Whatever a store does in answer to one of its methods: a reader of the server that answers gets all of the
/// answer, and one elsewhere that or a failure.
#[test]
fn a_store_that_does_anything_ends_no_answer() {
    let methods = [
        "create",
        "append",
        "seal",
        "read",
        "state",
        "latest",
        "note_reader",
        "cancel",
    ];
    let faults = [
        Fault::Unavailable,
        Fault::Forgotten,
        Fault::Gone,
        Fault::Full,
        Fault::Hangs,
        Fault::Late,
        Fault::Exists,
        Fault::Sealed,
    ];
    let untruths = (0..5).map(Fault::Untrue);
    for fault in faults.into_iter().chain(untruths) {
        for method in methods {
            in_virtual_time(any_fault(method, fault));
        }
    }
}

async fn any_fault(method: &'static str, fault: Fault) {
    let name = format!("{method} {fault:?}");
    let store = Spy::new(memory());
    store.fail_all(method, fault);
    let slow = Talker {
        pause: Duration::from_secs(10),
        ..Talker::default()
    };
    let (keep, lifetime) = (Duration::from_secs(100), Duration::from_secs(300));
    let limited = || replies(store.clone()).keep(keep).lifetime(lifetime);
    let runs = limited();
    let router = |replies| router::<UiStream>(slow.clone(), Some(replies));
    let (one, two) = (router(runs.clone()), router(limited()));
    let connected = read(ask::<UiStream>(&one, "ada").await);
    let elsewhere = async {
        seconds(15).await;
        let path = "/api/chat/chat-1/stream";
        let response = send(&two, "ada", Method::GET, path, "").await;
        (response.status(), read(response.into_body()).await)
    };
    let here = async {
        seconds(15).await;
        read(again::<UiStream>(&one, "ada").await).await
    };
    let all = async { futures::join!(connected, here, elsewhere) };
    let all = tokio::time::timeout(Duration::from_secs(600), all).await;
    let Ok((connected, here, (status, elsewhere))) = all else {
        panic!("{name}: a reader waits for ever");
    };
    let plain = |bytes: &[u8]| text(bytes).replace(": ping\n\n", "");
    let whole = plain(&connected);
    assert!(
        whole.contains("word9") && whole.ends_with("data: [DONE]\n\n"),
        "{name}"
    );
    assert_eq!(plain(&here), whole, "{name}");
    if status == StatusCode::OK {
        let elsewhere = plain(&elsewhere);
        let is_lost = elsewhere.contains("the rest of the answer is lost");
        assert!(is_lost || elsewhere == whole, "{name}: {elsewhere}");
    } else {
        assert_eq!(status, StatusCode::NO_CONTENT, "{name}");
    }
    // Nothing goes on for ever.
    seconds(600).await;
    assert_eq!(runs.running(), 0, "{name}");
}

#[test]
fn a_response_for_the_background_needs_the_store() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail(0..1000, Fault::Unavailable);
        let replies = replies(store);
        let router = router::<Responses>(Talker::default(), Some(replies.clone()));
        for stream in [false, true] {
            let post = background(stream);
            let response = send(&router, "ada", Method::POST, "/v1/responses", &post).await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(replies.running(), 0);
        }
        let get = send(&router, "ada", Method::GET, "/v1/responses/resp_1", "").await;
        assert_eq!(get.status(), StatusCode::SERVICE_UNAVAILABLE);
    });
}

/// A reader of another server's reply waits some seconds for the store, and then gets a failure.
#[test]
fn a_reader_elsewhere_waits_for_the_store_for_a_while() {
    for (away, whole) in [(3, true), (20, false)] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let slow = Talker {
                pause: Duration::from_secs(2),
                ..Talker::default()
            };
            let one = router::<UiStream>(slow.clone(), Some(replies(store.clone())));
            let reader = store.clone();
            let two = router::<UiStream>(slow, Some(replies(reader)));
            let connected = ask::<UiStream>(&one, "ada").await;
            let start = tokio::time::Instant::now();
            let elsewhere = async {
                seconds(3).await;
                let path = "/api/chat/chat-1/stream";
                let response = send(&two, "ada", Method::GET, path, "").await;
                (read(response.into_body()).await, start.elapsed())
            };
            let (connected, (elsewhere, took), ()) =
                futures::join!(read(connected), elsewhere, async {
                    seconds(5).await;
                    store.fail(0..100_000, Fault::Unavailable);
                    seconds(away).await;
                    store.fail(0..0, Fault::Unavailable);
                });
            let elsewhere = text(&elsewhere).replace(": ping\n\n", "");
            assert_eq!(elsewhere == text(&connected), whole, "{elsewhere}");
            assert_eq!(elsewhere.contains("is lost"), !whole, "{elsewhere}");
            if !whole {
                assert_eq!(took, Duration::from_secs(10));
            }
        });
    }
}

#[test]
fn a_read_that_failed_is_repeated_within_a_second() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = || router::<UiStream>(Talker::default(), Some(replies(store.clone())));
        let (one, two) = (router(), router());
        let whole = read(ask::<UiStream>(&one, "ada").await).await;
        store.fail_all("read", Fault::Unavailable);
        let elsewhere = again::<UiStream>(&two, "ada").await;
        let start = tokio::time::Instant::now();
        let (elsewhere, ()) = futures::join!(read(elsewhere), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            store.fail_all("none", Fault::Unavailable);
        });
        assert_eq!(text(&elsewhere), text(&whole));
        assert_eq!(start.elapsed(), Duration::from_secs(1));
    });
}

/// Time without a timer.
struct NoTicks;

impl Environment for NoTicks {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn ticks(&self, _: Duration) -> Option<Ticks> {
        None
    }
}

#[test]
fn a_log_that_fails_is_ended_without_a_timer() {
    for fault in [Fault::SlowlyGone, Fault::Unavailable, Fault::Full] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            store.fail_all("append", fault);
            let replies = replies(store.clone());
            let talker = Talker {
                words: 1,
                ..Talker::default()
            };
            let router = router::<UiStream>(talker, Some(replies.clone()));
            let router = router.env(Env::new(NoTicks));
            drop(read(ask::<UiStream>(&router, "ada").await).await);
            seconds(1).await;
            assert!(store.calls().contains(&"seal"), "{:?}", store.calls());
            assert_eq!(replies.running(), 0);
        });
    }
}

/// Its client would wait for minutes for a result that does not come.
#[test]
fn a_call_that_is_resumed_while_the_store_is_away_has_a_result() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail(0..usize::MAX, Fault::Unavailable);
        let router = router::<Mcp>(Talker::default(), Some(replies(store)));
        let request = http::Request::get("/mcp")
            .header("x-user", "ada")
            .header("last-event-id", "0123456789abcdef0123456789abcdef.3.31");
        let empty = futures::stream::empty::<Result<Bytes, std::convert::Infallible>>();
        let response = router.handle(request.body(empty).unwrap()).await;
        let stream = String::from_utf8(read(response.into_body()).await).unwrap();
        assert!(stream.contains(r#""id":1,"result""#), "{stream}");
        assert!(stream.contains(r#""isError":true"#), "{stream}");
    });
}
