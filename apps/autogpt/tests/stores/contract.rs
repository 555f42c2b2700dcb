//! The contract of every store.

use std::sync::Arc;
use std::time::Duration;

use autogpt::memory::store::{
    Claim, Conversation, DiskStore, MemoryStore, RunStore, Saved, StoreError,
};
use futures::FutureExt;
use futures::future::join_all;

/// Claims a conversation, for which it may have to wait until an earlier claim is released.
pub(crate) async fn claim(store: &dyn RunStore, conversation: &Conversation) -> Claim {
    for _ in 0..1000 {
        if let Some(claim) = store.claim(conversation).await.unwrap() {
            return claim;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the conversation is never released")
}

/// Checks a store; each call of `open` opens the same state, as other servers do.
pub(crate) async fn check(open: impl Fn() -> Arc<dyn RunStore>) {
    claims_exclude_each_other(&*open()).await;
    records_change_at_the_expected_revision(&*open(), &*open()).await;
    an_execution_starts_once(&open).await;
    servers_save_each_revision_once(&open).await;
}

async fn claims_exclude_each_other(store: &dyn RunStore) {
    let [a, b] = ["claim a", "claim b"].map(Conversation::anonymous);
    let first = claim(store, &a).await;
    assert_eq!(first.conversation(), &a);
    assert!(first.is_current());
    assert!(store.claim(&a).await.unwrap().is_none());
    let _other = claim(store, &b).await;
    store.renew(&first).await.unwrap();
    let token = first.token();
    drop(first);
    let second = claim(store, &a).await;
    assert!(second.token() > token || second.lease().is_none());
    // A future that is dropped, at whatever point, claims nothing.
    drop(second);
    for polls in 0..4 {
        let mut dropped = store.claim(&a);
        for _ in 0..polls {
            if dropped.as_mut().now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(dropped);
        drop(claim(store, &a).await);
    }
}

async fn records_change_at_the_expected_revision(store: &dyn RunStore, other: &dyn RunStore) {
    let conversation = Conversation::anonymous("revisions");
    assert_eq!(store.load(&conversation).await.unwrap(), None);
    let claim = claim(store, &conversation).await;
    let wrong = store.save(&claim, 1, "wrong").await;
    assert!(matches!(wrong, Err(StoreError::Conflict)), "{wrong:?}");
    assert_eq!(other.load(&conversation).await.unwrap(), None);
    let long = "\u{0}\"\n\u{1f300}".repeat(100_000);
    for (revision, record) in [(1, ""), (2, &*long)] {
        let saved = store.save(&claim, revision - 1, record).await;
        assert_eq!(saved.unwrap(), revision);
        let again = store.save(&claim, revision - 1, "again").await;
        assert!(matches!(again, Err(StoreError::Conflict)), "{again:?}");
        let loaded = other.load(&conversation).await.unwrap();
        assert_eq!(loaded, Some(Saved::new(revision, record.to_owned())));
    }
}

async fn an_execution_starts_once(open: impl Fn() -> Arc<dyn RunStore>) {
    let conversation = Conversation::anonymous("executions");
    let store = open();
    let owner = claim(&*store, &conversation).await;
    let started = (0..50).map(|_| store.start(&owner, "one"));
    let started = join_all(started).await.into_iter();
    assert_eq!(started.filter(|it| *it.as_ref().unwrap()).count(), 1);
    assert!(store.start(&owner, "two").await.unwrap());
    drop(owner);
    let other = open();
    let owner = claim(&*other, &conversation).await;
    assert!(!other.start(&owner, "one").await.unwrap());
    assert!(other.start(&owner, "").await.unwrap());
}

/// Checks that no revision is saved twice, also if its file name becomes free again while a slow
/// server writes.
async fn servers_save_each_revision_once(open: impl Fn() -> Arc<dyn RunStore>) {
    // Each on a thread of its own: the disk store never waits.
    let servers = (0..4).map(|_| open()).map(|store| {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(save_200_revisions(&*store)))
    });
    let saved = join_all(servers.collect::<Vec<_>>()).await.into_iter();
    let mut saved: Vec<u64> = saved.flat_map(Result::unwrap).collect();
    saved.sort_unstable();
    let all = saved.len();
    saved.dedup();
    assert_eq!(saved.len(), all);
}

async fn save_200_revisions(store: &dyn RunStore) -> Vec<u64> {
    let conversation = Conversation::anonymous("servers");
    let mut saved = Vec::new();
    loop {
        let last = store.load(&conversation).await.unwrap();
        let last = last.map_or(0, |last| last.revision);
        if last >= 200 {
            return saved;
        }
        let Some(claim) = store.claim(&conversation).await.unwrap() else {
            tokio::task::yield_now().await;
            continue;
        };
        match store.save(&claim, last, "record").await {
            Ok(revision) => saved.push(revision),
            Err(StoreError::Conflict) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn a_store_in_memory_fulfils_the_contract() {
    let store = Arc::new(MemoryStore::default());
    check(|| Arc::<MemoryStore>::clone(&store)).await;
}

#[tokio::test]
async fn a_folder_fulfils_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    check(|| Arc::new(DiskStore::new(folder.path()).unwrap())).await;
}
