//! A reply of 200 tokens with and without `Router::resumable`, for callgrind:
//!
//! ```sh
//! cargo bench --no-run --features resumable,tokio --bench stored # prints the name of the program
//! valgrind --tool=callgrind --toggle-collect='stored::counted*' PROGRAM resumable waits
//! ```
//!
//! Without the word `resumable` replies are ordinary ones, without `waits` the agent writes all at once. The results are in
//! `crates/redis/README.md`.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::convert::Infallible;
use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;

use bytes::Bytes;
use copilot_wire::openai::Model;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::{StreamExt as _, stream};
use tokio::runtime::Runtime;

const TOKENS: usize = 200;
const REPLIES: usize = 100;
const REQUEST: &[u8] =
    br#"{"model":"talker","stream":true,"messages":[{"role":"user","content":"Hello"}]}"#;

/// Says one word after the other, and waits for each where `waits` is set, as for a model.
struct Talker {
    waits: bool,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Talker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for _ in 0..TOKENS {
            if self.waits {
                wait().await;
            }
            reply.text(" token").await?;
        }
        Ok(())
    }
}

/// Is ready when it is polled for the second time.
async fn wait() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|it| it == word);
    let mut router = Router::new()
        .mount(
            Model::new("talker"),
            Talker {
                waits: has("waits"),
            },
        )
        .unwrap();
    if has("resumable") {
        router = resumable(router);
    }
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_time().build().unwrap();
    // What happens once.
    counted(&runtime, &router);
    for _ in 0..REPLIES {
        counted(&runtime, &router);
    }
}

/// Runs one reply. Without a closure, whose name would begin with that of the function and switch the counting off.
#[inline(never)]
fn counted(runtime: &Runtime, router: &Router) {
    black_box(answer(runtime, router));
}

#[cfg(feature = "resumable")]
fn resumable(router: Router) -> Router {
    use copilot_wire::replies::{MemoryReplyStore, Replies};
    router.resumable(Replies::single_user(MemoryReplyStore::new(), tokio::spawn).join(true))
}

#[cfg(not(feature = "resumable"))]
fn resumable(_: Router) -> Router {
    panic!("the feature `resumable` is off")
}

/// Returns the size of one reply.
fn answer(runtime: &Runtime, router: &Router) -> usize {
    runtime.block_on(async {
        let request = http::Request::post("/v1/chat/completions")
            .header("content-type", "application/json")
            .body(stream::iter([Ok::<_, Infallible>(Bytes::from_static(
                REQUEST,
            ))]))
            .unwrap();
        let mut body = router.handle(request).await.into_body();
        let mut size = 0;
        while let Some(frame) = body.next().await {
            size += frame.unwrap().len();
        }
        size
    })
}
