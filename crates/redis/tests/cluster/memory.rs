//! The memory of a server, and of Redis.

use std::net::SocketAddr;
use std::ops::RangeBounds;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

use crate::redis::Redis;
use crate::support::{Cluster, Server, chat, resume, send, soon, times};

/// Readers of 1 kB a second, on both servers, hold up nobody, and no server has the answer in memory for each
/// of them. Some then read the rest at once, and get all of it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn slow_readers() {
    let cluster = Cluster::start();
    let (one, other) = (&cluster.one, &cluster.other);
    let before = [one.memory(), other.memory()];
    let body = chat("c", "count 80000 0");
    let mut fast = send(one.address, "POST", "/api/chat", body).await;
    fast.until_text("Run ").await;
    drop(soon(resume(other.address, "c")).await);
    let readers = times(10, 50);
    let slow = (0..2 * readers).map(|number| {
        let to = if number < readers { one } else { other };
        slow_reader(to.address)
    });
    let slow = soon(join_all(slow)).await;
    // The first reader is as fast as ever, whatever the others do.
    let whole = soon(fast.all()).await;
    assert!(whole.contains("\" 79999\""));
    let mut slow: Vec<_> = slow
        .into_iter()
        .map(|reader| (reader, Vec::new()))
        .collect();
    let mut most = before;
    for _ in 0..times(5, 30) {
        sleep(Duration::from_secs(1)).await;
        for (reader, bytes) in &mut slow {
            let mut part = [0; 1000];
            reader.read_exact(&mut part).await.unwrap();
            bytes.extend_from_slice(&part);
        }
        most = [most[0].max(one.memory()), most[1].max(other.memory())];
    }
    let grown = [most[0] - before[0], most[1] - before[1]];
    println!(
        "{readers} slow readers on each server, {} kB each: {} and {} kB more",
        whole.len() / 1000,
        grown[0] / 1000,
        grown[1] / 1000
    );
    let all = readers * whole.len() as u64;
    assert!(
        grown[0] < all / 4 && grown[1] < all / 4,
        "{grown:?} of {all}"
    );
    let some = slow.into_iter().step_by(readers as usize / 5);
    let rest = some.map(async |(mut reader, mut bytes)| {
        reader.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap().replace(": ping\n\n", "");
        assert!(text == whole, "{} bytes of {}", text.len(), whole.len());
    });
    soon(join_all(rest)).await;
}

/// Connects a reader with a small buffer, and reads the head of the response.
async fn slow_reader(to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    // HTTP/1.0, so that the body has no chunks.
    let request =
        "GET /api/chat/c/stream HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ann\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(
        head.starts_with(b"HTTP/1.0 200"),
        "{}",
        String::from_utf8_lossy(&head)
    );
    stream
}

/// Runs that nobody reads any more are cancelled, the server takes no more memory for the next ones, and
/// nothing of them stays in Redis.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn abandoned_runs() {
    let redis = Redis::start("");
    let seconds = times(3, 20);
    let server = Server::start(&redis.url(), &seconds.to_string());
    let (runs, mut memory) = (times(100, 1000), Vec::new());
    for round in 0..times(2, 3) {
        let begun = stream::iter(0..runs).map(async |number| {
            let body = chat(&format!("chat-{round}-{number}"), "count 100000 1000");
            let mut page = send(server.address, "POST", "/api/chat", body).await;
            page.until_text("Run ").await;
        });
        begun.buffer_unordered(32).collect::<Vec<()>>().await;
        // A log and the latest reply of a chat for each, the lease of the server, and the key of questions. On a machine that is slow
        // the first have expired.
        keys(&redis, runs as i64..).await;
        sleep(Duration::from_secs(seconds)).await;
        memory.push(server.memory());
        keys(&redis, ..=2).await;
    }
    println!("{runs} abandoned runs, again and again: {memory:?} bytes");
    assert!(
        memory[memory.len() - 1] < memory[0] + memory[0] / 2,
        "{memory:?}"
    );
    drop(server);
    // The key of questions.
    keys(&redis, ..=1).await;
}

/// Waits until there is such a number of keys.
async fn keys(redis: &Redis, numbers: impl RangeBounds<i64>) {
    soon(async {
        while !numbers.contains(&redis.number("DBSIZE")) {
            sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
}
