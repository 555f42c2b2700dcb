//! Everything in Redis expires.

use std::time::Duration;

use copilot_wire::replies::{ConversationKey, ReplyEnd, ReplyMeta, ReplyStore};
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{events, id, soon};

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_thousand_abandoned_replies() {
    let redis = Redis::start("");
    let store = redis.store().await;
    let meta = ReplyMeta::new(Duration::from_secs(3), Duration::from_secs(2));
    for number in 0..1000_u64 {
        let mut conversation = [0; 32];
        conversation[..8].copy_from_slice(&(number / 2).to_be_bytes());
        let id = id();
        let meta = meta
            .clone()
            .conversation(ConversationKey::from_bytes(conversation));
        store.create(&id, &meta).await.unwrap();
        store.append(&id, 0..3, events(0, 3)).await.unwrap();
        match number % 4 {
            0 => drop(store.seal(&id, ReplyEnd::Done).await.unwrap()),
            1 => store.cancel(&id).await.unwrap(),
            2 => store.note_reader(&id).await.unwrap(),
            _ => {}
        }
    }
    assert!(redis.number("DBSIZE") > 1000);
    drop(store);
    soon(async {
        while redis.number("DBSIZE") > 0 {
            sleep(Duration::from_millis(200)).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn every_key_has_a_time_to_live() {
    let redis = Redis::start("");
    let store = redis.store().await;
    let meta = ReplyMeta::new(Duration::from_secs(100), Duration::from_secs(50));
    let (open, ended, cancelled) = (id(), id(), id());
    for (number, id) in [&open, &ended, &cancelled].into_iter().enumerate() {
        let conversation = ConversationKey::from_bytes([number as u8; 32]);
        store
            .create(id, &meta.clone().conversation(conversation))
            .await
            .unwrap();
        store.append(id, 0..1, events(0, 1)).await.unwrap();
    }
    store.cancel(&cancelled).await.unwrap();
    store.note_reader(&ended).await.unwrap();
    store.seal(&ended, ReplyEnd::Done).await.unwrap();
    let keys: Vec<String> = redis::from_redis_value(redis.command("KEYS *")).unwrap();
    assert_eq!(keys.len(), 3 + 3 + 1 + 1 + 1, "{keys:?}");
    for key in keys {
        let left = redis.number(&format!("PTTL {key}"));
        let is_ended = key.contains(&ended.to_string()) || key.contains(&"01".repeat(32));
        let most = match is_ended {
            true if key.contains("readers:") => 60_000,
            true => 50_000,
            // As long as any log that it may lead to.
            false if key.contains("latest:") => 150_000,
            false => 100_000,
        };
        assert!((1..=most).contains(&left), "{key}: {left}");
    }
}
