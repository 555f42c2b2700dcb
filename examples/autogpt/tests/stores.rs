//! The stores of runs: odd files, several processes at once, and how much they keep.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may be blunt")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use autogpt::store::{Conversation, DiskStore, MemoryStore, RunStore, Saved, StoreError};

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

#[tokio::test]
async fn the_oldest_run_goes_for_a_new_one() {
    let hour = Duration::from_secs(60 * 60);
    let [a, b, c] = ["a", "b", "c"].map(Conversation::anonymous);
    let store = MemoryStore::new(hour).with_capacity(2, Duration::ZERO);
    for conversation in [&a, &b] {
        assert_eq!(store.save(conversation, 0, "1").await.unwrap(), 1);
    }
    assert_eq!(store.save(&a, 1, "2").await.unwrap(), 2);
    // What is refused takes no room.
    let refused = store.save(&c, 7, "8").await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert!(store.load(&b).await.unwrap().is_some());
    assert_eq!(store.save(&c, 0, "1").await.unwrap(), 1);
    assert_eq!(store.load(&b).await.unwrap(), None);
    assert!(store.load(&a).await.unwrap().is_some());
    assert!(store.load(&c).await.unwrap().is_some());
}

#[tokio::test]
async fn a_run_at_work_is_not_dropped() {
    let hour = Duration::from_secs(60 * 60);
    let [a, b] = ["a", "b"].map(Conversation::anonymous);
    let store = MemoryStore::new(hour).with_capacity(1, hour);
    assert_eq!(store.save(&a, 0, "1").await.unwrap(), 1);
    let refused = store.save(&b, 0, "1").await;
    assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
    assert_eq!(store.save(&a, 1, "2").await.unwrap(), 2);
    assert!(store.start(&a, "id").await.unwrap());
    assert!(store.load(&a).await.unwrap().is_some());
}

/// A writer that is slower than two others finds the name of its revision free again.
#[test]
fn every_revision_is_saved_by_one_of_several_processes() {
    let (store, conversation, _, _folder) = disk();
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let mut saved = Vec::new();
            while saved.last().is_none_or(|revision| *revision < 300) {
                let newest = store.load(&conversation).await.unwrap();
                let newest = newest.map_or(0, |newest| newest.revision);
                match store.save(&conversation, newest, "record").await {
                    Ok(revision) => saved.push(revision),
                    Err(StoreError::Conflict) if newest >= 300 => break,
                    Err(StoreError::Conflict) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            saved
        })
    };
    let mut saved: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        let workers = workers.into_iter();
        workers.flat_map(|it| it.join().unwrap()).collect()
    });
    saved.sort_unstable();
    let all = saved.len();
    saved.dedup();
    assert_eq!(saved.len(), all);
}
