//! Servers that are killed, paused and restarted.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{
    Cluster, Nginx, Server, chat, events, follow, numbers, response, response_id, resume, send,
    soon, times,
};

/// The server is killed in the middle of some replies: each of their readers gets the failure of its
/// protocol, once, and no end of a success.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn killed() {
    let Cluster { one, other, redis } = Cluster::start();
    let (replies, pause) = (times(20, 200), times(100, 20));
    let begun = (0..replies).map(async |number| {
        let id = format!("chat-{number}");
        let mut page = send(
            one.address,
            "POST",
            "/api/chat",
            chat(&id, &format!("count 10000 {pause}")),
        )
        .await;
        page.until_text("\" 1\"").await;
        let mut response = send(
            one.address,
            "POST",
            "/v1/responses",
            response("count 9 9000"),
        )
        .await;
        response.until_text("Run ").await;
        (id, response_id(&response.bytes), page, response)
    });
    let begun = soon(join_all(begun)).await;
    let readers = begun.iter().map(async |(id, response, ..)| {
        // One reads already, and one comes later.
        let early = async {
            let mut page = resume(other.address, id).await;
            page.until_text("\" 1\"").await;
            page.all().await
        };
        let late = async {
            sleep(Duration::from_secs(3)).await;
            resume(other.address, id).await.all().await
        };
        let path = format!("/v1/responses/{response}?stream=true");
        let response = async { send(other.address, "GET", &path, None).await.all().await };
        tokio::join!(early, late, response)
    });
    let kill = async {
        sleep(Duration::from_secs(2)).await;
        one.signal("KILL");
        Instant::now()
    };
    let (killed, read) = soon(async { tokio::join!(kill, join_all(readers)) }).await;
    println!(
        "{replies} replies end {:?} after kill -9 at the latest",
        killed.elapsed()
    );
    for (early, late, response) in read {
        assert_eq!(early, late);
        assert_eq!(early.matches("\"type\":\"error\"").count(), 1, "{early}");
        assert!(!early.contains("\"type\":\"finish\""), "{early}");
        assert_eq!(response.matches("response.failed").count(), 2, "{response}");
        assert!(!response.contains("response.completed"), "{response}");
        // The failure has the next number; `[DONE]` has none.
        let last = format!("\"sequence_number\":{}", events(&response) - 2);
        assert!(response.contains(&last), "{response}");
    }
    drop(redis);
}

/// A server is paused until the other one takes it for dead, and goes on then: nothing of what it says
/// afterwards reaches the log, and its own reader gets all of it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn paused() {
    let Cluster { one, other, redis } = Cluster::start();
    let mut page = send(one.address, "POST", "/api/chat", chat("c", "count 100 50")).await;
    page.until_text("\" 3\"").await;
    one.signal("STOP");
    let elsewhere = send(other.address, "GET", "/api/chat/c/stream", None).await;
    let elsewhere = soon(elsewhere.all()).await;
    assert_eq!(
        elsewhere.matches("\"type\":\"error\"").count(),
        1,
        "{elsewhere}"
    );
    one.signal("CONT");
    let own = soon(page.all()).await;
    assert!(
        own.contains("\" 99\"") && own.contains("\"type\":\"finish\""),
        "{own}"
    );
    assert!(!own.contains("\"type\":\"error\""), "{own}");
    let keys: Vec<String> =
        redis::from_redis_value(redis.command("KEYS copilot-wire:reply:*")).unwrap();
    let last = redis.command(&format!("XREVRANGE {} + - COUNT 1", keys[0]));
    assert!(
        format!("{last:?}").contains("18446744073709551615"),
        "{last:?}"
    );
    // The server is as good as new.
    let again = send(one.address, "POST", "/api/chat", chat("d", "count 3 1")).await;
    assert!(soon(again.all()).await.contains("\"type\":\"finish\""));
}

/// Both servers are replaced, one after the other, while pages stream through nginx. A page whose connection
/// breaks asks again, as `resumeStream` does. No answer is lost, none fails.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn rolling_restart() {
    let resumed = restart_both("").await;
    println!("{} pages resumed", resumed.len());
}

/// The same with a time limit of connections: pages move while the replies go on at the server that stops.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn rolling_restart_hands_over() {
    let resumed = restart_both("reconnect=600").await;
    let latest = resumed.iter().flatten().max();
    println!(
        "{} pages resumed, and had something new after {latest:?} at the latest",
        resumed.len()
    );
    assert!(latest.is_some());
}

