//! The cost of a token from the agent to the frame, beside code written by hand.
//!
//! ```sh
//! cargo bench --features anthropic --bench reply
//! ```

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use futures::Stream;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Tokens like a model's: a few letters, at times a quote or a letter beyond ASCII.
const TOKENS: [&str; 20] = [
    "The", " latest", " close", " of", " AAPL", " is", " 233", ".", "85", ",", " up", " 1", ".2",
    " %", " since", " “", "Monday", "”", ".\n", " \"Buy\"",
];
const EVENTS: usize = 200;

fn tokens() -> impl Iterator<Item = &'static str> {
    TOKENS.iter().copied().cycle().take(EVENTS)
}

struct Speaker;

#[async_trait]
impl<P: Protocol> Agent<P> for Speaker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for token in tokens() {
            reply.text(black_box(token)).await?;
        }
        Ok(())
    }
}

fn drain(mut body: Body) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut length = 0;
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_next(&mut cx) {
        length += black_box(frame).len();
    }
    length
}

/// The whole way: agent, reply, body. The request is there already.
fn reply_200_tokens<P: Protocol>(bencher: Bencher<'_, '_>, body: &'static [u8]) {
    let env = Env::default();
    let body = Bytes::from_static(body);
    let (parts, ()) = http::Request::new(()).into_parts();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .with_inputs(|| Request::<P>::new(P::read(&parts, body.clone()).unwrap()))
        .bench_values(|request| drain(Body::run(Speaker, request, &env)));
}

#[divan::bench]
fn openbb_reply_200_tokens(bencher: Bencher<'_, '_>) {
    let body = br#"{"messages":[{"role":"human","content":"hi"}]}"#;
    reply_200_tokens::<OpenBb>(bencher, body);
}

#[cfg(feature = "anthropic")]
#[divan::bench]
fn anthropic_reply_200_tokens(bencher: Bencher<'_, '_>) {
    let body = br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    reply_200_tokens::<copilot_wire::anthropic::Anthropic>(bencher, body);
}

/// One event into a buffer that is there already.
#[divan::bench]
fn openbb_text_alone_200_tokens(bencher: Bencher<'_, '_>) {
    let env = Env::default();
    let body = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let request = OpenBb::read(&parts, body).unwrap();
    let mut session = OpenBb::session(&request, &(), &env);
    let mut out = Vec::with_capacity(64 * 1024);
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        out.clear();
        for token in tokens() {
            session.text(black_box(token), &mut out).unwrap();
        }
        out.len()
    });
}

/// The same for events that are numbered and whose text is kept.
#[cfg(feature = "responses")]
#[divan::bench]
fn responses_reply_200_tokens(bencher: Bencher<'_, '_>) {
    use copilot_wire::responses::Responses;

    let env = Env::default();
    let body = Bytes::from_static(br#"{"stream":true,"input":"hi"}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .with_inputs(|| Request::<Responses>::new(Responses::read(&parts, body.clone()).unwrap()))
        .bench_values(|request| drain(Body::run(Speaker, request, &env)));
}

/// One numbered event into a buffer that is there already.
#[cfg(feature = "responses")]
#[divan::bench]
fn responses_text_alone_200_tokens(bencher: Bencher<'_, '_>) {
    use copilot_wire::responses::{Responses, Storage};

    let env = Env::default();
    let body = Bytes::from_static(br#"{"stream":true,"input":"hi"}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let request = Responses::read(&parts, body).unwrap();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .with_inputs(|| {
            let mut session = Responses::session(&request, &Storage::default(), &env);
            let mut out = Vec::with_capacity(64 * 1024);
            session.text("The", &mut out).unwrap();
            (session, out)
        })
        .bench_local_values(|(mut session, mut out)| {
            for token in tokens() {
                session.text(black_box(token), &mut out).unwrap();
            }
            (session, out)
        });
}

#[derive(serde::Serialize)]
struct Delta<'a> {
    delta: &'a str,
}

/// Encodes an event by hand.
#[divan::bench]
fn format_and_serde_json_200_tokens(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        let mut length = 0;
        for token in tokens() {
            let data = serde_json::to_string(&Delta {
                delta: black_box(token),
            })
            .unwrap();
            let event = format!("event: copilotMessageChunk\ndata: {data}\n\n");
            length += black_box(Bytes::from(event)).len();
        }
        length
    });
}
