//! Stores of conversations: limits, expiry, and stores that fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::conversations::{
    ConversationStore, Conversations, MemoryConversationStore, RecordError, RecordKey,
};
use copilot_wire::protocol::Env;
use copilot_wire_kit::{check_conversation_store, check_user_limit};
use futures::executor::block_on;
use http::{Method, StatusCode};
use serde_json::json;

use crate::exchange;
use crate::support::{Clock, HOUR, answered, post, with};

const PATH: &str = "/v1/responses";

fn key(user: &str, id: &str) -> RecordKey {
    RecordKey::new(user, "/v1/responses", id)
}

fn put(store: &dyn ConversationStore, key: &RecordKey, size: usize) -> Result<bool, RecordError> {
    block_on(store.put(key, Bytes::from(vec![b'x'; size]), HOUR))
}

fn has(store: &dyn ConversationStore, key: &RecordKey) -> bool {
    block_on(store.get(std::slice::from_ref(key), HOUR)).unwrap()[0].is_some()
}

#[test]
fn the_store_in_memory_keeps_the_rules() {
    let clock = Clock::new();
    let store = MemoryConversationStore::new().env(Env::new(clock.clone()));
    let sleep = |time| {
        let clock = clock.clone();
        async move { clock.advance(time) }
    };
    block_on(check_conversation_store([&store, &store], sleep)).unwrap();
    let store = store.user_limit(1 << 20).limit(2 << 20);
    block_on(check_user_limit(&store, 1 << 20)).unwrap();
}

/// A store that breaks a rule.
#[derive(Debug)]
struct Breaks {
    store: MemoryConversationStore,
    rule: &'static str,
}

#[async_trait]
impl ConversationStore for Breaks {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        if self.rule == "the first record stays" {
            self.store.delete(key).await?;
        }
        let record = match self.rule {
            "any bytes are a record" => String::from_utf8_lossy(&record).into_owned().into(),
            _ => record,
        };
        let keep = match self.rule {
            "times have no limit" if keep == Duration::MAX => return Err(RecordError::Full),
            "records expire" => HOUR,
            _ => keep,
        };
        self.store.put(key, record, keep).await
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        match self.rule {
            "records come in order" => {
                let mut keys = keys.to_vec();
                keys.sort();
                self.store.get(&keys, keep).await
            }
            "records that are read are kept" => self.store.get(keys, Duration::ZERO).await,
            _ => self.store.get(keys, keep).await,
        }
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        let deleted = self.store.delete(key).await?;
        Ok(deleted || self.rule == "a record is deleted")
    }
}

#[test]
fn the_rules_find_a_store_that_breaks_one() {
    let rules = [
        "any bytes are a record",
        "records come in order",
        "the first record stays",
        "a record is deleted",
        "records expire",
        "records that are read are kept",
        "times have no limit",
    ];
    for rule in rules {
        let clock = Clock::new();
        let sleep = |time| {
            let clock = clock.clone();
            async move { clock.advance(time) }
        };
        let store = MemoryConversationStore::new().env(Env::new(clock.clone()));
        let store = Breaks { store, rule };
        let checked = block_on(check_conversation_store([&store, &store], sleep));
        let error = checked.unwrap_err().to_string();
        assert!(error.starts_with(&format!("{rule}: ")), "{error}");
    }
    let unlimited = block_on(check_user_limit(&MemoryConversationStore::new(), 1 << 20));
    let error = unlimited.unwrap_err().to_string();
    assert!(error.contains("a user has 60 records"), "{error}");
}

#[test]
fn keys_differ_by_user_path_and_id() {
    let keys = [
        RecordKey::new("a", "b", "c"),
        RecordKey::new("ab", "", "c"),
        RecordKey::new("a", "bc", ""),
        RecordKey::new("", "ab", "c"),
    ];
    for (at, one) in keys.iter().enumerate() {
        for other in &keys[at + 1..] {
            assert_ne!(one.record(), other.record());
        }
    }
    assert_eq!(keys[0].user(), keys[2].user());
    assert_ne!(keys[0].user(), keys[1].user());
    assert_eq!(keys[0].to_string().len(), 32 + 1 + 64);
}

