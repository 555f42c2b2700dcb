//! Runs and memories in a real Redis.

use std::sync::Arc;
use std::time::{Duration, Instant};

use autogpt::memory::redis_server::connect;
use autogpt::memory::store::{Conversation, RedisRunStore, RunStore, StoreError};
use autogpt::memory::{ByteCounts, Memories, MemoryError, RedisMemories};
use futures::future::join_all;
use redis::AsyncCommands;
use server_tests::Redis;

use crate::contract::{check, claim};

/// Long enough for a few commands on a busy machine.
const LEASE: Duration = Duration::from_millis(300);

fn store(redis: &Redis) -> RedisRunStore {
    RedisRunStore::new(connect(&redis.url()).unwrap())
}

async fn lease_ends() {
    tokio::time::sleep(LEASE + Duration::from_millis(50)).await;
}

#[tokio::test]
async fn redis_fulfils_the_contract() {
    for redis in [Redis::start(), Redis::start_cluster()] {
        let redis = redis.unwrap();
        check(|| Arc::new(store(&redis))).await;
    }
}

#[tokio::test]
async fn one_of_many_servers_claims() {
    let redis = Redis::start().unwrap();
    let conversation = Conversation::anonymous("c");
    let stores: Vec<_> = (0..20).map(|_| store(&redis)).collect();
    for _ in 0..10 {
        let claims = join_all(stores.iter().map(|store| store.claim(&conversation))).await;
        let claims: Vec<_> = claims.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(claims.len(), 1);
        drop(claims);
        drop(claim(&stores[0], &conversation).await);
    }
}

#[tokio::test]
async fn a_lost_lease_can_change_nothing() {
    let redis = Redis::start().unwrap();
    let conversation = Conversation::anonymous("c");
    let (one, two) = (
        store(&redis).with_lease(LEASE),
        store(&redis).with_lease(LEASE),
    );
    let old = claim(&one, &conversation).await;
    assert_eq!(one.save(&old, 0, "one").await.unwrap(), 1);
    assert!(two.claim(&conversation).await.unwrap().is_none());
    lease_ends().await;
    assert!(!old.is_current());
    let new = two.claim(&conversation).await.unwrap().unwrap();
    assert!(new.token() > old.token());
    for refused in [
        one.renew(&old).await,
        one.save(&old, 1, "late").await.map(drop),
        one.start(&old, "late").await.map(drop),
    ] {
        assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    }
    assert!(two.start(&new, "late").await.unwrap());
    assert_eq!(two.save(&new, 1, "two").await.unwrap(), 2);
    // And it does not release what is no longer its own.
    drop(old);
    tokio::time::sleep(Duration::from_millis(20)).await;
    two.renew(&new).await.unwrap();
    assert!(one.claim(&conversation).await.unwrap().is_none());
}

#[tokio::test]
async fn a_lease_that_nobody_took_goes_on() {
    let redis = Redis::start().unwrap();
    let conversation = Conversation::anonymous("c");
    let store = store(&redis).with_lease(LEASE);
    let claim = claim(&store, &conversation).await;
    lease_ends().await;
    assert!(!claim.is_current());
    store.renew(&claim).await.unwrap();
    assert!(claim.is_current());
    assert!(store.claim(&conversation).await.unwrap().is_none());
    assert!(store.start(&claim, "id").await.unwrap());
}

#[tokio::test]
async fn every_key_expires_and_a_lost_key_is_a_conflict() {
    let redis = Redis::start().unwrap();
    let conversation = Conversation::anonymous("c");
    let mut connection = connect(&redis.url()).unwrap();
    let store = store(&redis);
    let claim = claim(&store, &conversation).await;
    store.save(&claim, 0, "record").await.unwrap();
    store.start(&claim, "id").await.unwrap();
    let memories = RedisMemories::new(connection.clone(), Arc::new(ByteCounts));
    let memory = memories.of(conversation.as_str()).await.unwrap();
    memory.add("text").await.unwrap();
    let keys: Vec<String> = connection.keys("*").await.unwrap();
    assert_eq!(keys.len(), 3, "{keys:?}");
    for key in keys {
        assert!(
            key.starts_with(&format!("autogpt:{{{}}}:", conversation.as_str())),
            "{key}"
        );
        let left: i64 = connection.ttl(&key).await.unwrap();
        assert!(left > 0, "{key}");
    }
    redis::cmd("FLUSHALL")
        .query_async::<()>(&mut connection)
        .await
        .unwrap();
    let saved = store.save(&claim, 1, "record").await;
    assert!(matches!(saved, Err(StoreError::Conflict)), "{saved:?}");
}

#[tokio::test]
async fn servers_share_memories() {
    share_memories(&Redis::start().unwrap()).await;
    share_memories(&Redis::start_cluster().unwrap()).await;
}

async fn share_memories(redis: &Redis) {
    let mut connection = connect(&redis.url()).unwrap();
    let open = || RedisMemories::new(connection.clone(), Arc::new(ByteCounts));
    let (one, two) = (open().of("c").await.unwrap(), open().of("c").await.unwrap());
    let other = open().of("d").await.unwrap();
    for text in ["aaa", "bbb", "Command Error: no json"] {
        one.add(text).await.unwrap();
    }
    assert_eq!(two.relevant("bb", 1).await.unwrap(), ["bbb"]);
    two.add("bbbb\u{1f300}").await.unwrap();
    for memory in [&one, &two] {
        assert_eq!(
            memory.relevant("bb", 9).await.unwrap(),
            ["bbbb\u{1f300}", "bbb", "aaa"]
        );
    }
    assert!(other.relevant("bb", 2).await.unwrap().is_empty());
    connection
        .rpush::<_, _, ()>("autogpt:{c}:memory", "short")
        .await
        .unwrap();
    let damaged = two.relevant("bb", 2).await;
    assert!(
        matches!(damaged, Err(MemoryError::Damaged(_))),
        "{damaged:?}"
    );
}

#[tokio::test]
async fn a_redis_that_is_gone_is_an_error_and_one_that_is_back_is_used() {
    let mut redis = Redis::start().unwrap();
    let conversation = Conversation::anonymous("c");
    let store = store(&redis);
    drop(claim(&store, &conversation).await);
    redis.kill().unwrap();
    let start = Instant::now();
    let gone = store.load(&conversation).await;
    assert!(matches!(gone, Err(StoreError::Io(_))), "{gone:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
    redis.restart().unwrap();
    for _ in 0..100 {
        if store.load(&conversation).await.is_ok() {
            drop(claim(&store, &conversation).await);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it is never used again");
}
