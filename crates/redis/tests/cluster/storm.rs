//! Everything at a time: connections that break, servers that are killed and replaced, and a master that fails.

use std::time::Duration;

use serde_json::json;
use server_tests::{Storm, random};
use tokio::time::sleep;

use crate::redis::Redis;
use crate::shards::Shards;
use crate::support::{Server, response, response_id, send, times};

/// Reads replies while `trouble` happens and the servers are killed and replaced.
async fn storm(url: &str, trouble: impl Future<Output = ()>) {
    let mut servers = [Server::start(url, ""), Server::start(url, "")];
    let addresses = [servers[0].address, servers[1].address];
    let storm = Storm {
        servers: addresses.to_vec(),
        user: "ann",
        path: "/v1/responses",
        body: response("count 150 10").unwrap(),
        words: 150,
        replies: times(40, 500) as usize,
        cuts: 6,
    };
    let mut stops = [0, 0];
    let turns = async {
        for turn in 0.. {
            sleep(Duration::from_millis(2000 + random(3000))).await;
            let (at, signal) = (random(2) as usize, ["TERM", "KILL"][turn % 2]);
            servers[at].signal(signal);
            servers[at].ended().await;
            servers[at] = Server::restart(url, addresses[at], "").await;
            stops[turn % 2] += 1;
        }
    };
    let limit = Duration::from_secs(times(120, 900));
    let work = storm.run(async { tokio::join!(turns, trouble).0 });
    let tally = tokio::time::timeout(limit, work).await.expect("it hangs");
    println!(
        "{tally:?}, {} servers replaced, {} killed",
        stops[0], stops[1]
    );
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn on_one_redis() {
    let mut redis = Redis::start("--appendonly yes --appendfsync always");
    let url = redis.url();
    let trouble = async {
        loop {
            sleep(Duration::from_secs(10)).await;
            redis.kill();
            sleep(Duration::from_millis(500)).await;
            redis.restart();
        }
    };
    storm(&url, trouble).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn on_a_cluster() {
    let mut shards = Shards::start(false, "--appendonly yes --appendfsync always");
    let url = shards.url();
    let trouble = async {
        for turn in 0.. {
            sleep(Duration::from_secs(5)).await;
            let victim = &mut shards.servers[turn % 3];
            victim.kill();
            sleep(Duration::from_secs(1)).await;
            victim.restart();
        }
    };
    storm(&url, trouble).await;
}

/// Turn after turn at the other server, after the one that has answered is killed.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_conversation_outlives_its_servers() {
    let shards = Shards::start(false, "");
    let url = shards.url();
    let mut server = Server::start(&url, "");
    let mut last: Option<String> = None;
    for turn in 0..3 {
        let body = json!({ "model": "counter", "input": "history", "previous_response_id": last });
        let answer = send(server.address, "POST", "/v1/responses", Some(body)).await;
        assert_eq!(answer.status, 200);
        let answer = answer.all().await;
        let count = format!("{} messages", 2 * turn + 1);
        assert!(answer.contains(&count), "{answer}");
        last = Some(response_id(answer.as_bytes()));
        server = Server::start(&url, "");
    }
}