#[test]
fn a_record_never_changes() {
    let store = MemoryConversationStore::new();
    let key = key("a", "1");
    assert!(put(&store, &key, 10).unwrap());
    let size = store.size();
    assert!(!put(&store, &key, 20).unwrap());
    assert_eq!(store.size(), size);
    assert!(block_on(store.delete(&key)).unwrap());
    assert!(put(&store, &key, 20).unwrap());
}

#[test]
fn records_expire_unless_they_are_read() {
    let clock = Clock::new();
    let store = MemoryConversationStore::new().env(Env::new(clock.clone()));
    let (read, other) = (key("a", "1"), key("a", "2"));
    put(&store, &read, 10).unwrap();
    put(&store, &other, 10).unwrap();
    clock.advance(HOUR / 2);
    assert!(has(&store, &read));
    clock.advance(HOUR / 2);
    assert!(has(&store, &read));
    assert!(!has(&store, &other));
    clock.advance(HOUR);
    assert!(store.is_empty());
    assert_eq!(store.size(), 0);
}

#[test]
fn a_user_who_stores_much_loses_own_records_only() {
    let store = MemoryConversationStore::new()
        .user_limit(10_000)
        .limit(1 << 20);
    let others = key("ann", "1");
    put(&store, &others, 100).unwrap();
    for id in 0..100 {
        put(&store, &key("bob", &id.to_string()), 1_000).unwrap();
    }
    assert!(store.size() < 11_000, "{}", store.size());
    assert!(has(&store, &others));
    assert!(!has(&store, &key("bob", "0")));
    assert!(has(&store, &key("bob", "99")));
    // What can never fit takes nobody's place.
    let count = store.len();
    assert!(matches!(
        put(&store, &key("bob", "x"), 10_000),
        Err(RecordError::Full)
    ));
    assert_eq!(store.len(), count);
}

#[test]
fn all_users_together_stay_below_the_limit() {
    let store = MemoryConversationStore::new()
        .user_limit(10_000)
        .limit(20_000);
    for user in 0..100 {
        put(&store, &key(&user.to_string(), "1"), 1_000).unwrap();
        assert!(store.size() <= 20_000);
    }
    assert!(has(&store, &key("99", "1")));
    assert!(block_on(store.delete(&key("99", "1"))).unwrap());
    assert!(!block_on(store.delete(&key("99", "1"))).unwrap());
}

#[test]
fn a_conversation_goes_on_while_it_is_continued_and_expires_afterwards() {
    let clock = Clock::new();
    let store = MemoryConversationStore::new().env(Env::new(clock.clone()));
    let router = with(Conversations::single_user(store).keep(HOUR));
    let mut last = answered(&router, PATH, &json!({"input": "0"}));
    for _ in 0..5 {
        clock.advance(HOUR * 2 / 3);
        let request = json!({"input": "on", "previous_response_id": last["id"]});
        last = answered(&router, PATH, &request);
    }
    clock.advance(HOUR);
    let request = json!({"input": "on", "previous_response_id": last["id"]});
    let (status, error) = post(&router, PATH, &request);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "previous_response_not_found");
}

#[test]
fn records_may_be_kept_for_ever() {
    let store = MemoryConversationStore::new();
    let router = with(Conversations::single_user(store).keep(Duration::MAX));
    let first = answered(&router, PATH, &json!({"input": "hi"}));
    let request = json!({"input": "on", "previous_response_id": first["id"]});
    answered(&router, PATH, &request);
}

/// A store that takes its time, and fails as it is told.
#[derive(Debug, Default)]
struct Fails {
    puts: Mutex<Option<RecordError>>,
    gets: Mutex<bool>,
    records: Mutex<BTreeMap<RecordKey, Bytes>>,
}

