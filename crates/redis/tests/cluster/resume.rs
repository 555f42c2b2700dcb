//! Replies of one server are read and cancelled on the other.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::redis::Redis;
use crate::support::{
    Cluster, Nginx, Server, chat, events, response, response_id, send, send_as, soon, times,
};

/// A page is cut off anywhere, and gets the whole answer from the other server.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn pages() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let cuts = (0..times(40, 200)).map(async |number| {
        let (id, cut) = (
            format!("chat-{number}"),
            450 + getrandom::u32().unwrap() as usize % 4000,
        );
        let mut first = send(one, "POST", "/api/chat", chat(&id, "count 100 20")).await;
        first.until(|bytes| bytes.len() > cut).await;
        let seen = std::mem::take(&mut first.bytes);
        drop(first);
        let again = send(other, "GET", &format!("/api/chat/{id}/stream"), None).await;
        assert_eq!(again.status, 200);
        let all = again.all().await;
        assert!(all.as_bytes().starts_with(&seen), "{all}");
        assert!(
            all.contains("\" 99\"") && all.ends_with("data: [DONE]\n\n"),
            "{all}"
        );
        assert_eq!(events(&all), 1 + 1 + 1 + 101 + 1 + 1 + 1 + 1, "{all}");
    });
    soon(join_all(cuts)).await;
}

/// A client of the Responses API is cut off anywhere, and asks for the events that it lacks.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn responses() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let cuts = (0..times(20, 200)).map(async |_| {
        let cut = 600 + getrandom::u32().unwrap() as usize % 12_000;
        let mut first = send(one, "POST", "/v1/responses", response("count 60 5")).await;
        first.until(|bytes| bytes.len() > cut).await;
        let id = response_id(&first.bytes);
        let seen = String::from_utf8_lossy(&first.bytes).into_owned();
        drop(first);
        // Whole events count.
        let seen = &seen[..seen.rfind("\n\n").unwrap() + 2];
        let path = format!("/v1/responses/{id}?stream=true");
        let rest = format!("{path}&starting_after={}", events(seen) - 1);
        let rest = send(other, "GET", &rest, None).await.all().await;
        let whole = send(other, "GET", &path, None).await.all().await;
        assert_eq!(format!("{seen}{rest}"), whole);
        assert!(whole.contains("response.completed"), "{whole}");
    });
    soon(join_all(cuts)).await;
}

/// Both go through nginx, which sends every request to the next server.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn through_nginx() {
    let cluster = Cluster::start();
    let nginx = Nginx::start(&[cluster.one.address, cluster.other.address]).await;
    let work = (0..10).map(async |number| {
        let id = format!("chat-{number}");
        let mut page = send(
            nginx.address,
            "POST",
            "/api/chat",
            chat(&id, "count 100 10"),
        )
        .await;
        page.until_text("\" 5\"").await;
        let seen = std::mem::take(&mut page.bytes);
        drop(page);
        for text in ["\" 20\"", "\" 40\"", "\" 60\""] {
            let path = format!("/api/chat/{id}/stream");
            let mut again = send(nginx.address, "GET", &path, None).await;
            again.until_text(text).await;
            assert!(again.bytes.starts_with(&seen));
        }
        let path = format!("/api/chat/{id}/stream");
        let all = send(nginx.address, "GET", &path, None).await.all().await;
        assert!(all.ends_with("data: [DONE]\n\n"), "{all}");
    });
    soon(join_all(work)).await;
}

/// Stopped on the other server: while the agent waits, and in the middle of a burst.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn stop() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let stops = (0..times(10, 100)).map(async |number| {
        let (id, prompt) = match number % 2 {
            0 => (format!("slow-{number}"), "count 2 60000"),
            _ => (format!("fast-{number}"), "count 100000 1"),
        };
        let mut page = send(one, "POST", "/api/chat", chat(&id, prompt)).await;
        page.until_text("Run ").await;
        let stop = format!("/api/chat/{id}/stop");
        // The first words do not wait for the log.
        while send(other, "GET", &format!("/api/chat/{id}/stream"), None)
            .await
            .status
            == 204
        {}
        let stopped = send(other, "POST", &stop, Some(json!({}))).await;
        assert!(stopped.status < 300, "{}", stopped.status);
        let all = page.all().await;
        assert!(
            all.contains("\"type\":\"abort\"") && all.ends_with("[DONE]\n\n"),
            "{all}"
        );
        // Again, and for a reader elsewhere: nothing more comes.
        assert!(send(other, "POST", &stop, Some(json!({}))).await.status < 300);
        let again = send(other, "GET", &format!("/api/chat/{id}/stream"), None).await;
        assert!(again.status == 204 || again.all().await == all);
    });
    soon(join_all(stops)).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn cancelled_responses() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let mut first = send(one, "POST", "/v1/responses", response("count 2 60000")).await;
    first.until_text("Run ").await;
    let path = format!("/v1/responses/{}/cancel", response_id(&first.bytes));
    for _ in 0..3 {
        let answer = send(other, "POST", &path, Some(json!({}))).await;
        assert_eq!(answer.status, 200);
        assert!(soon(answer.all()).await.contains("\"cancelled\""));
    }
    assert!(soon(first.all()).await.contains("\"status\":\"cancelled\""));
}