/// Returns how long each page waited that has resumed.
async fn restart_both(option: &str) -> Vec<Vec<Duration>> {
    let redis = Redis::start("");
    let start = || Server::start(&redis.url(), option);
    let mut servers = [start(), start()];
    let addresses = [servers[0].address, servers[1].address];
    let nginx = Nginx::start(&addresses).await;
    let (count, pause) = (times(40, 150), times(75, 20));
    let pages = (0..times(30, 100)).map(async |number| {
        let id = format!("chat-{number}");
        sleep(Duration::from_millis(number * 7 % 1000)).await;
        let prompt = format!("count {count} {pause}");
        let page = send(nginx.address, "POST", "/api/chat", chat(&id, &prompt)).await;
        let (all, waits) = follow(nginx.address, &id, page).await;
        assert_eq!(numbers(&all), (0..count).collect::<Vec<_>>());
        assert!(all.contains("\"type\":\"finish\""), "{all}");
        waits
    });
    let restart = async {
        for at in [0, 1] {
            sleep(Duration::from_millis(1500)).await;
            servers[at].signal("TERM");
            servers[at].ended().await;
            servers[at] = Server::restart(&redis.url(), addresses[at], option).await;
        }
    };
    let (mut waits, ()) = soon(async { tokio::join!(join_all(pages), restart) }).await;
    waits.retain(|waits| !waits.is_empty());
    waits
}

/// Connections end every second, before a proxy ends them: pages and clients of Responses resume, and miss nothing.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn connections_that_end_at_their_time() {
    let redis = Redis::start("");
    let start = || Server::start(&redis.url(), "reconnect=1");
    let (one, other) = (start(), start());
    let nginx = Nginx::start(&[one.address, other.address]).await;
    let pages = (0..times(10, 100)).map(async |number| {
        let id = format!("chat-{number}");
        let page = send(nginx.address, "POST", "/api/chat", chat(&id, "count 80 50")).await;
        let (all, waits) = follow(nginx.address, &id, page).await;
        assert_eq!(numbers(&all), (0..80).collect::<Vec<_>>());
        assert!(waits.len() >= 3, "{waits:?}");
    });
    let responses = (0..times(5, 50)).map(async |_| {
        let body = response("count 80 50");
        let mut part = send(nginx.address, "POST", "/v1/responses", body).await;
        let mut all = String::new();
        while !part.until(|bytes| bytes.ends_with(b"[DONE]\n\n")).await {
            let id = response_id(if all.is_empty() {
                &part.bytes
            } else {
                all.as_bytes()
            });
            all += &part.all().await;
            let last = events(&all) - 1;
            let path = format!("/v1/responses/{id}?stream=true&starting_after={last}");
            part = send(nginx.address, "GET", &path, None).await;
        }
        all += &part.all().await;
        assert_eq!(numbers(&all), (0..80).collect::<Vec<_>>());
        assert_eq!(all.matches("event: response.completed").count(), 1);
    });
    soon(async { tokio::join!(join_all(pages), join_all(responses)) }).await;
}

/// Both servers are killed in mid-answer and started again, one after the other: there is always one that answers,
/// and nginx finds it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn killed_behind_nginx() {
    let redis = Redis::start("");
    let mut servers = [
        Server::start(&redis.url(), ""),
        Server::start(&redis.url(), ""),
    ];
    let addresses = [servers[0].address, servers[1].address];
    let nginx = Nginx::start(&addresses).await;
    let ask = async |id: String, prompt: &str| {
        let answer = send(nginx.address, "POST", "/api/chat", chat(&id, prompt)).await;
        assert_eq!(answer.status, 200, "{id}");
        answer
    };
    for at in [0, 1] {
        let long = (0..8).map(|number| ask(format!("long-{at}-{number}"), "count 10000 20"));
        let mut long = soon(join_all(long)).await;
        for answer in &mut long {
            answer.until_text("\" 1\"").await;
        }
        servers[at].signal("KILL");
        servers[at].ended().await;
        drop(long);
        for number in 0..10 {
            let short = ask(format!("short-{at}-{number}"), "count 3 1").await;
            assert!(soon(short.all()).await.contains("\"type\":\"finish\""));
        }
        servers[at] = Server::restart(&redis.url(), addresses[at], "").await;
    }
}
