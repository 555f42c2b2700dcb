//! Many readers of one log in one process.

use std::sync::Arc;
use std::time::Duration;

use copilot_wire::replies::{ReplyEnd, ReplyStore, StoreError};
use futures_util::future::join_all;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{events, follow, log, since, soon};

/// Returns how often Redis was asked for a part of a log.
fn looks(redis: &Redis) -> u64 {
    let info: String = ::redis::from_redis_value(redis.command("INFO commandstats")).unwrap();
    let line = info
        .lines()
        .find(|line| line.starts_with("cmdstat_xrange:"));
    let calls = line.and_then(|line| line.split("calls=").nth(1));
    let calls = calls.and_then(|calls| calls.split(',').next());
    calls.map_or(0, |calls| calls.parse().unwrap())
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn they_share_what_messages_bring() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, Arc::new(redis.store().await));
    let id = log(&writer, 1).await;
    let readers = (0..100).map(|_| {
        let reader = Arc::clone(&reader);
        tokio::spawn(async move { follow(&*reader, &id).await })
    });
    let readers: Vec<_> = readers.collect();
    sleep(Duration::from_millis(300)).await;
    let before = looks(&redis);
    for number in 1..20 {
        writer
            .append(&id, number..number + 1, events(number, 1))
            .await
            .unwrap();
        sleep(Duration::from_millis(20)).await;
    }
    writer.seal(&id, ReplyEnd::Done).await.unwrap();
    for reader in soon(join_all(readers)).await {
        let whole = (events(0, 20).to_vec(), ReplyEnd::Done);
        assert_eq!(reader.unwrap().unwrap(), whole);
    }
    // The messages have the events. By looks, each for itself, it would take two thousand.
    let looks = looks(&redis) - before;
    assert!(looks < 20, "{looks}");
}

/// Readers at any place, of a log that grows by small and large entries, get all of it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn they_may_be_anywhere() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, Arc::new(redis.store().await));
    let id = log(&writer, 40).await;
    let readers = (0..200_u64).map(|number| {
        let reader = Arc::clone(&reader);
        tokio::spawn(async move {
            sleep(Duration::from_millis(number * 5)).await;
            let (mut all, first) = (Vec::new(), number % 50);
            let mut next = first;
            loop {
                let page = reader.read(&id, next).await.unwrap();
                all.extend_from_slice(&since(&page, next));
                next = page.next;
                if number % 7 == 0 {
                    sleep(Duration::from_millis(40)).await;
                }
                if page.end.is_some() {
                    return (first, all);
                }
            }
        })
    });
    let readers: Vec<_> = readers.collect();
    let mut next = 40;
    for count in [1, 3, 400].into_iter().cycle().take(90) {
        writer
            .append(&id, next..next + count, events(next, count))
            .await
            .unwrap();
        next += count;
        sleep(Duration::from_millis(10)).await;
    }
    writer.seal(&id, ReplyEnd::Done).await.unwrap();
    for reader in soon(join_all(readers)).await {
        let (first, all) = reader.unwrap();
        assert!(all == events(first, next - first), "from {first}");
    }
}

/// Each of them learns that Redis is away, not one after the other.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn they_fail_together() {
    let redis = Redis::start("");
    let store = Arc::new(redis.store().await);
    let id = log(&*store, 1).await;
    // All of them have subscribed.
    let read = |_| {
        let store = Arc::clone(&store);
        async move { store.read(&id, 1).await }
    };
    soon(join_all((0..50).map(read))).await;
    redis.signal("STOP");
    let answers = tokio::time::timeout(Duration::from_secs(20), join_all((0..50).map(read)));
    let answers = answers.await;
    redis.signal("CONT");
    for answer in answers.unwrap() {
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
    }
}