#[async_trait]
impl ConversationStore for Fails {
    async fn put(&self, key: &RecordKey, record: Bytes, _: Duration) -> Result<bool, RecordError> {
        // Somebody else gets to run before it is done.
        let mut first = true;
        std::future::poll_fn(|cx| match std::mem::replace(&mut first, false) {
            true => {
                cx.waker().wake_by_ref();
                std::task::Poll::Pending
            }
            false => std::task::Poll::Ready(()),
        })
        .await;
        if let Some(error) = self.puts.lock().unwrap().take() {
            return Err(error);
        }
        let mut records = self.records.lock().unwrap();
        let is_new = !records.contains_key(key);
        records.entry(*key).or_insert(record);
        Ok(is_new)
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        _: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        if *self.gets.lock().unwrap() {
            return Err(RecordError::Unavailable("gone".into()));
        }
        let records = self.records.lock().unwrap();
        Ok(keys.iter().map(|key| records.get(key).cloned()).collect())
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        Ok(self.records.lock().unwrap().remove(key).is_some())
    }
}

#[test]
fn the_end_of_an_answer_is_sent_when_it_is_stored() {
    let store = Arc::new(Fails::default());
    let router = with(Conversations::single_user(Arc::clone(&store)));
    let request = http::Request::builder().method(Method::POST).uri(PATH);
    let body = r#"{"input":"hi","stream":true}"#;
    let mut body = exchange::send(&router, request, body).into_body();
    let mut stream = Vec::new();
    while !stream.ends_with(b"[DONE]\n\n") {
        // Nothing that the client has read so far says that the turn is over.
        assert!(!String::from_utf8_lossy(&stream).contains("response.completed"));
        let Some(Ok(frame)) = block_on(futures::StreamExt::next(&mut body)) else {
            panic!("the stream ended early");
        };
        stream.extend_from_slice(&frame);
    }
    assert_eq!(store.records.lock().unwrap().len(), 1);
}

#[test]
fn a_store_that_fails_fails_no_turn() {
    let store = Arc::new(Fails::default());
    let unstored = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&unstored);
    let router = with(Conversations::single_user(Arc::clone(&store)))
        .observe(move |turn| log.lock().unwrap().push(turn.unstored));
    for error in [RecordError::Full, RecordError::Unavailable("gone".into())] {
        *store.puts.lock().unwrap() = Some(error);
        let answer = answered(&router, PATH, &json!({"input": "hi"}));
        assert_eq!(answer["status"], "completed");
        let request = json!({"input": "on", "previous_response_id": answer["id"]});
        assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
    }
    let stored = answered(&router, PATH, &json!({"input": "hi"}));
    *store.gets.lock().unwrap() = true;
    let request = json!({"input": "on", "previous_response_id": stored["id"]});
    let (status, error) = post(&router, PATH, &request);
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(error["error"]["type"], "server_error");
    assert!(!error.to_string().contains("gone"));
    let unstored = unstored.lock().unwrap().clone();
    let turns: Vec<_> = [true, false, true, false, false, false].into();
    assert_eq!(unstored, turns);
}

#[test]
fn a_store_that_answers_garbage_is_as_one_without_the_turn() {
    let store = Arc::new(Fails::default());
    let router = with(Conversations::single_user(Arc::clone(&store)));
    let first = answered(&router, PATH, &json!({"input": "hi"}));
    for garbage in [
        "",
        "{",
        "7",
        r#"{"parents":[7],"data":{}}"#,
        r#"{"parents":["x"]}"#,
    ] {
        for record in store.records.lock().unwrap().values_mut() {
            *record = Bytes::from_static(garbage.as_bytes());
        }
        let request = json!({"input": "on", "previous_response_id": first["id"]});
        assert_eq!(
            post(&router, PATH, &request).0,
            StatusCode::BAD_REQUEST,
            "{garbage}"
        );
    }
    // A turn that names itself as the one before it.
    let circle = format!(
        r#"{{"parents":["{}"],"data":{{}}}}"#,
        first["id"].as_str().unwrap()
    );
    for record in store.records.lock().unwrap().values_mut() {
        *record = circle.clone().into();
    }
    let request = json!({"input": "on", "previous_response_id": first["id"]});
    assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
}
