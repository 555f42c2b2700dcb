//! Everything at a time: connections that break, servers that are killed and replaced, and a master that fails.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::redis::Redis;
use crate::shards::Shards;
use crate::support::{
    Answer, Server, events, numbers, response, response_id, send, send_as, times,
};

/// The connections of one reply that are left on purpose.
const CUTS: usize = 6;
const WORDS: u64 = 150;
const PAUSE: u64 = 10;

fn random(below: u64) -> u64 {
    u64::from(getrandom::u32().unwrap()) % below
}

/// Sends a request to any server until one answers it.
async fn ask(servers: [SocketAddr; 2], method: &str, path: &str, body: Option<Value>) -> Answer {
    loop {
        let server = servers[random(2) as usize];
        if let Ok(answer) = send_as("ann", server, method, path, body.clone()).await {
            match answer.status {
                200 => return answer,
                503 => {}
                status => panic!("status {status} of {path}"),
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// What became of replies.
#[derive(Debug, Default)]
struct Tally {
    whole: usize,
    failed: usize,
    cuts: usize,
    broken: usize,
}

/// Runs one reply, and reads it until enough connections were left: again from its start if it has ended before. Checks
/// what its reader gets.
async fn reply(servers: [SocketAddr; 2]) -> Tally {
    let mut tally = Tally::default();
    let mut path = String::new();
    loop {
        let seen = read(servers, &mut path, &mut tally).await;
        let is_whole = check(&seen);
        if tally.cuts == CUTS {
            match is_whole {
                true => tally.whole += 1,
                false => tally.failed += 1,
            }
            return tally;
        }
    }
}

/// Reads a reply to its end; begins it where there is no path yet.
async fn read(servers: [SocketAddr; 2], path: &mut String, tally: &mut Tally) -> String {
    let mut seen = String::new();
    loop {
        let mut answer = match path.as_str() {
            "" => {
                let body = response(&format!("count {WORDS} {PAUSE}"));
                ask(servers, "POST", "/v1/responses", body).await
            }
            path => {
                let after = match events(&seen) {
                    0 => path.to_owned(),
                    count => format!("{path}&starting_after={}", count - 1),
                };
                ask(servers, "GET", &after, None).await
            }
        };
        // From any byte to any byte.
        let length = match tally.cuts {
            CUTS => usize::MAX,
            _ => random(6_000) as usize,
        };
        let is_open = answer
            .until(|bytes| bytes.len() >= length || has_end(bytes))
            .await;
        let bytes = std::mem::take(&mut answer.bytes);
        let bytes = &bytes[..bytes.len().min(length)];
        let text = String::from_utf8_lossy(bytes).replace(": ping\n\n", "");
        let end = text.rfind("\n\n").map_or(0, |end| end + 2);
        seen.push_str(&text[..end]);
        if path.is_empty() && !seen.is_empty() {
            *path = format!("/v1/responses/{}?stream=true", response_id(seen.as_bytes()));
        }
        if has_end(seen.as_bytes()) {
            return seen;
        }
        match is_open {
            true => tally.cuts += 1,
            false => tally.broken += 1,
        }
    }
}

fn has_end(bytes: &[u8]) -> bool {
    // The last event, as a whole.
    let text = String::from_utf8_lossy(bytes);
    let ends = ["event: response.completed", "event: response.failed"];
    let end = ends.into_iter().find_map(|end| text.find(end));
    end.is_some_and(|at| text[at..].contains("\n\n"))
}

/// Checks that nothing is lost, doubled or out of order. Returns `true` if the reply is whole, and not one that failed
/// with its server.
fn check(seen: &str) -> bool {
    let is_whole = seen.contains("event: response.completed");
    let ends = ["event: response.completed", "event: response.failed"];
    let ends = ends.map(|end| seen.matches(end).count());
    assert_eq!(ends.iter().sum::<usize>(), 1, "{seen}");
    let deltas = &seen[..seen.find("output_text.done").unwrap_or(seen.len())];
    let words = numbers(deltas);
    assert_eq!(words, (0..words.len() as u64).collect::<Vec<_>>(), "{seen}");
    let places = seen.split("\"sequence_number\":").skip(1);
    let places = places.map(|it| it.split([',', '}']).next().unwrap().parse().unwrap());
    let mut places: Vec<u64> = places.collect();
    if is_whole {
        assert_eq!(words.len() as u64, WORDS, "{seen}");
    } else {
        // Another server writes the failure, behind what is stored: less than what a reader may have seen.
        places.pop();
    }
    let all = 0..places.len() as u64;
    assert_eq!(places, all.collect::<Vec<_>>(), "{seen}");
    is_whole
}

/// Reads replies while `trouble` happens and the servers are killed and replaced.
async fn storm(url: &str, trouble: impl Future<Output = ()>) {
    let mut servers = [Server::start(url, ""), Server::start(url, "")];
    let addresses = [servers[0].address, servers[1].address];
    let replies = times(40, 500);
    let work = stream::iter(0..replies).map(|_| reply(addresses));
    let work = work
        .buffer_unordered(20)
        .fold(Tally::default(), async |sum, one| Tally {
            whole: sum.whole + one.whole,
            failed: sum.failed + one.failed,
            cuts: sum.cuts + one.cuts,
            broken: sum.broken + one.broken,
        });
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
    let tally = tokio::select! {
        tally = tokio::time::timeout(limit, work) => tally.expect("it hangs"),
        () = async { tokio::join!(turns, trouble); } => unreachable!("they go on"),
    };
    println!(
        "{replies} replies: {tally:?}, {} servers replaced, {} killed",
        stops[0], stops[1]
    );
    assert_eq!(tally.cuts, replies as usize * CUTS);
    assert_eq!(tally.whole + tally.failed, replies as usize);
    assert!(tally.whole > 0, "{tally:?}");
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
