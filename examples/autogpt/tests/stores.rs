//! The stores of runs: odd files, several processes at once, and how much they keep.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may be blunt")]

use std::fs;
use std::path::PathBuf;

use autogpt::store::{Conversation, DiskStore, RunStore, Saved, StoreError};

/// A store, and where it keeps the records of the conversation.
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
    assert_eq!(store.save(&conversation, 0, "a").await.unwrap(), 1);
    let saved = store.load(&conversation).await.unwrap();
    assert_eq!(saved, Some(Saved::new(1, "a".to_owned())));
}

#[tokio::test]
async fn revisions_end_without_an_overflow() {
    let (store, conversation, records, _folder) = disk();
    fs::write(records.join(format!("{}.json", u64::MAX)), "last").unwrap();
    let saved = store.load(&conversation).await.unwrap();
    assert_eq!(saved, Some(Saved::new(u64::MAX, "last".to_owned())));
    let next = store.save(&conversation, u64::MAX, "more").await;
    assert!(matches!(next, Err(StoreError::Io(_))), "{next:?}");
}
