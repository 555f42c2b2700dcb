//! The stores in a file of SQLite: the rules of all stores, limits, and files that cannot be used.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, missing_docs)]
#![cfg(feature = "sqlite")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum_server::SqliteStore;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};
use copilot_wire::replies::{
    ConversationKey, ReplyEnd, ReplyId, ReplyMeta, ReplyStore, StoreError,
};
use copilot_wire_kit::{check_conversation_store, check_reply_store, check_user_limit};
use tokio::time::sleep;

#[path = "../../../crates/acp/tests/acp/restart.rs"]
mod restart;

/// A folder of a test's own.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("copilot-wire-sqlite-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("store.db")
    }

    fn open(&self) -> SqliteStore {
        self.open_with(64 << 20)
    }

    /// Opens the file with a limit of its size.
    fn open_with(&self, limit: usize) -> SqliteStore {
        SqliteStore::open(self.file(), limit, 8 << 20).unwrap()
    }

    /// Returns the number of rows of a table, of a file that no store has open.
    fn count(&self, table: &str) -> i64 {
        let db = rusqlite::Connection::open(self.file()).unwrap();
        let sql = format!("SELECT count(*) FROM {table}");
        db.query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn sessions_of_editors_survive_a_restart() {
    let folder = Folder::new();
    restart::sessions_survive(async || folder.open()).await;
}

#[tokio::test]
async fn it_keeps_the_rules_of_replies() {
    let folder = Folder::new();
    let store = folder.open();
    check_reply_store([&store, &store.clone()], sleep)
        .await
        .unwrap();
}

#[tokio::test]
async fn it_keeps_the_rules_of_conversations() {
    let folder = Folder::new();
    let store = folder.open();
    check_conversation_store([&store, &store.clone()], sleep)
        .await
        .unwrap();
    check_user_limit(&store, 8 << 20).await.unwrap();
}

const MINUTE: Duration = Duration::from_secs(60);
const MOMENT: Duration = Duration::from_millis(200);

fn id(number: u8) -> ReplyId {
    ReplyId::from_bytes([number; 32])
}

fn key(number: usize) -> RecordKey {
    RecordKey::new(&number.to_string(), "/", "turn")
}

async fn create(store: &SqliteStore, number: u8, keep: Duration) {
    let meta = ReplyMeta::new(MINUTE, keep);
    store.create(&id(number), &meta).await.unwrap();
    let events = "data: one\n\n".into();
    store.append(&id(number), 0..1, events).await.unwrap();
}

#[tokio::test]
async fn a_reply_that_ran_is_lost_after_a_restart_and_all_else_is_there() {
    let folder = Folder::new();
    let chat = ConversationKey::from_bytes([9; 32]);
    let store = folder.open();
    create(&store, 1, MINUTE).await;
    store.seal(&id(1), ReplyEnd::Cancelled).await.unwrap();
    let meta = ReplyMeta::new(MINUTE, Duration::from_secs(2)).conversation(chat);
    store.create(&id(2), &meta).await.unwrap();
    let events = "data: one\n\n".into();
    store.append(&id(2), 0..1, events).await.unwrap();
    store.put(&key(1), "turn".into(), MINUTE).await.unwrap();
    drop(store);
    for _ in 0..2 {
        let store = folder.open();
        for (number, end) in [(1, ReplyEnd::Cancelled), (2, ReplyEnd::Lost)] {
            let page = store.read(&id(number), 0).await.unwrap();
            assert_eq!((page.events, page.end), ("data: one\n\n".into(), Some(end)));
            let late = store
                .append(&id(number), 1..2, "data: two\n\n".into())
                .await;
            assert!(
                matches!(late, Err(StoreError::Sealed(first)) if first == end),
                "{late:?}"
            );
            // Nobody waits for events of a process that has died.
            let page = store.read(&id(number), 7).await.unwrap();
            assert_eq!(page.end, Some(end));
        }
        assert_eq!(store.latest(&chat).await.unwrap(), Some(id(2)));
        let turns = store.get(&[key(1)], MINUTE).await.unwrap();
        assert_eq!(turns, [Some("turn".into())]);
    }
    // From the first start on, as long as after its end.
    sleep(Duration::from_secs(3)).await;
    let store = folder.open();
    let late = store.read(&id(2), 0).await;
    assert!(matches!(late, Err(StoreError::Gone)), "{late:?}");
    assert!(store.read(&id(1), 0).await.unwrap().end.is_some());
}

#[tokio::test]
async fn what_has_expired_is_deleted() {
    let folder = Folder::new();
    let store = folder.open();
    for number in 0..60 {
        create(&store, number, MOMENT).await;
        store.seal(&id(number), ReplyEnd::Done).await.unwrap();
        let turn = key(number.into());
        store.put(&turn, "turn".into(), MOMENT).await.unwrap();
    }
    sleep(2 * MOMENT).await;
    create(&store, 60, MINUTE).await;
    for number in 61..70 {
        store
            .put(&key(number), "turn".into(), MINUTE)
            .await
            .unwrap();
        create(&store, number as u8, MINUTE).await;
    }
    drop(store);
    for (table, count) in [("reply", 10), ("piece", 10), ("record", 9)] {
        assert_eq!(folder.count(table), count, "{table}");
    }
}

/// Where nine tenths of the file are full, what expires first makes space; marks without events stay.
#[tokio::test]
async fn what_has_ended_makes_space() {
    let folder = Folder::new();
    let limit = 2 << 20;
    let store = folder.open_with(limit);
    let mark = ReplyId::from_bytes([255; 32]);
    store
        .create(&mark, &ReplyMeta::new(MINUTE, MINUTE))
        .await
        .unwrap();
    store.seal(&mark, ReplyEnd::Done).await.unwrap();
    for number in 0..100 {
        create(&store, number, MINUTE).await;
        let events: Vec<u8> = vec![b'x'; 60_000];
        store
            .append(&id(number), 1..2, events.into())
            .await
            .unwrap();
        store.seal(&id(number), ReplyEnd::Done).await.unwrap();
    }
    for number in 0..100 {
        let turn = vec![b'x'; 60_000];
        assert!(store.put(&key(number), turn.into(), MINUTE).await.unwrap());
    }
    let size = fs::metadata(folder.file()).unwrap().len();
    assert!(size <= limit as u64, "{size}");
    assert_eq!(store.state(&mark).await.unwrap().next, 0);
    let last = store.get(&[key(99), key(0)], MINUTE).await.unwrap();
    assert_eq!(
        last.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false]
    );
}

/// Replies that run are not deleted: the file is full then, and all that it has can be read and ended.
#[tokio::test]
async fn what_runs_fills_the_file() {
    let folder = Folder::new();
    let store = folder.open_with(1 << 20);
    create(&store, 1, MINUTE).await;
    let mut next = 1;
    let full = loop {
        let events = vec![b'x'; 60_000].into();
        match store.append(&id(1), next..next + 1, events).await {
            Ok(_) => next += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::Full), "{full}");
    let large = store.put(&key(1), vec![b'x'; 500_000].into(), MINUTE).await;
    assert!(matches!(large, Err(RecordError::Full)), "{large:?}");
    assert_eq!(store.state(&id(1)).await.unwrap().next, next);
    assert_eq!(
        store.read(&id(1), 0).await.unwrap().events.len() % 60_000,
        11
    );
    store.seal(&id(1), ReplyEnd::Failed).await.unwrap();
    // Its space is for the next one.
    create(&store, 2, MINUTE).await;
    let events = vec![b'x'; 500_000].into();
    store.append(&id(2), 1..2, events).await.unwrap();
    let gone = store.read(&id(1), 0).await;
    assert!(matches!(gone, Err(StoreError::Gone)), "{gone:?}");
}
