//! The cost of a reply: commands of Redis, and bytes that are sent to it.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::replies::{Replies, ReplyId};
use copilot_wire::ui_stream::Mount;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use copilot_wire_kit::check_reply_store;
use copilot_wire_redis::RedisReplyStore;
use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio::time::{interval, sleep};

use crate::redis::Redis;
use crate::support::follow;

const TOKENS: u64 = 1000;

/// Says a thousand tokens, so many a second.
struct Talker(u64);

#[async_trait]
impl<P: Protocol> Agent<P> for Talker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if request.prompt().as_deref() == Some("few") {
            return Ok(reply.text("few").await?);
        }
        let mut ticks = interval(Duration::from_secs(1) / self.0 as u32);
        for _ in 0..TOKENS {
            ticks.tick().await;
            reply.text(" token").await?;
        }
        Ok(())
    }
}

/// Where a reply is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reader {
    Nowhere,
    Here,
    Elsewhere,
    /// By a thousand at a time.
    Crowd,
}

/// The counters of Redis, and the processor time.
#[derive(Clone, Copy, Debug)]
struct Cost {
    commands: u64,
    bytes: u64,
    payload: u64,
    /// The memory of the log, as Redis counts it.
    memory: i64,
    redis: Duration,
    /// Of this thread: servers and readers together.
    servers: Duration,
}

/// Runs a reply from its beginning to its end, and returns everything that Redis was asked for meanwhile: what the
/// scripts do, leases and subscriptions are included.
async fn cost(rate: u64, reader: Reader) -> Cost {
    let redis = Redis::start("");
    let (one, replies) = router(redis.store().await, rate);
    let other = match reader {
        Reader::Elsewhere | Reader::Crowd => Some(router(redis.store().await, rate).0),
        Reader::Nowhere | Reader::Here => None,
    };
    // What a server asks for once: scripts, and the key of questions.
    let store = redis.store().await;
    check_reply_store([&store, &store], sleep).await.unwrap();
    drop(store);
    whole(send(&one, "POST", "/api/chat", &chat("first", "few")).await).await;
    sleep(Duration::from_secs(1)).await;
    let (before, start) = (counted(&redis), thread_time());
    let own = send(&one, "POST", "/api/chat", &chat("chat", "all")).await;
    match (reader, &other) {
        (Reader::Here, _) => drop(whole(own).await),
        (_, None) => drop(own),
        (_, Some(other)) => {
            drop(own);
            let readers = if reader == Reader::Crowd { 1000 } else { 1 };
            let tails = (0..readers)
                .map(async |_| whole(send(other, "GET", "/api/chat/chat/stream", "").await).await);
            let read = join_all(tails).await;
            // One that gets no answer in time, where the machine has too much to do, has said so.
            let failed = |it: &&String| it.contains("\"type\":\"error\"");
            let count = read.iter().filter(failed).count();
            assert!(
                count * 10 <= readers,
                "{count} of {readers} readers have failed"
            );
        }
    }
    while replies.running() > 0 {
        sleep(Duration::from_millis(5)).await;
    }
    let (after, end) = (counted(&redis), thread_time());
    let (payload, memory) = stored(&redis).await;
    assert_eq!(payload.matches(" token\"").count() as u64, TOKENS);
    Cost {
        commands: after.0 - before.0,
        bytes: after.1 - before.1,
        payload: payload.len() as u64,
        memory,
        redis: after.2 - before.2,
        servers: end - start,
    }
}

/// Returns the processor time of this thread.
fn thread_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

fn router(store: RedisReplyStore, rate: u64) -> (Router, Replies) {
    let replies = Replies::single_user(store, tokio::spawn);
    let router = Router::new().resumable(replies.clone());
    (router.mount(Mount::new(), Talker(rate)).unwrap(), replies)
}

