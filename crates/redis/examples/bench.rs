//! Measures what the README reports: `cargo run --release --example bench`. Takes three minutes, and starts a
//! Redis of its own. Every number is the median of five runs, which take turns.

#![allow(
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::zombie_processes,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

#[path = "../tests/store/redis.rs"]
#[allow(dead_code)]
mod redis;

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt;
use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::replies::{MemoryReplyStore, Replies, ReplyEnd, ReplyId, ReplyMeta, ReplyStore};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait, openai};
use copilot_wire_redis::RedisReplyStore;
use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{interval, sleep};

use crate::redis::Redis;

const RUNS: usize = 5;

/// Says the time, 100 times a second.
struct Clock(Instant);

#[async_trait]
impl<P: Protocol> Agent<P> for Clock {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut ticks = interval(Duration::from_millis(10));
        for _ in 0..200 {
            ticks.tick().await;
            reply
                .text(format!("@{}@", self.0.elapsed().as_micros()))
                .await?;
        }
        Ok(())
    }
}

/// Returns the ages, in microseconds, of the times in some bytes.
fn ages(start: Instant, bytes: &[u8]) -> Vec<u64> {
    let now = start.elapsed().as_micros() as u64;
    let text = String::from_utf8_lossy(bytes);
    let times = text.split('@').filter_map(|time| time.parse::<u64>().ok());
    times.map(|time| now.saturating_sub(time)).collect()
}

/// Reads 200 replies at a time from one router.
async fn connected(router: Router, start: Instant) -> Vec<u64> {
    let readers = (0..200).map(|number| {
        let router = router.clone();
        tokio::spawn(async move {
            let body = question(number);
            let request = http::Request::post("/v1/chat/completions")
                .header("content-type", "application/json")
                .body(futures_util::stream::iter([Ok::<_, std::io::Error>(
                    Bytes::from(body),
                )]))
                .unwrap();
            let mut body: Body = router.handle(request).await.into_body();
            let mut all = Vec::new();
            while let Some(Ok(frame)) = body.next().await {
                all.extend(ages(start, &frame));
            }
            all
        })
    });
    join_all(readers)
        .await
        .into_iter()
        .flat_map(Result::unwrap)
        .collect()
}

/// The same with a server on a socket, and 200 clients.
async fn connected_by_sockets(router: Router, start: Instant) -> Vec<u64> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let app = axum::Router::new().fallback_service(router);
    let server = tokio::spawn(axum::serve(listener, app).into_future());
    let readers = (0..200).map(|number| {
        tokio::spawn(async move {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let body = question(number);
            let head = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(head.as_bytes()).await.unwrap();
            let (mut all, mut bytes) = (Vec::new(), Vec::new());
            while socket.read_buf(&mut bytes).await.unwrap() > 0 {
                // The rest of an event comes with the next packet.
                let end = bytes.windows(2).rposition(|pair| pair == b"\n\n");
                let rest = bytes.split_off(end.map_or(0, |end| end + 2));
                all.extend(ages(start, &bytes));
                bytes = rest;
            }
            assert_eq!(all.len(), 200);
            all
        })
    });
    let ages = join_all(readers).await;
    server.abort();
    ages.into_iter().flat_map(Result::unwrap).collect()
}

/// Returns a request: equal ones would share a reply.
fn question(number: usize) -> String {
    format!(
        r#"{{"model":"clock","stream":true,"messages":[{{"role":"user","content":"{number}"}}]}}"#
    )
}

fn id() -> ReplyId {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap();
    ReplyId::from_bytes(bytes)
}

fn meta() -> ReplyMeta {
    ReplyMeta::new(Duration::from_secs(300), Duration::from_secs(300))
}

/// A thousand readers on one server of a hundred replies that another one writes, 10 events a second each.
async fn followed(writer: &Arc<RedisReplyStore>, reader: &Arc<RedisReplyStore>) -> Vec<u64> {
    let start = Instant::now();
    let replies = (0..100).map(async |_| {
        let id = id();
        writer.create(&id, &meta()).await.unwrap();
        let writer = Arc::clone(writer);
        let write = tokio::spawn(async move {
            sleep(Duration::from_secs(1)).await;
            let mut ticks = interval(Duration::from_millis(100));
            for number in 0..30 {
                ticks.tick().await;
                let event = format!(
                    "data: @{}@ {}\n\n",
                    start.elapsed().as_micros(),
                    "x".repeat(170)
                );
                writer
                    .append(&id, number..number + 1, event.into())
                    .await
                    .unwrap();
            }
            writer.seal(&id, ReplyEnd::Done).await.unwrap();
        });
        let reads = (0..10).map(|_| {
            let reader = Arc::clone(reader);
            tokio::spawn(async move {
                let (mut all, mut next) = (Vec::new(), 0);
                loop {
                    let page = reader.read(&id, next).await.unwrap();
                    all.extend(ages(start, &page.events));
                    next = page.next;
                    if page.end.is_some() {
                        return all;
                    }
                }
            })
        });
        let reads = join_all(reads).await;
        write.await.unwrap();
        reads
            .into_iter()
            .flat_map(Result::unwrap)
            .collect::<Vec<_>>()
    });
    join_all(replies).await.into_iter().flatten().collect()
}