/// A client asks on the other server for what follows any number: everybody else reads and cancels as ever.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn numbers_beyond_the_reply() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let asked = [0, 1 << 53, u64::MAX - 1, u64::MAX].map(async |number| {
        let mut first = send(one, "POST", "/v1/responses", response("count 2 60000")).await;
        first.until_text("Run ").await;
        let path = format!("/v1/responses/{}", response_id(&first.bytes));
        let far = format!("{path}?stream=true&starting_after={number}");
        let far = send(other, "GET", &far, None).await;
        assert_eq!(far.status, 200);
        // After a second it is noted as a reader.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut again = send(other, "GET", &format!("{path}?stream=true"), None).await;
        again.until_text("Run ").await;
        assert_eq!(send(other, "GET", &path, None).await.status, 200);
        let cancel = format!("{path}/cancel");
        let cancelled = send(other, "POST", &cancel, Some(json!({}))).await;
        assert_eq!(cancelled.status, 200, "{number}");
        assert!(again.all().await.contains("\"cancelled\""));
        far.all().await;
    });
    soon(join_all(asked)).await;
}

/// The ids of one user are as unknown to another one as random ones.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn other_users() {
    let cluster = Cluster::start();
    let (one, other) = (cluster.one.address, cluster.other.address);
    let mut page = send(one, "POST", "/api/chat", chat("c", "count 2 60000")).await;
    let mut background = send(one, "POST", "/v1/responses", response("count 2 60000")).await;
    page.until_text("Run ").await;
    background.until_text("Run ").await;
    let id = response_id(&background.bytes);
    let random = format!("resp_{}", "0".repeat(32));
    for address in [one, other] {
        for (method, path) in [
            ("GET", "/api/chat/ID/stream"),
            ("POST", "/api/chat/ID/stop"),
            ("GET", "/v1/responses/ID"),
            ("GET", "/v1/responses/ID?stream=true"),
            ("POST", "/v1/responses/ID/cancel"),
        ] {
            let (real, unknown) = if path.starts_with("/api") {
                ("c", "x")
            } else {
                (&*id, &*random)
            };
            let ask = async |id: &str| {
                let body = (method == "POST").then(|| json!({}));
                let path = path.replace("ID", id);
                let answer = send_as("eve", address, method, &path, body).await.unwrap();
                (answer.status, soon(answer.all()).await.replace(id, "ID"))
            };
            assert_eq!(ask(real).await, ask(unknown).await, "{method} {path}");
        }
    }
    // Nothing has happened to them.
    let state = send(other, "GET", &format!("/v1/responses/{id}"), None).await;
    assert!(state.all().await.contains("\"in_progress\""));
}

/// A front end that cannot ask for a reply sends the same request again, to another server.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn joined() {
    let redis = Redis::start("");
    let (one, other) = (
        Server::start(&redis.url(), "join"),
        Server::start(&redis.url(), "join"),
    );
    let body = |prompt: &str| {
        let messages = json!([{ "role": "user", "content": prompt }]);
        Some(json!({ "model": "counter", "stream": true, "messages": messages }))
    };
    let path = "/v1/chat/completions";
    let mut first = send(one.address, "POST", path, body("count 50 20")).await;
    first.until_text("\" 3\"").await;
    let seen = std::mem::take(&mut first.bytes);
    drop(first);
    let again = send(other.address, "POST", path, body("count 50 20"))
        .await
        .all()
        .await;
    assert!(again.as_bytes().starts_with(&seen), "{again}");
    assert!(again.ends_with("data: [DONE]\n\n"), "{again}");
    // When the agent has ended, the same request is a new one.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let new = send(one.address, "POST", path, body("count 50 20"))
        .await
        .all()
        .await;
    assert!(!new.as_bytes().starts_with(&seen), "{new}");
}
