//! A store is created while Redis is not as it should be.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::replies::{Replies, ReplyStore, StoreError};
use copilot_wire::{Agent, Reply, Request, Router, async_trait, ui_stream};
use copilot_wire_redis::RedisReplyStore;
use futures_util::StreamExt;
use tokio::time::{Duration, sleep};

use crate::redis::Redis;
use crate::sentinels::Sentinel;
use crate::support::{id, log, meta, soon};

struct Talker;

#[async_trait]
impl<P: Protocol> Agent<P> for Talker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for number in 0..100 {
            reply.text(format!(" {number}")).await?;
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

/// Checks that a server with this store answers, whatever the store does.
async fn answers(store: RedisReplyStore) {
    let replies = Replies::single_user(store, tokio::spawn);
    let router = Router::new().resumable(replies);
    let router = router.mount(ui_stream::Mount::new(), Talker).unwrap();
    let body = r#"{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"?"}]}],"trigger":"submit-message"}"#;
    let request = http::Request::post("/api/chat").header("content-type", "application/json");
    let body = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]);
    let response = router.handle(request.body(body).unwrap()).await;
    let all: Vec<_> = response
        .into_body()
        .map(|frame| frame.unwrap())
        .collect()
        .await;
    let all = String::from_utf8(all.concat()).unwrap();
    let words = (0..100).map(|number| all.matches(&format!("\" {number}\"")).count());
    assert_eq!(words.collect::<Vec<_>>(), [1; 100], "{all}");
    assert!(all.contains("\"type\":\"finish\""), "{all}");
}

/// Checks that it stores replies in the end.
async fn recovers(store: &RedisReplyStore) {
    let create = async {
        while store.create(&id(), &meta()).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    soon(create).await;
    log(store, 3).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_is_away() {
    let mut redis = Redis::start("");
    redis.kill();
    let store = redis.store().await;
    let error = store.create(&id(), &meta()).await.unwrap_err();
    let text = "reply store unavailable: redis: connection failed";
    assert_eq!(error.to_string(), text);
    soon(answers(redis.store().await)).await;
    redis.restart();
    recovers(&store).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_is_full() {
    let redis = Redis::start("--maxmemory 1mb --maxmemory-policy noeviction");
    redis.command("CONFIG SET maxmemory 1");
    let store = redis.store().await;
    let error = store.create(&id(), &meta()).await.unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error:?}");
    soon(answers(redis.store().await)).await;
    redis.command("CONFIG SET maxmemory 0");
    recovers(&store).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn redis_stands_still() {
    let redis = Redis::start("");
    redis.signal("STOP");
    let store = redis.store().await;
    let error = store.create(&id(), &meta()).await.unwrap_err();
    let text = "reply store unavailable: redis: timeout";
    assert_eq!(error.to_string(), text);
    soon(answers(redis.store().await)).await;
    redis.signal("CONT");
    recovers(&store).await;
}

/// Listens, and does with each connection what the function says.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(socket.unwrap()));
        }
    });
    address
}

#[tokio::test]
async fn a_server_that_never_answers() {
    let silent = listen(|mut socket| drop(socket.read_to_end(&mut Vec::new())));
    let store = RedisReplyStore::connect(format!("redis://{silent}/"));
    soon(answers(store.await.unwrap())).await;
}

#[tokio::test]
async fn a_server_of_something_else() {
    for rubbish in [
        &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..],
        b"\x15\x03\x03\x00\x02\x02\x46",
        b"220 mail ESMTP\r\n",
        b"\0\xff\xfe\r\n\r\n",
    ] {
        let other = listen(move |mut socket| {
            let _ = socket.read(&mut [0; 100]);
            let _ = socket.write_all(rubbish);
            let _ = socket.read_to_end(&mut Vec::new());
        });
        let error = RedisReplyStore::connect(format!("redis://{other}/")).await;
        let text = "reply store unavailable: redis: not an answer of Redis";
        assert_eq!(error.unwrap_err().to_string(), text);
    }
}

