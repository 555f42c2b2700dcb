//! The rules that every store keeps.

use copilot_wire_kit::check_reply_store;
use tokio::time::sleep;

use crate::redis::Redis;

#[tokio::test]
#[ignore = "needs redis-server"]
async fn rules() {
    let redis = Redis::start("");
    let (one, other) = (redis.store().await, redis.store().await);
    check_reply_store([&one, &other], sleep).await.unwrap();
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn rules_within_a_process() {
    let redis = Redis::start("--appendonly yes --appendfsync always");
    let store = redis.store().await;
    check_reply_store([&store, &store], sleep).await.unwrap();
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn prefixes_are_apart() {
    let redis = Redis::start("");
    let one = copilot_wire_redis::RedisReplyStore::connect(redis.url()).prefix("one:");
    let one = one.await.unwrap();
    let other = redis.store().await;
    use copilot_wire::replies::{ReplyId, ReplyMeta, ReplyStore, StoreError};
    let (id, minute) = (
        ReplyId::from_bytes([1; 32]),
        std::time::Duration::from_secs(60),
    );
    one.create(&id, &ReplyMeta::new(minute, minute))
        .await
        .unwrap();
    assert!(matches!(other.read(&id, 0).await, Err(StoreError::Gone)));
    assert_eq!(redis.number(&format!("EXISTS one:reply:{{{id}}}")), 1);
}
