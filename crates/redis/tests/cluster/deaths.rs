//! Servers that are killed, paused and restarted.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{
    Cluster, Nginx, Server, chat, events, response, response_id, resume, send, send_as, soon, times,
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
    let redis = Redis::start("");
    let mut servers = [
        Server::start(&redis.url(), ""),
        Server::start(&redis.url(), ""),
    ];
    let addresses = [servers[0].address, servers[1].address];
    let nginx = Nginx::start(&addresses).await;
    let (count, pause) = (times(40, 150), times(75, 20));
    let last = format!("\" {}\"", count - 1);
    let pages = (0..times(30, 100)).map(async |number| {
        let (id, mut resumed) = (format!("chat-{number}"), 0);
        sleep(Duration::from_millis(number * 7 % 1000)).await;
        let mut page = send(
            nginx.address,
            "POST",
            "/api/chat",
            chat(&id, &format!("count {count} {pause}")),
        )
        .await;
        while !page
            .until(|bytes| bytes.ends_with(b"data: [DONE]\n\n"))
            .await
        {
            resumed += 1;
            let path = format!("/api/chat/{id}/stream");
            match send_as("ann", nginx.address, "GET", &path, None).await {
                Ok(again) if again.status == 200 => page = again,
                // There is always a server that could answer.
                Ok(again) => panic!("status {}", again.status),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
        let all = page.all().await;
        assert!(
            all.contains(&last) && all.contains("\"type\":\"finish\""),
            "{all}"
        );
        resumed
    });
    let restart = async {
        for at in [0, 1] {
            sleep(Duration::from_millis(1500)).await;
            servers[at].signal("TERM");
            servers[at].ended().await;
            servers[at] = Server::restart(&redis.url(), addresses[at]).await;
        }
    };
    let (resumed, ()) = soon(async { tokio::join!(join_all(pages), restart) }).await;
    println!(
        "{} pages, {} resumed",
        resumed.len(),
        resumed.iter().filter(|it| **it > 0).count()
    );
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
        servers[at] = Server::restart(&redis.url(), addresses[at]).await;
    }
}