/// The first page of replies with 200 events.
async fn resumed(writer: &RedisReplyStore, reader: &RedisReplyStore) -> Vec<u64> {
    let mut all = Vec::new();
    for _ in 0..200 {
        let id = id();
        writer.create(&id, &meta()).await.unwrap();
        for number in 0..20 {
            let events = format!("data: {}\n\n", "x".repeat(180)).repeat(10);
            writer
                .append(&id, number * 10..number * 10 + 10, events.into())
                .await
                .unwrap();
        }
        let start = Instant::now();
        assert!(!reader.read(&id, 0).await.unwrap().events.is_empty());
        all.push(start.elapsed().as_micros() as u64);
    }
    all
}

/// From the call on one server until the other one knows.
async fn cancelled(writer: &RedisReplyStore, other: &RedisReplyStore) -> Vec<u64> {
    let mut all = Vec::new();
    for _ in 0..200 {
        let id = id();
        writer.create(&id, &meta()).await.unwrap();
        let wait = async {
            writer.cancelled(&id).await;
            Instant::now()
        };
        let cancel = async {
            sleep(Duration::from_millis(2)).await;
            let start = Instant::now();
            other.cancel(&id).await.unwrap();
            start
        };
        let (end, start) = tokio::join!(wait, cancel);
        all.push((end - start).as_micros() as u64);
        writer.seal(&id, ReplyEnd::Cancelled).await.unwrap();
    }
    all
}

/// Prints the bytes in Redis for each byte of events, and the commands for each append.
async fn space(redis: &Redis, writer: &RedisReplyStore, events: u64) {
    let info = |section: &str, name: &str| -> u64 {
        let text: String =
            ::redis::from_redis_value(redis.command(&format!("INFO {section}"))).unwrap();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len() + 1..].trim().parse().unwrap()
    };
    let (memory, commands) = (
        info("memory", "used_memory"),
        info("stats", "total_commands_processed"),
    );
    let mut bytes = 0;
    for _ in 0..200 {
        let id = id();
        writer.create(&id, &meta()).await.unwrap();
        for number in 0..events {
            let event = format!("data: {}\n\n", "x".repeat(182));
            bytes += event.len();
            writer
                .append(&id, number..number + 1, event.into())
                .await
                .unwrap();
        }
    }
    let grown = info("memory", "used_memory") - memory;
    let commands = info("stats", "total_commands_processed") - commands;
    println!(
        "memory in Redis, for a byte of {events} events of 190 bytes: {:.2}",
        grown as f64 / bytes as f64
    );
    println!(
        "commands for an append: {:.2}",
        commands as f64 / (200 * events) as f64
    );
}

fn percentile(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64 / 1000.0
}

#[tokio::main]
async fn main() {
    let redis = Redis::start("");
    let (one, other) = (Arc::new(redis.store().await), Arc::new(redis.store().await));
    let start = Instant::now();
    let router = || {
        Router::new()
            .mount(openai::Model::new("clock"), Clock(start))
            .unwrap()
    };
    let stored = router().resumable(
        Replies::single_user(redis.store().await, tokio::spawn)
            .join(true)
            .runs(9999),
    );
    let memory = router().resumable(
        Replies::single_user(MemoryReplyStore::new(), tokio::spawn)
            .join(true)
            .runs(9999),
    );
    let mut found: BTreeMap<&str, Vec<Vec<u64>>> = BTreeMap::new();
    for run in 0..RUNS {
        let mut add = |name, times: Vec<u64>| found.entry(name).or_default().push(times);
        add("1 connected, no store", connected(router(), start).await);
        add(
            "2 connected, memory",
            connected(memory.clone(), start).await,
        );
        add("3 connected, Redis", connected(stored.clone(), start).await);
        let by_sockets = connected_by_sockets;
        add("8 sockets, no store", by_sockets(router(), start).await);
        add("8 sockets, memory", by_sockets(memory.clone(), start).await);
        add("8 sockets, Redis", by_sockets(stored.clone(), start).await);
        add("5 first page elsewhere", resumed(&one, &other).await);
        add("6 followed, 1,000 readers", followed(&one, &other).await);
        add("7 cancelled elsewhere", cancelled(&one, &other).await);
        eprintln!("run {run}");
    }
    for _ in 0..RUNS {
        redis.signal("STOP");
        let frozen = connected(stored.clone(), start).await;
        let sockets = connected_by_sockets(stored.clone(), start).await;
        redis.signal("CONT");
        let mut add = |name, times: Vec<u64>| found.entry(name).or_default().push(times);
        add("4 connected, Redis frozen", frozen);
        add("8 sockets, Redis frozen", sockets);
        sleep(Duration::from_secs(3)).await;
    }
    println!("milliseconds, median of {RUNS} runs: p50, p99, count");
    for (name, mut runs) in found {
        runs.iter_mut().for_each(|run| run.sort_unstable());
        let of = |percent| median(runs.iter().map(|run| percentile(run, percent)).collect());
        println!("{name}: {:.3} {:.3} {}", of(50), of(99), runs[0].len());
    }
    for events in [100, 200] {
        space(&redis, &one, events).await;
    }
}
