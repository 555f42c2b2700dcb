//! Requests and stores at their limits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::conversations::{
    ConversationStore, Conversations, MemoryConversationStore, RecordError, RecordKey,
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{answered, post, with};

const PATH: &str = "/v1/responses";

/// A store in memory that counts the calls that read, and the unused bytes of records.
#[derive(Debug, Default)]
struct Watched {
    store: MemoryConversationStore,
    gets: AtomicUsize,
    unused: Mutex<usize>,
}

#[async_trait]
impl ConversationStore for Watched {
    async fn put(&self, key: &RecordKey, record: Bytes, keep: Duration) -> Result<(), RecordError> {
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

#[test]
fn a_record_takes_no_more_memory_than_it_has_bytes() {
    let store = Arc::new(Watched::default());
    let router = with(Conversations::single_user(Arc::clone(&store)));
    for size in [1000, 10_000, 50_000] {
        answered(&router, PATH, &json!({"input": "x".repeat(size)}));
    }
    assert_eq!(*store.unused.lock().unwrap(), 0);
}
