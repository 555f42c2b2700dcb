//! Servers that die while they write, and servers that are only slow.

use std::time::Duration;

use copilot_wire::replies::{ReplyEnd, ReplyStore, StoreError};
use copilot_wire_kit::check_dead_server;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{events, follow, insist, log, soon};

/// It dies without a word: what it left is a lease that nobody renews.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_dead_server() {
    let redis = Redis::start("");
    let (dead, reader) = (redis.store().await, redis.store().await);
    let id = log(&dead, 3).await;
    drop(dead);
    sleep(Duration::from_millis(500)).await;
    // As if it had been killed.
    let keys: Vec<String> = redis::from_redis_value(redis.command("KEYS *alive:*")).unwrap();
    for key in keys {
        redis.command(&format!("DEL {key}"));
    }
    // Many readers find it at the same time; one of them writes the end.
    let (one, other) =
        soon(async { tokio::join!(follow(&reader, &id), follow(&reader, &id)) }).await;
    let lost = (events(0, 3).to_vec(), ReplyEnd::Lost);
    assert_eq!(one.unwrap(), lost);
    assert_eq!(other.unwrap(), lost);
    // A server that was only paused comes back.
    let late = insist(&reader, &id, 3).await;
    assert!(
        matches!(late, Err(StoreError::Sealed(ReplyEnd::Lost))),
        "{late:?}"
    );
    assert_eq!(
        reader.seal(&id, ReplyEnd::Done).await.unwrap(),
        ReplyEnd::Lost
    );
}

/// It goes on later, without a lease that it could renew.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_server_that_counts_as_dead() {
    let redis = Redis::start("");
    let (dead, reader) = (redis.store().await, redis.store().await);
    let kill = async || {
        redis.command("ACL SETUSER default -set");
        let leases = redis.command("KEYS *alive:*");
        for lease in redis::from_redis_value::<Vec<String>>(leases).unwrap() {
            redis.command(&format!("DEL {lease}"));
        }
    };
    let checked = check_dead_server(&dead, &reader, kill, sleep).await;
    checked.unwrap();
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_silent_server() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let write = async {
        sleep(Duration::from_secs(14)).await;
        writer.append(&id, 1..2, events(1, 1)).await.unwrap();
        writer.seal(&id, ReplyEnd::Done).await.unwrap();
    };
    let (read, ()) = soon(async { tokio::join!(follow(&reader, &id), write) }).await;
    assert_eq!(read.unwrap(), (events(0, 2).to_vec(), ReplyEnd::Done));
}

/// A store that is dropped, or whose runtime ends, gives up its lease: the next look finds it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_store_that_ends() {
    let redis = Redis::start("");
    let reader = redis.store().await;
    let dropped = redis.store().await;
    let one = log(&dropped, 2).await;
    drop(dropped);
    let other = std::thread::scope(|scope| {
        let work = || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let store = runtime.block_on(redis.store());
            let id = runtime.block_on(log(&store, 2));
            drop(runtime);
            drop(store);
            id
        };
        scope.spawn(work).join().unwrap()
    });
    for id in [one, other] {
        let page = reader.read(&id, 2).await.unwrap();
        assert_eq!(page.end, Some(ReplyEnd::Lost));
    }
}
