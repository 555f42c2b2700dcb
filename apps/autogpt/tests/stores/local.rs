//! Runs in folders and in memory: odd files, several processes at once, and limits.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::contract::claim;
use autogpt::memory::store::{Conversation, DiskStore, MemoryStore, RunStore, Saved, StoreError};

/// Creates a store, and the folder with the records of its conversation.
fn disk() -> (DiskStore, Conversation, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = DiskStore::new(folder.path()).unwrap();
    let conversation = Conversation::anonymous("c");
    let records = folder.path().join(conversation.as_str());
    fs::create_dir(&records).unwrap();
    (store, conversation, records, folder)
}

#[tokio::test]
async fn names_that_the_store_never_gives_are_not_its_records() {
    let (store, conversation, records, _folder) = disk();
    for name in ["007.json", "+8.json", "1e3.json", "0.json", ".json", "9"] {
        fs::write(records.join(name), "odd").unwrap();
    }
    fs::create_dir(records.join("12.json")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("missing", records.join("11.json")).unwrap();
    assert_eq!(store.load(&conversation).await.unwrap(), None);
    let claim = claim(&store, &conversation).await;
    assert_eq!(store.save(&claim, 0, "a").await.unwrap(), 1);
    let saved = store.load(&conversation).await.unwrap();
    assert_eq!(saved, Some(Saved::new(1, "a".to_owned())));
}

#[tokio::test]
async fn revisions_end_without_an_overflow() {
    let (store, conversation, records, _folder) = disk();
    fs::write(records.join(format!("{}.json", u64::MAX)), "last").unwrap();
    let saved = store.load(&conversation).await.unwrap();
    assert_eq!(saved, Some(Saved::new(u64::MAX, "last".to_owned())));
    let claim = claim(&store, &conversation).await;
    let next = store.save(&claim, u64::MAX, "more").await;
    assert!(matches!(next, Err(StoreError::Io(_))), "{next:?}");
}

#[tokio::test]
async fn the_oldest_run_goes_for_a_new_one() {
    let hour = Duration::from_secs(60 * 60);
    let [a, b, c] = ["a", "b", "c"].map(Conversation::anonymous);
    let store = MemoryStore::new(hour).with_capacity(2, Duration::ZERO);
    let first = claim(&store, &a).await;
    let second = claim(&store, &b).await;
    let third = claim(&store, &c).await;
    assert_eq!(store.save(&first, 0, "1").await.unwrap(), 1);
    assert_eq!(store.save(&second, 0, "1").await.unwrap(), 1);
    assert_eq!(store.save(&first, 1, "2").await.unwrap(), 2);
    // What is refused takes no room.
    let refused = store.save(&third, 7, "8").await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert!(store.load(&b).await.unwrap().is_some());
    assert_eq!(store.save(&third, 0, "1").await.unwrap(), 1);
    assert_eq!(store.load(&b).await.unwrap(), None);
    assert!(store.load(&a).await.unwrap().is_some());
    assert!(store.load(&c).await.unwrap().is_some());
}

#[tokio::test]
async fn a_run_at_work_is_not_dropped() {
    let hour = Duration::from_secs(60 * 60);
    let [a, b] = ["a", "b"].map(Conversation::anonymous);
    let store = MemoryStore::new(hour).with_capacity(1, hour);
    let first = claim(&store, &a).await;
    assert_eq!(store.save(&first, 0, "1").await.unwrap(), 1);
    let second = claim(&store, &b).await;
    let refused = store.save(&second, 0, "1").await;
    assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
    assert_eq!(store.save(&first, 1, "2").await.unwrap(), 2);
    assert!(store.start(&first, "id").await.unwrap());
    assert!(store.load(&a).await.unwrap().is_some());
}
