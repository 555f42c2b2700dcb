//! Records of turns.

use std::time::{Duration, Instant};

use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};
use copilot_wire_kit::{check_conversation_store, check_user_limit};
use copilot_wire_redis::RedisConversationStore;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::soon;

const MINUTE: Duration = Duration::from_secs(60);

async fn connect(redis: &Redis) -> RedisConversationStore {
    RedisConversationStore::connect(redis.url()).await.unwrap()
}

fn key(user: &str, id: u32) -> RecordKey {
    RecordKey::new(user, "/v1/responses", &id.to_string())
}

/// Returns the names of the keys of a user.
fn names(user: &str) -> [String; 2] {
    let user = &key(user, 0).to_string()[..32];
    ["turns", "expiry"].map(|kind| format!("copilot-wire:{kind}:{{{user}}}"))
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn rules() {
    let redis = Redis::start("");
    let replies = redis.store().await;
    let (one, other) = (replies.conversations(), connect(&redis).await);
    drop(replies);
    check_conversation_store([&one, &other], sleep)
        .await
        .unwrap();
    check_user_limit(&one.user_limit(1 << 20), 1 << 20)
        .await
        .unwrap();
    let apart = RedisConversationStore::connect(redis.url()).prefix("other:");
    let apart = apart.await.unwrap();
    other
        .put(&key("ann", 1), "turn".into(), MINUTE)
        .await
        .unwrap();
    assert_eq!(apart.get(&[key("ann", 1)], MINUTE).await.unwrap(), [None]);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn sessions_of_editors_survive_a_restart() {
    let redis = Redis::start("");
    crate::restart::sessions_survive(async || connect(&redis).await).await;
}

/// The size of a user's records is counted exactly, and is zero in the end.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn nothing_is_left() {
    let redis = Redis::start("");
    let store = connect(&redis).await.user_limit(20_000);
    let short = Duration::from_secs(2);
    for id in 0..100 {
        store
            .put(&key("ann", id), vec![b'x'; 500].into(), short)
            .await
            .unwrap();
        store
            .put(&key("ann", id % 7), vec![b'x'; 300].into(), short)
            .await
            .unwrap();
        store.delete(&key("ann", id / 2)).await.unwrap();
    }
    let [turns, expiry] = names("ann");
    let records = redis.number(&format!("ZCARD {expiry}"));
    assert_eq!(redis.number(&format!("HLEN {turns}")), records + 1);
    let lengths: String =
        redis::from_redis_value(redis.command(&format!("HGET {turns} size"))).unwrap();
    let values: Vec<redis::Value> =
        redis::from_redis_value(redis.command(&format!("HVALS {turns}"))).unwrap();
    let values = values
        .iter()
        .map(|it| redis::from_redis_value_ref::<Vec<u8>>(it).unwrap().len());
    let counted = values.sum::<usize>() - lengths.len() + 256 * records as usize;
    assert_eq!(lengths, counted.to_string());
    sleep(Duration::from_secs(3)).await;
    assert_eq!(redis.number("DBSIZE"), 0);
}

/// A user with very many small records stores a large one: it takes the place of all that it needs, and the server is
/// not held up for long at a time.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn many_small_records_make_place() {
    let redis = Redis::start("");
    let store = connect(&redis).await.user_limit(1 << 20);
    for id in 0..4000 {
        store
            .put(&key("ann", id), "x".into(), MINUTE)
            .await
            .unwrap();
    }
    store
        .put(&key("ann", 9999), vec![b'x'; 1_000_000].into(), MINUTE)
        .await
        .unwrap();
    let found = store
        .get(&[key("ann", 0), key("ann", 9999)], MINUTE)
        .await
        .unwrap();
    assert!(found[0].is_none() && found[1].is_some());
    assert!(redis.number(&format!("HLEN {}", names("ann")[0])) < 200);
}

