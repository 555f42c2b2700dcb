//! A server in virtual time, and its clients.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Env, Environment, Outcome, Protocol, Refusal, User};
use copilot_wire::replies::{MemoryReplyStore, Replies, ReplyStore};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use copilot_wire_kit::{FrontEnd as _, Toolkit};
use futures::StreamExt as _;
use futures::stream;
use http::{Method, Response};
use tokio::time::{Instant, sleep};

/// The time of the runtime, which is virtual while it is paused.
struct Paused(Instant);

impl Environment for Paused {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_767_225_600) + self.0.elapsed()
    }
}

pub(crate) fn env() -> Env {
    Env::new(Paused(Instant::now()))
}

pub(crate) fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}

pub(crate) async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

/// An agent that writes some words, with a pause before each.
#[derive(Clone)]
pub(crate) struct Talker {
    pub(crate) words: usize,
    pub(crate) size: usize,
    pub(crate) pause: Duration,
}

impl Default for Talker {
    fn default() -> Self {
        Self {
            words: 10,
            size: 8,
            pause: Duration::from_millis(100),
        }
    }
}

/// An agent that writes a word a second for more than a week.
pub(crate) fn endless() -> Talker {
    Talker {
        words: 1_000_000,
        pause: Duration::from_secs(1),
        ..Talker::default()
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Talker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for number in 0..self.words {
            if !self.pause.is_zero() {
                sleep(self.pause).await;
            }
            let mut word = format!("word{number} ");
            word.extend((word.len()..self.size).map(|_| 'x'));
            reply.text(word).await?;
        }
        Ok(())
    }
}

/// The ends of turns, as words.
pub(crate) type Outcomes = Arc<Mutex<Vec<String>>>;

/// A router with one agent for one protocol.
pub(crate) fn router<P: Toolkit>(
    agent: impl Agent<P> + 'static,
    replies: Option<Replies>,
) -> Router {
    // Without it the first request would load a key from the store, which these tests watch.
    let router = Router::new().env(env()).secret([7; 32]);
    let router = match replies {
        Some(replies) => router.resumable(replies),
        None => router,
    };
    router.guard(identify).mount(P::mount(), agent).unwrap()
}

/// Adds the user whom a header names.
pub(crate) async fn identify(
    mut parts: http::request::Parts,
) -> Result<http::request::Parts, Refusal> {
    let user = parts
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok());
    if let Some(user) = user.map(User::new) {
        parts.extensions.insert(user);
    }
    Ok(parts)
}

/// Watches the ends of turns.
pub(crate) fn watch(router: Router) -> (Router, Outcomes) {
    let outcomes = Outcomes::default();
    let seen = Arc::clone(&outcomes);
    let router = router.observe(move |turn| {
        let told = match turn.outcome {
            Outcome::Failed { error, .. } => error.message().to_owned(),
            outcome => outcome.as_str().to_owned(),
        };
        seen.lock().unwrap().push(match turn.unstored {
            true => format!("{told}, unstored"),
            false => told,
        });
    });
    (router, outcomes)
}

/// Creates replies whose users are in a header.
pub(crate) fn replies(store: impl ReplyStore + 'static) -> Replies {
    Replies::per_user(store, tokio::spawn)
}

pub(crate) fn memory() -> MemoryReplyStore {
    MemoryReplyStore::new().env(env())
}

pub(crate) async fn send(
    router: &Router,
    user: &str,
    method: Method,
    path: &str,
    body: &str,
) -> Response<Body> {
    let mut request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(stream::iter([Ok::<_, Infallible>(Bytes::from(
            body.to_owned(),
        ))]))
        .unwrap();
    if !user.is_empty() {
        request
            .headers_mut()
            .insert("x-user", user.parse().unwrap());
    }
    router.handle(request).await
}

/// Sends the sample of a protocol.
pub(crate) async fn ask<P: Toolkit>(router: &Router, user: &str) -> Body {
    let path = P::FrontEnd::PATH;
    let sample = P::SAMPLE
        .request
        .replace(r#""model":"m""#, r#""model":"echo""#);
    let response = send(router, user, Method::POST, path, &sample).await;
    assert!(response.status().is_success(), "{}: {response:?}", P::NAME);
    response.into_body()
}

/// Asks for the reply to the sample again.
pub(crate) async fn again<P: Toolkit>(router: &Router, user: &str) -> Body {
    if P::NAME != "ui-stream" {
        return ask::<P>(router, user).await;
    }
    let path = "/api/chat/chat-1/stream";
    send(router, user, Method::GET, path, "").await.into_body()
}

/// Reads to the end.
pub(crate) async fn read(body: Body) -> Vec<u8> {
    read_some(body, usize::MAX).await
}

/// Reads up to some number of bytes, and leaves.
pub(crate) async fn read_some(mut body: Body, most: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < most {
        match body.next().await {
            Some(Ok(frame)) => all.extend_from_slice(&frame),
            Some(Err(_)) | None => break,
        }
    }
    all.truncate(most);
    all
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
