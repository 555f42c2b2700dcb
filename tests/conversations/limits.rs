//! Requests and stores at their limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// A store in memory that counts the calls that read.
#[derive(Debug, Default)]
struct Watched {
    store: MemoryConversationStore,
    gets: AtomicUsize,
}

#[async_trait]
impl ConversationStore for Watched {
    async fn put(&self, key: &RecordKey, record: Bytes, keep: Duration) -> Result<(), RecordError> {
        self.store.put(key, record, keep).await
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