/// Where Redis is full nothing is stored, what is there can be read, and is kept for longer by that.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn full() {
    let redis = Redis::start("--maxmemory 4mb --maxmemory-policy noeviction");
    let store = connect(&redis).await;
    let short = Duration::from_secs(3);
    store
        .put(&key("ann", 1), "turn".into(), short)
        .await
        .unwrap();
    let mut id = 0;
    let full = loop {
        id += 1;
        match store
            .put(&key("bob", id), vec![b'x'; 50_000].into(), MINUTE)
            .await
        {
            Ok(_) => assert!(id < 1000),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, RecordError::Full), "{full:?}");
    // Also for a user who has to make place first.
    let limited = connect(&redis).await.user_limit(60_000);
    for _ in 0..3 {
        let refused = limited
            .put(&key("bob", 1000), vec![b'x'; 50_000].into(), MINUTE)
            .await;
        if refused.is_ok() {
            redis.command("CONFIG SET maxmemory 1");
        }
    }
    let full = store.put(&key("ann", 2), "turn".into(), MINUTE).await;
    assert!(matches!(full, Err(RecordError::Full)), "{full:?}");
    let found = store
        .get(&[key("ann", 1), key("ann", 2)], MINUTE)
        .await
        .unwrap();
    assert_eq!(found, [Some("turn".into()), None]);
    sleep(Duration::from_secs(4)).await;
    let found = store.get(&[key("ann", 1)], MINUTE).await.unwrap();
    assert_eq!(found, [Some("turn".into())]);
    assert!(store.delete(&key("ann", 1)).await.unwrap());
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_is_away_slow_or_emptied() {
    let mut redis = Redis::start("");
    redis.kill();
    let store = connect(&redis).await;
    let text = "conversation store unavailable: redis: ";
    let error = store.get(&[key("ann", 1)], MINUTE).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{text}connection failed"));
    redis.restart();
    soon(async {
        while store
            .put(&key("ann", 1), "turn".into(), MINUTE)
            .await
            .is_err()
        {
            sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    redis.signal("STOP");
    let start = Instant::now();
    let error = store
        .put(&key("ann", 2), "turn".into(), MINUTE)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("{text}timeout"));
    assert!(start.elapsed() < Duration::from_secs(5));
    redis.signal("CONT");
    soon(async { while store.get(&[key("ann", 1)], MINUTE).await.is_err() {} }).await;
    redis.command("FLUSHALL");
    redis.command("SCRIPT FLUSH");
    assert_eq!(store.get(&[key("ann", 1)], MINUTE).await.unwrap(), [None]);
    store
        .put(&key("ann", 1), "turn".into(), MINUTE)
        .await
        .unwrap();
    assert!(store.delete(&key("ann", 1)).await.unwrap());
}

/// Keys of another type, half of what belongs together, and a size that is no number.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn garbage() {
    let redis = Redis::start("");
    let store = connect(&redis).await.user_limit(10_000);
    let fill = async || {
        for id in 0..100 {
            store
                .put(&key("ann", id), vec![b'x'; 500].into(), MINUTE)
                .await?;
        }
        let found = store.get(&[key("ann", 99)], MINUTE).await?;
        Ok::<_, RecordError>(found[0].is_some())
    };
    assert!(fill().await.unwrap());
    let [turns, expiry] = names("ann");
    for garbage in [
        format!("DEL {expiry}"),
        format!("DEL {turns}"),
        format!("HSET {turns} size -5"),
    ] {
        redis.command(&garbage);
        assert!(fill().await.unwrap(), "{garbage}");
    }
    for garbage in [
        format!("SET {turns} wr0ng"),
        format!("SET {expiry} wr0ng"),
        format!("HSET {turns} size wr0ng"),
    ] {
        redis.command(&format!("DEL {turns} {expiry}"));
        redis.command(&garbage);
        let error = fill().await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(matches!(error, RecordError::Unavailable(_)), "{shown}");
        assert!(!shown.contains("wr0ng"), "{shown}");
    }
    redis.command("FLUSHALL");
    assert!(fill().await.unwrap());
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn no_secret_is_shown() {
    let redis = Redis::start("--requirepass sesame");
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{}/", redis.port());
    let connect = RedisConversationStore::connect(url("wr0ng"));
    assert!(!format!("{connect:?}").contains("wr0ng"));
    let error = connect.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "conversation store unavailable: redis: authentication failed"
    );
    assert!(!format!("{error:?}").contains("wr0ng"));
    let store = RedisConversationStore::connect(url("sesame"))
        .await
        .unwrap();
    store
        .put(&key("ann", 1), "turn".into(), MINUTE)
        .await
        .unwrap();
    assert!(!format!("{store:?}").contains("sesame"));
}
