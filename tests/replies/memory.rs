//! The store in memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::replies::{
    ConversationKey, LogPage, MemoryReplyStore, ReplyEnd, ReplyId, ReplyMeta, ReplyState,
    ReplyStore, StoreError,
};
use copilot_wire_kit::{check_dead_server, check_reply_store};

use crate::server::{env, in_virtual_time};

fn store() -> MemoryReplyStore {
    MemoryReplyStore::new().env(env())
}

fn meta() -> ReplyMeta {
    ReplyMeta::new(Duration::from_secs(60), Duration::from_secs(10))
}

#[test]
fn keeps_the_rules() {
    in_virtual_time(async {
        let store = store();
        check_reply_store([&store, &store], tokio::time::sleep)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert!(store.is_empty());
    });
}

#[test]
fn an_end_is_read_from_its_name() {
    let ends = [
        ReplyEnd::Done,
        ReplyEnd::Failed,
        ReplyEnd::Cancelled,
        ReplyEnd::Lost,
    ];
    for end in ends {
        assert_eq!(end.to_string().parse::<ReplyEnd>().unwrap(), end);
    }
    assert!("Done".parse::<ReplyEnd>().is_err());
}

#[test]
fn is_bounded() {
    in_virtual_time(async {
        let store = store().limit(4000);
        let id = ReplyId::from_bytes([1; 32]);
        store.create(&id, &meta()).await.unwrap();
        let events = Bytes::from(format!("data: {}\n\n", "x".repeat(3000)));
        store.append(&id, 0..1, events.clone()).await.unwrap();
        let full = store.append(&id, 1..2, events.clone()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        let other = ReplyId::from_bytes([2; 32]);
        let full = store.create(&other, &meta()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        // What has expired makes space.
        store.seal(&id, ReplyEnd::Done).await.unwrap();
        tokio::time::sleep(Duration::from_secs(11)).await;
        store.create(&other, &meta()).await.unwrap();
        store.append(&other, 0..1, events).await.unwrap();
        assert_eq!(store.len(), 1);
    });
}

#[test]
fn a_log_may_fill_the_store() {
    in_virtual_time(async {
        let small = store().limit(512);
        let first = ReplyId::from_bytes([1; 32]);
        small.create(&first, &meta()).await.unwrap();
        // A log without events counts as 512 bytes.
        let store = store().limit(1024);
        let id = |number| ReplyId::from_bytes([number; 32]);
        store.create(&id(1), &meta()).await.unwrap();
        assert!(!store.is_empty());
        store
            .append(&id(1), 0..1, vec![b'\n'; 512].into())
            .await
            .unwrap();
        store.seal(&id(1), ReplyEnd::Done).await.unwrap();
        // The ended one makes space for one of the same size.
        store.create(&id(2), &meta()).await.unwrap();
        store
            .append(&id(2), 0..1, vec![b'\n'; 512].into())
            .await
            .unwrap();
        assert_eq!(store.len(), 1);
    });
}

#[test]
fn nothing_is_deleted_for_what_can_never_fit() {
    in_virtual_time(async {
        let store = store().limit(2000);
        let id = |number| ReplyId::from_bytes([number; 32]);
        store.create(&id(1), &meta()).await.unwrap();
        store.append(&id(1), 0..1, "data\n\n".into()).await.unwrap();
        store.seal(&id(1), ReplyEnd::Done).await.unwrap();
        store.create(&id(2), &meta()).await.unwrap();
        let full = store.append(&id(2), 0..1, vec![b'\n'; 2001].into()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        assert!(store.state(&id(1)).await.is_ok());
    });
}

#[test]
fn times_are_over_when_they_are_reached() {
    in_virtual_time(async {
        let store = store();
        let id = ReplyId::from_bytes([1; 32]);
        let lifetime = Duration::from_secs(100);
        let meta = ReplyMeta::new(lifetime, Duration::from_secs(10));
        store.create(&id, &meta).await.unwrap();
        store.note_reader(&id).await.unwrap();
        for (second, attended) in [(59, true), (1, false)] {
            tokio::time::sleep(Duration::from_secs(second)).await;
            assert_eq!(store.state(&id).await.unwrap().attended, attended);
        }
        store.seal(&id, ReplyEnd::Done).await.unwrap();
        for (second, logs) in [(9, 1), (1, 0)] {
            tokio::time::sleep(Duration::from_secs(second)).await;
            assert_eq!(store.len(), logs);
        }
    });
}

/// The oldest one first, and none that goes on.
#[test]
fn replies_that_have_ended_make_space() {
    in_virtual_time(async {
        let store = store().limit(10_000);
        let id = |number| ReplyId::from_bytes([number; 32]);
        let events = Bytes::from(format!("data: {}\n\n", "x".repeat(1000)));
        let add = async |number| {
            store.create(&id(number), &meta()).await?;
            store.append(&id(number), 0..1, events.clone()).await
        };
        let conversation = ConversationKey::from_bytes([1; 32]);
        let first = meta().conversation(conversation);
        store.create(&id(1), &first).await.unwrap();
        store.append(&id(1), 0..1, events.clone()).await.unwrap();
        for number in 2..=6 {
            add(number).await.unwrap();
        }
        // A mark without events stays.
        store.create(&id(7), &meta()).await.unwrap();
        for ended in [7, 3, 1, 5] {
            store.seal(&id(ended), ReplyEnd::Done).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let mut gone = Vec::new();
        for number in 8.. {
            if add(number).await.is_err() {
                break;
            }
            for number in 1..=7 {
                let state = store.state(&id(number)).await;
                if state.is_err() && !gone.contains(&number) {
                    gone.push(number);
                }
            }
        }
        assert_eq!(gone, [3, 1, 5]);
        assert_eq!(store.latest(&conversation).await.unwrap(), None);
        let full = store.create(&id(200), &meta()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
    });
}

/// A store of two servers, one of which can die.
#[derive(Debug)]
struct Mortal {
    store: Arc<MemoryReplyStore>,
    dead: Arc<AtomicBool>,
    notices: bool,
}

#[async_trait]
impl ReplyStore for Mortal {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        self.store.create(id, meta).await
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        self.store.append(id, numbers, events).await
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        self.store.seal(id, end).await
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        let page = self.store.read(id, from).await?;
        let waits = page.events.is_empty() && page.end.is_none();
        if waits && self.notices && self.dead.load(Ordering::Relaxed) {
            self.store.seal(id, ReplyEnd::Lost).await?;
            return self.store.read(id, from).await;
        }
        Ok(page)
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        self.store.state(id).await
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.store.note_reader(id).await
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        self.store.latest(conversation).await
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.store.cancel(id).await
    }

    async fn cancelled(&self, id: &ReplyId) {
        self.store.cancelled(id).await;
    }
}

#[test]
fn the_rule_of_dead_servers_finds_a_store_that_does_not_notice() {
    for notices in [true, false] {
        in_virtual_time(async {
            let (store, dead) = (Arc::new(store()), Arc::<AtomicBool>::default());
            let other = Mortal {
                store: Arc::clone(&store),
                dead: Arc::clone(&dead),
                notices,
            };
            let kill = async || dead.store(true, Ordering::Relaxed);
            let checked = check_dead_server(&*store, &other, kill, tokio::time::sleep).await;
            let told = checked.err().map(|error| error.to_string());
            let wanted = "the log of a dead server ends: no answer within 30 seconds";
            assert_eq!(told.as_deref(), (!notices).then_some(wanted));
        });
    }
}
