//! Stores that fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::replies::{
    ConversationKey, MemoryReplyStore, Page, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore,
    StoreError,
};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use http::{Method, StatusCode};

use crate::protocols::background;
use crate::server::{
    Talker, ask, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};

/// A store that fails as it is told, and knows the reply that was created last.
#[derive(Clone, Debug)]
pub(crate) struct Spy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: MemoryReplyStore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<ReplyId>,
    calls: Vec<&'static str>,
    /// The calls that fail, by their numbers, and their errors.
    fails: Option<(std::ops::Range<usize>, Fault)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Unavailable,
    /// It is unavailable, but has done what was asked.
    Forgotten,
    Gone,
    Full,
    Hangs,
    Panics,
    /// It takes a moment.
    Slow,
}

impl Spy {
    pub(crate) fn new(store: MemoryReplyStore) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Inner { store, state }))
    }

    pub(crate) fn fail(&self, calls: std::ops::Range<usize>, fault: Fault) {
        self.0.state.lock().unwrap().fails = Some((calls, fault));
    }

    pub(crate) fn last(&self) -> ReplyId {
        self.0.state.lock().unwrap().last.unwrap()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.store.len()
    }

    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.0.state.lock().unwrap().calls.clone()
    }

    async fn call<T>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let fault = {
            let mut state = self.0.state.lock().unwrap();
            let number = state.calls.len();
            state.calls.push(name);
            let fails = state.fails.as_ref();
            fails.filter(|it| it.0.contains(&number)).map(|it| it.1)
        };
        let unavailable = || StoreError::Unavailable("away".into());
        match fault {
            None => work.await,
            Some(Fault::Unavailable) => Err(unavailable()),
            Some(Fault::Forgotten) => work.await.and(Err(unavailable())),
            Some(Fault::Gone) => Err(StoreError::Gone),
            Some(Fault::Full) => Err(StoreError::Full),
            Some(Fault::Hangs) => std::future::pending().await,
            Some(Fault::Panics) => panic!("a test of a panic"),
            Some(Fault::Slow) => {
                tokio::time::sleep(Duration::from_millis(3)).await;
                work.await
            }
        }
    }
}

#[async_trait]
impl ReplyStore for Spy {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        self.0.state.lock().unwrap().last = Some(*id);
        self.call("create", self.0.store.create(id, meta)).await
    }

    async fn append(&self, id: &ReplyId, first: u64, events: Bytes) -> Result<(), StoreError> {
        self.call("append", self.0.store.append(id, first, events))
            .await
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        self.call("seal", self.0.store.seal(id, end)).await
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<Page, StoreError> {
        self.call("read", self.0.store.read(id, from)).await
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        self.call("state", self.0.store.state(id)).await
    }

    async fn note_reader(&self, id: &ReplyId, next: u64) -> Result<(), StoreError> {
        self.call("note_reader", self.0.store.note_reader(id, next))
            .await
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        self.call("latest", self.0.store.latest(conversation)).await
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.call("cancel", self.0.store.cancel(id)).await
    }

    async fn cancelled(&self, id: &ReplyId) {
        self.0.store.cancelled(id).await;
    }
}

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
    for fault in [Fault::Unavailable, Fault::Forgotten] {
        for first in 1..12 {
            for count in [1, 2, 6] {
                in_virtual_time(async {
                    let store = Spy::new(memory());
                    store.fail(first..first + count, fault);
                    let router =
                        router::<UiStream>(Talker::default(), Some(replies(store.clone())));
                    let whole = read(ask::<UiStream>(&router, "ada").await).await;
                    seconds(30).await;
                    let page = store.0.store.read(&store.last(), 0).await.unwrap();
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
    for (fault, first) in [(Fault::Unavailable, 0), (Fault::Full, 0), (Fault::Gone, 4)] {
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
fn a_response_for_the_background_needs_the_store() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail(0..1000, Fault::Unavailable);
        let router = router::<Responses>(Talker::default(), Some(replies(store)));
        for stream in [false, true] {
            let post = background(stream);
            let response = send(&router, "ada", Method::POST, "/v1/responses", &post).await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
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
            let reader = Spy(Arc::clone(&store.0));
            let two = router::<UiStream>(slow, Some(replies(reader)));
            let connected = ask::<UiStream>(&one, "ada").await;
            let elsewhere = async {
                seconds(3).await;
                let path = "/api/chat/chat-1/stream";
                let response = send(&two, "ada", Method::GET, path, "").await;
                read(response.into_body()).await
            };
            let (connected, elsewhere, ()) = futures::join!(read(connected), elsewhere, async {
                seconds(5).await;
                store.fail(0..100_000, Fault::Unavailable);
                seconds(away).await;
                store.fail(0..0, Fault::Unavailable);
            });
            let elsewhere = text(&elsewhere).replace(": ping\n\n", "");
            assert_eq!(elsewhere == text(&connected), whole, "{elsewhere}");
            assert_eq!(elsewhere.contains("is gone"), !whole, "{elsewhere}");
        });
    }
}