/// Returns the log of all tokens, and the memory that it takes.
async fn stored(redis: &Redis) -> (String, i64) {
    let keys = redis.command("KEYS copilot-wire:latest:*");
    let keys: Vec<String> = ::redis::from_redis_value(keys).unwrap();
    let mut logs = Vec::new();
    for key in keys {
        let id: String = ::redis::from_redis_value(redis.command(&format!("GET {key}"))).unwrap();
        let byte = |at| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
        let id = ReplyId::from_bytes(std::array::from_fn(|at| byte(2 * at)));
        // What leads to a log outlives it.
        if let Ok((log, _)) = follow(&redis.store().await, &id).await {
            let memory = format!("MEMORY USAGE copilot-wire:reply:{{{id}}} SAMPLES 0");
            logs.push((String::from_utf8(log).unwrap(), redis.number(&memory)));
        }
    }
    logs.into_iter()
        .find(|(log, _)| log.contains(" token\""))
        .unwrap()
}

fn chat(id: &str, prompt: &str) -> String {
    format!(
        r#"{{"id":"{id}","messages":[{{"id":"m","role":"user","parts":[{{"type":"text","text":"{prompt}"}}]}}],"trigger":"submit-message"}}"#
    )
}

async fn send(router: &Router, method: &str, path: &str, body: &str) -> Body {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    let body = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from(body.to_owned()))]);
    let response = router.handle(request.body(body).unwrap()).await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

async fn whole(mut body: Body) -> String {
    let mut all = Vec::new();
    while let Some(frame) = body.next().await {
        all.extend_from_slice(&frame.unwrap());
    }
    String::from_utf8(all).unwrap().replace(": ping\n\n", "")
}

/// Returns the commands and the bytes that Redis has got, without those that ask for them, and its processor time.
fn counted(redis: &Redis) -> (u64, u64, Duration) {
    let info = |section: &str| -> String {
        ::redis::from_redis_value(redis.command(&format!("INFO {section}"))).unwrap()
    };
    let commands = info("commandstats");
    let commands = commands.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let own = name == "info" || name.starts_with("client|");
        let calls = rest.split(',').next()?.parse::<u64>().ok()?;
        (!own).then_some(calls)
    });
    let stats = info("stats");
    let bytes = stats.split("total_net_input_bytes:").nth(1).unwrap();
    let cpu = info("cpu");
    let cpu = ["used_cpu_sys:", "used_cpu_user:"].map(|name| {
        let time = cpu.split(name).nth(1).unwrap();
        time.lines().next().unwrap().trim().parse::<f64>().unwrap()
    });
    (
        commands.sum(),
        bytes.lines().next().unwrap().trim().parse().unwrap(),
        Duration::from_secs_f64(cpu.iter().sum()),
    )
}

/// Runs the replies of one rate at a time, each on a thread of its own.
fn costs(rate: u64, readers: &[Reader]) -> Vec<Cost> {
    let run = |reader| {
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(cost(rate, reader))
        })
    };
    let runs: Vec<_> = readers.iter().copied().map(run).collect();
    runs.into_iter().map(|run| run.join().unwrap()).collect()
}

/// With `FULL=1` it prints the table of the README.
#[test]
#[ignore = "needs redis-server"]
fn a_thousand_tokens() {
    let is_full = std::env::var_os("FULL").is_some();
    let readers = [
        Reader::Nowhere,
        Reader::Here,
        Reader::Elsewhere,
        Reader::Crowd,
    ];
    let readers = if is_full { &readers[..] } else { &readers[..3] };
    for rate in if is_full { &[500, 50, 10][..] } else { &[50] } {
        let costs = costs(*rate, readers);
        for (reader, cost) in readers.iter().zip(&costs) {
            println!(
                "{rate} a second, {reader:?}: {cost:?}, {:.2} payloads sent, {:.2} in memory, {:?} and {:?} a token",
                cost.bytes as f64 / cost.payload as f64,
                cost.memory as f64 / cost.payload as f64,
                cost.redis / TOKENS as u32,
                cost.servers / TOKENS as u32
            );
        }
        if *rate < 50 {
            // It takes so long that leases and pings count.
            continue;
        }
        // For each frame, the writer and the reader together.
        assert!(costs[2].commands <= 2 * TOKENS, "{costs:?}");
        for cost in &costs[..2] {
            assert!(cost.commands <= 100, "{cost:?}");
            assert!(cost.bytes * 10 <= cost.payload * 13, "{cost:?}");
        }
    }
}
