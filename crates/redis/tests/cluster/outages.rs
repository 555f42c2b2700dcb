//! Redis is away while servers run replies and many readers read them.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{Answer, Cluster, chat, numbers, resume, send, soon};

const REPLIES: usize = 25;

/// Starts replies of 300 words. Returns the reader of each on the server that runs it, and three on the
/// other one.
async fn readers(cluster: &Cluster) -> Vec<(Answer, Vec<Answer>)> {
    let readers = (0..REPLIES).map(async |number| {
        let (one, other) = (cluster.one.address, cluster.other.address);
        let id = format!("chat-{number}");
        let mut own = send(one, "POST", "/api/chat", chat(&id, "count 300 20")).await;
        own.until_text("\" 1\"").await;
        let mut elsewhere = Vec::new();
        for _ in 0..3 {
            let mut reader = resume(other, &id).await;
            reader.until_text("\" 1\"").await;
            elsewhere.push(reader);
        }
        (own, elsewhere)
    });
    soon(join_all(readers)).await
}

/// Redis is killed twice, and comes back with what it had: all readers get all of it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn killed_and_restarted() {
    let redis = Redis::start("--appendonly yes --appendfsync always");
    let mut cluster = Cluster::with(redis);
    let readers = readers(&cluster).await;
    let trouble = async {
        for _ in 0..2 {
            cluster.redis.kill();
            sleep(Duration::from_millis(700)).await;
            cluster.redis.restart();
            sleep(Duration::from_millis(700)).await;
        }
    };
    let read = readers.into_iter().map(async |(own, elsewhere)| {
        let own = own.all().await;
        assert_eq!(numbers(&own), (0..300).collect::<Vec<_>>());
        for reader in join_all(elsewhere.into_iter().map(Answer::all)).await {
            assert_eq!(reader, own);
        }
    });
    soon(async { tokio::join!(trouble, join_all(read)) }).await;
}

/// Redis does not come back: who reads on the server that runs a reply notices nothing, all others get the failure
/// of their protocol, and new replies are ordinary ones.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn killed_for_good() {
    let mut cluster = Cluster::start();
    let readers = readers(&cluster).await;
    cluster.redis.kill();
    let read = readers.into_iter().map(async |(own, elsewhere)| {
        let own = own.all().await;
        assert_eq!(numbers(&own), (0..300).collect::<Vec<_>>());
        assert!(own.contains("\"type\":\"finish\""), "{own}");
        for reader in join_all(elsewhere.into_iter().map(Answer::all)).await {
            let (told, failure) =
                reader.split_at(reader.find("data: {\"type\":\"error\"").unwrap());
            assert!(own.starts_with(told), "{reader}");
            assert!(!failure.contains("\"type\":\"finish\""), "{reader}");
        }
    });
    soon(join_all(read)).await;
    let new = chat("new", "count 3 1");
    let new = send(cluster.one.address, "POST", "/api/chat", new).await;
    assert_eq!(numbers(&soon(new.all()).await), [0, 1, 2]);
}
