//! Numbers and keys that no server of this library writes.

use copilot_wire::replies::{ConversationKey, ReplyEnd, ReplyStore, StoreError};
use tokio::time::{Duration, timeout};

use crate::redis::Redis;
use crate::support::{events, id, log, meta, since, soon};

/// Redis computes with doubles: numbers beyond 2^53 are not exact there.
const NUMBERS: [u64; 6] = [0, 3, 4, 1 << 53, u64::MAX - 1, u64::MAX];

/// A client can ask for what follows any number.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn positions_beyond_the_log() {
    let redis = Redis::start("");
    let (writer, other) = (redis.store().await, redis.store().await);
    for number in NUMBERS {
        let id = log(&writer, 3).await;
        let page = other.read(&id, number).await.unwrap();
        assert_eq!(page.end, None);
        let state = other.state(&id).await.unwrap();
        assert_eq!((state.next, state.end), (3, None), "{number}");
        // Everybody else reads on.
        writer.append(&id, 3..4, events(3, 1)).await.unwrap();
        let rest = soon(other.read(&id, 2)).await.unwrap();
        assert!(since(&rest, 2).starts_with(&events(2, 1)), "{number}");
        let cancelled = async {
            tokio::join!(writer.cancelled(&id), other.cancel(&id))
                .1
                .unwrap();
        };
        soon(cancelled).await;
        writer.seal(&id, ReplyEnd::Cancelled).await.unwrap();
        let mut end = other.read(&id, number).await.unwrap();
        while end.end.is_none() {
            end = other.read(&id, end.next).await.unwrap();
        }
        assert_eq!(end.end, Some(ReplyEnd::Cancelled), "{number}");
    }
}

/// One that is further than the log does not keep the others from sharing what comes, and gets what follows.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_reader_who_is_ahead() {
    let redis = Redis::start("");
    let (writer, other) = (redis.store().await, redis.store().await);
    let id = log(&writer, 3).await;
    let ahead = async {
        let mut page = other.read(&id, 5).await.unwrap();
        while page.events.is_empty() {
            page = other.read(&id, 5).await.unwrap();
        }
        since(&page, 5)
    };
    let write = async {
        for number in 3..6 {
            // A reader at the end meets one that is ahead, as after a crash that lost the last events.
            let page = other.read(&id, number - 1).await.unwrap();
            assert_eq!(since(&page, number - 1), events(number - 1, 1));
            assert!(
                timeout(Duration::from_millis(50), other.read(&id, number))
                    .await
                    .is_err()
            );
            writer
                .append(&id, number..number + 1, events(number, 1))
                .await
                .unwrap();
        }
    };
    let (ahead, ()) = soon(async { tokio::join!(ahead, write) }).await;
    assert_eq!(ahead, events(5, 1));
}

/// Somebody else has put other things under the keys.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn other_types() {
    let redis = Redis::start("");
    let (writer, other) = (redis.store().await, redis.store().await);
    let gone = |error: StoreError| assert!(matches!(error, StoreError::Gone), "{error:?}");
    for other_type in [
        "SET key x",
        "RPUSH key x",
        "HSET key next x at y",
        "XADD key * d x",
    ] {
        let (id, conversation) = (id(), ConversationKey::from_bytes([7; 32]));
        let meta = meta().conversation(conversation);
        writer.create(&id, &meta).await.unwrap();
        writer.append(&id, 0..2, events(0, 2)).await.unwrap();
        let put = |key: &str, id: &dyn std::fmt::Display| {
            let key = match key {
                "latest" => format!("copilot-wire:{key}:{id}"),
                _ => format!("copilot-wire:{key}:{{{id}}}"),
            };
            redis.command(&format!("DEL {key}"));
            redis.command(&other_type.replace("key", &key));
        };
        // That it is there is all that the mark of readers says.
        put("readers", &id);
        for _ in 0..2 {
            let state = other.state(&id).await.unwrap();
            assert_eq!((state.next, state.end, state.attended), (2, None, true));
            other.note_reader(&id).await.unwrap();
        }
        assert!(redis.number(&format!("PTTL copilot-wire:readers:{{{id}}}")) > 0);
        put("latest", &conversation);
        if !other_type.starts_with("SET") {
            assert_eq!(other.latest(&conversation).await.unwrap(), None);
        }
        put("reply", &id);
        gone(other.read(&id, 0).await.unwrap_err());
        if !other_type.starts_with("XADD") {
            gone(writer.append(&id, 2..3, events(2, 1)).await.unwrap_err());
            gone(other.state(&id).await.unwrap_err());
            gone(other.cancel(&id).await.unwrap_err());
            gone(writer.seal(&id, ReplyEnd::Done).await.unwrap_err());
        }
    }
    log(&writer, 1).await;
}
