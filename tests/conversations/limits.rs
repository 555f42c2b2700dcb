//! Requests and stores at their limits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::conversations::{
    ConversationStore, Conversations, MemoryConversationStore, RecordError, RecordKey,
};
use copilot_wire::responses::Responses;
use copilot_wire::router::{Endpoint, HttpRequest, Mount, MountError, Site};
use copilot_wire::{Agent, Body, Reply, agent_fn};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{answered, post, router, send_as, with};

const PATH: &str = "/v1/responses";

/// A store in memory that counts the calls that read, and the unused bytes of records.
#[derive(Debug, Default)]
struct Watched {
    store: MemoryConversationStore,
    gets: AtomicUsize,
    unused: Mutex<usize>,
    /// The time that reading takes.
    #[cfg(feature = "tokio")]
    pause: Mutex<Duration>,
}

#[async_trait]
impl ConversationStore for Watched {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let len = record.len();
        let record = record.try_into_mut().unwrap();
        *self.unused.lock().unwrap() += record.capacity() - len;
        self.store.put(key, record.freeze(), keep).await
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        #[cfg(feature = "tokio")]
        if !self.pause.lock().unwrap().is_zero() {
            let pause = *self.pause.lock().unwrap();
            tokio::time::sleep(pause).await;
        }
        self.store.get(keys, keep).await
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        self.store.delete(key).await
    }
}

fn reference(response: &Value) -> Value {
    json!({"type": "item_reference", "id": response["output"][0]["id"]})
}

#[test]
fn references_to_more_responses_than_a_conversation_may_have_are_refused() {
    let store = Arc::new(Watched::default());
    let router = with(Conversations::single_user(Arc::clone(&store)).limit(200, 1 << 20));
    let references: Vec<_> = (0..600)
        .map(|_| reference(&answered(&router, PATH, &json!({"input": "hi"}))))
        .collect();
    store.gets.store(0, Ordering::Relaxed);
    answered(&router, PATH, &json!({"input": references[..200]}));
    let (status, error) = post(&router, PATH, &json!({"input": references}));
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "context_length_exceeded");
    let gets = store.gets.load(Ordering::Relaxed);
    assert!(gets < 500, "{gets}");
}

#[cfg(feature = "tokio")]
#[test]
fn a_slow_store_does_not_hold_a_request_for_long() {
    let store = Arc::new(Watched::default());
    let router = with(Conversations::single_user(Arc::clone(&store)));
    let references: Vec<_> = (0..100)
        .map(|_| reference(&answered(&router, PATH, &json!({"input": "hi"}))))
        .collect();
    *store.pause.lock().unwrap() = Duration::from_secs(4);
    let body = json!({"input": references}).to_string();
    let chunk = Ok::<_, std::convert::Infallible>(Bytes::from(body));
    let post = http::Request::post(PATH).header("content-type", "application/json");
    let post = post.body(futures::stream::iter([chunk])).unwrap();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let (status, time) = runtime.block_on(async {
        let begin = tokio::time::Instant::now();
        (router.handle(post).await.status(), begin.elapsed())
    });
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    // In the time of the runtime, which is not that of a clock.
    assert!(time < Duration::from_secs(30), "{time:?}");
}

#[test]
fn a_record_takes_no_more_memory_than_it_has_bytes() {
    let store = Arc::new(Watched::default());
    let router = with(Conversations::single_user(Arc::clone(&store)));
    for size in [1000, 10_000, 50_000] {
        answered(&router, PATH, &json!({"input": "x".repeat(size)}));
    }
    assert_eq!(*store.unused.lock().unwrap(), 0);
}

/// An endpoint that shows the conversation that ended with the response in its body.
struct Shown;

#[async_trait]
impl Endpoint for Shown {
    async fn call(&self, call: HttpRequest) -> http::Response<Body> {
        let conversations = call.conversations(PATH).unwrap();
        let id = std::str::from_utf8(&call.body).unwrap();
        let chain = conversations.chain(id).await.unwrap();
        http::Response::new(Body::full(format!("{conversations:?} {chain:?}")))
    }
}

impl Mount for Shown {
    type Protocol = Responses;

    fn mount(self, _: Arc<dyn Agent<Responses>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.route(Method::POST, "/shown", Self)
    }
}

#[test]
fn debug_of_a_conversation_shows_neither_ids_nor_texts() {
    let agent = agent_fn(async |_, reply: Reply<Responses>| Ok(reply.text("Yes.").await?));
    let router = router().mount(Shown, agent).unwrap();
    let first = answered(&router, PATH, &json!({"input": "secret"}));
    let id = first["id"].as_str().unwrap();
    let (_, shown) = send_as(&router, "", Method::POST, "/shown", id);
    assert!(shown.contains("Chain"), "{shown}");
    assert!(
        !shown.contains(&id[..16]) && !shown.contains("secret"),
        "{shown}"
    );
}
