//! A server whose replies and conversations outlive it: `cargo run --example server -- redis://127.0.0.1/ 127.0.0.1:7777`.
//!
//! Start two of them with one Redis, and a proxy in front. Serves pages with `useChat` at `/api/chat`, and the
//! model `counter` for clients of OpenAI at `/v1`. A third argument is `join`, for clients that cannot ask for a
//! reply, `reconnect=SECONDS` for connections that end before their replies, or the seconds for which replies are kept,
//! and run without a reader. Whoever sends an API key is the user of that name; a real
//! server has a guard that checks it.

use std::env;
use std::future::IntoFuture;
use std::io;
use std::num::ParseIntError;
use std::time::Duration;

use axum::serve::ListenerExt;
use copilot_wire::conversations::Conversations;
use copilot_wire::protocol::{AgentError, Conversation, Protocol, Refusal, User};
use copilot_wire::replies::Replies;
use copilot_wire::{Agent, Reply, Request, Router, async_trait, openai, responses, ui_stream};
use copilot_wire_redis::RedisReplyStore;
use http::request::Parts;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// The time for which running turns go on once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// The time that clients have after that to read how their turns ended.
const LAST: Duration = Duration::from_secs(1);

/// Counts: `count 300 10` makes 300 words, one every 10 milliseconds, and `history` says how many messages there are.
struct Counter;

#[async_trait]
impl<P: Protocol> Agent<P> for Counter {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default();
        if prompt == "history" {
            let count = request.history().count();
            return Ok(reply.text(format!("{count} messages")).await?);
        }
        let numbers: Vec<u64> = prompt
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        let (count, pause) = match numbers[..] {
            [count, pause, ..] => (count, Duration::from_millis(pause)),
            _ => (10, Duration::from_millis(100)),
        };
        // Two runs never say the same.
        reply
            .text(format!("Run {:08x}.", getrandom::u32()?))
            .await?;
        for number in 0..count {
            if !pause.is_zero() {
                sleep(pause).await;
            }
            reply.text(format!(" {number}")).await?;
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<Duration, ParseIntError> {
    Ok(Duration::from_secs(text.parse()?))
}

/// Adds the user whose name is the API key.
async fn identify(mut parts: Parts) -> Result<Parts, Refusal> {
    let key = parts.headers.get("authorization");
    let name = key.and_then(|key| key.to_str().ok()?.strip_prefix("Bearer "));
    if let Some(user) = name.map(User::new) {
        parts.extensions.insert(user);
    }
    Ok(parts)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let url = arguments
        .next()
        .ok_or("usage: server REDIS-URL ADDRESS [join | reconnect=SECONDS | SECONDS]")?;
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    let stores = match url.as_str() {
        "none" => None,
        url => {
            let store = RedisReplyStore::connect(url).await?;
            let conversations = Conversations::per_user(store.conversations());
            // One user may have all of them, for tests and measurements.
            let replies = Replies::per_user(store, tokio::spawn).runs_per_user(1000);
            let replies = match arguments.next().as_deref() {
                None | Some("") => replies,
                Some("join") => replies.join(true),
                Some(option) => match option.strip_prefix("reconnect=") {
                    Some(limit) => replies.reconnect_after(seconds(limit)?),
                    None => replies.keep(seconds(option)?).abandoned(seconds(option)?),
                },
            };
            Some((replies, conversations))
        }
    };
    let mut router = Router::new()
        .guard(identify)
        .mount(openai::Model::new("counter"), Counter)?
        .mount(responses::Model::new("counter"), Counter)?
        .mount(ui_stream::Mount::new(), Counter)?;
    if let Some((replies, conversations)) = stores {
        router = router.resumable(replies).conversations(conversations);
    }
    let listener = TcpListener::bind(address).await?;
    greet(listener.local_addr()?);
    // Without this a stream of small events stalls for 40 ms at a time.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let (stopping, stopped) = oneshot::channel::<()>();
    let app = axum::Router::new().fallback_service(router.clone());
    let served = axum::serve(listener, app).with_graceful_shutdown(async {
        let _ = stopped.await;
    });
    let served = tokio::spawn(served.into_future());
    signal(SignalKind::terminate())?.recv().await;
    // No new connections; then the ends of the turns that run here, which may be read elsewhere.
    drop(stopping);
    router.drain(sleep(GRACE)).await;
    // One that does not read is disconnected.
    let _ = timeout(LAST, served).await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
fn greet(address: std::net::SocketAddr) {
    println!("listening on http://{address}");
    let _ = io::Write::flush(&mut io::stdout());
}