/// It becomes one later.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_cluster_without_slots() {
    let redis = Redis::start("--cluster-enabled yes");
    let store = redis.store().await;
    let error = store.create(&id(), &meta()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    redis.command("CLUSTER ADDSLOTSRANGE 0 16383");
    recovers(&store).await;
    let database = RedisReplyStore::connect(format!("{}1", redis.url())).await;
    let text = "reply store unavailable: redis: no such database";
    assert_eq!(database.unwrap_err().to_string(), text);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_url_of_other_servers() {
    let (one, other) = (Redis::start(""), Redis::start(""));
    let sentinel = Sentinel::start("");
    let (one, other) = (one.port(), other.port());
    for (url, text) in [
        (
            format!("redis://127.0.0.1:{}/", sentinel.port),
            "this is a Sentinel: the URL is redis+sentinel://HOST/NAME",
        ),
        (
            format!("redis://127.0.0.1:{one},127.0.0.1:{other}/"),
            "several servers that are no cluster",
        ),
    ] {
        let error = RedisReplyStore::connect(url).await.unwrap_err().to_string();
        assert_eq!(error, format!("reply store unavailable: redis: {text}"));
    }
}

#[tokio::test]
async fn a_url_that_is_not_valid() {
    let name = "a URL of Sentinels ends with the name of a master: redis+sentinel://HOST/NAME";
    for (url, text) in [
        ("redis+cluster://:wr0ng@10.0.0.1/", "invalid URL"),
        ("redis://:wr0ng@10.0.0.1,[/", "invalid URL"),
        ("redis://:wr0ng@10.0.0.1,/", "invalid URL"),
        ("redis+sentinel://:wr0ng@[/main", "invalid URL"),
        ("redis+sentinel://:wr0ng@10.0.0.1/main/wr0ng", "invalid URL"),
        ("redis+sentinel://:wr0ng@10.0.0.1", name),
        ("redis+sentinel://:wr0ng@10.0.0.1/", name),
        ("redis+sentinel://:wr0ng@10.0.0.1/wr%0ng", name),
        (
            "redis+sentinel://10.0.0.1/main?password=wr0ng",
            "unknown parameter in a URL of Sentinels",
        ),
    ] {
        let error = RedisReplyStore::connect(url).await.unwrap_err().to_string();
        assert_eq!(error, format!("reply store unavailable: redis: {text}"));
    }
    let prefix = RedisReplyStore::connect("redis://10.0.0.1/")
        .prefix("{chat}:")
        .await;
    let text = "reply store unavailable: redis: a prefix cannot have braces";
    assert_eq!(prefix.unwrap_err().to_string(), text);
}

/// A server that refuses every command, and whose answer to the last one has no end.
#[test]
fn a_drop_does_not_wait_for_the_end_of_an_answer() {
    let (is_last, has_ended) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (lease, leased) = mpsc::channel();
    let server = {
        let (is_last, has_ended) = (Arc::clone(&is_last), Arc::clone(&has_ended));
        listen(move |mut socket| {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = socket.read(&mut bytes) {
                let sent = String::from_utf8_lossy(&bytes[..length]).into_owned();
                if is_last.load(Ordering::Relaxed) {
                    let pieces = std::iter::once("+").chain(std::iter::repeat_n("x", 3000));
                    for piece in pieces {
                        if socket.write_all(piece.as_bytes()).is_err() {
                            return;
                        }
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    has_ended.store(true, Ordering::Relaxed);
                    return;
                }
                let commands = sent.split("\r\n").filter(|line| line.starts_with('*'));
                let refusals = "-ERR not now\r\n".repeat(commands.count());
                socket.write_all(refusals.as_bytes()).unwrap();
                if sent.contains("PEXPIRE") {
                    let _ = lease.send(());
                }
            }
        })
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = RedisReplyStore::connect(format!("redis://{server}/"));
    let store = runtime.block_on(store.into_future()).unwrap();
    // The lease exists from the first attempt to renew it.
    leased.recv().unwrap();
    is_last.store(true, Ordering::Relaxed);
    drop(store);
    drop(runtime);
    assert!(!has_ended.load(Ordering::Relaxed));
}
