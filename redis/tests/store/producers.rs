//! Servers that die while they write, and servers that are only slow.

use std::time::Duration;

use copilot_wire::replies::{ReplyEnd, ReplyStore, StoreError};
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{events, follow, insist, log, soon};

#[tokio::test]
async fn a_dead_server() {
    let redis = Redis::start("");
    let (dead, reader) = (redis.store().await, redis.store().await);
    let id = log(&dead, 3).await;
    drop(dead);
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

#[tokio::test]
async fn a_silent_server() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let write = async {
        sleep(Duration::from_secs(14)).await;
        writer.append(&id, 1, events(1, 1)).await.unwrap();
        writer.seal(&id, ReplyEnd::Done).await.unwrap();
    };
    let (read, ()) = soon(async { tokio::join!(follow(&reader, &id), write) }).await;
    assert_eq!(read.unwrap(), (events(0, 2).to_vec(), ReplyEnd::Done));
}
