//! From an agent that waits to a body, on one thread.
//!
//! In a burst the tokens are always there. Paced, every one of them waits for a real wake by another
//! task, which plays the model.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Environment, Protocol, Ticks};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::StreamExt as _;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::encode::axum_body;
use crate::peer::Delta;
use crate::source;
use crate::{Case, Contender, Kind};

/// Without a timer there is no keep-alive: the peers have none either.
struct NoTimer;

impl Environment for NoTimer {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
        None
    }
}

/// The source of the tokens.
enum Model {
    Ready(std::slice::Iter<'static, &'static str>),
    Paced(mpsc::Receiver<&'static str>),
}

impl Model {
    /// Spawns a task that hands out a token whenever it is its turn, when `paced`.
    fn start(words: &'static [&'static str], paced: bool) -> Self {
        if !paced {
            return Self::Ready(words.iter());
        }
        let (to, from) = mpsc::channel(1);
        tokio::spawn(async move {
            for word in words {
                let _ = to.send(*word).await;
                tokio::task::yield_now().await;
            }
        });
        Self::Paced(from)
    }

    async fn next(&mut self) -> Option<&'static str> {
        match self {
            Self::Ready(words) => words.next().map(|word| black_box(*word)),
            Self::Paced(from) => from.recv().await,
        }
    }
}

struct Modelled {
    words: &'static [&'static str],
    paced: bool,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Modelled {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut model = Model::start(self.words, self.paced);
        while let Some(word) = model.next().await {
            reply.text(word).await?;
        }
        Ok(())
    }
}

async fn drain<B: http_body::Body<Data = Bytes>>(body: B) -> Vec<u8> {
    let mut body = pin!(body);
    let mut wire = Vec::with_capacity(16 * 1024);
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        if let Some(data) = frame.ok().and_then(|frame| frame.into_data().ok()) {
            wire.extend_from_slice(&data);
        }
    }
    wire
}

fn event(delta: &str) -> Event {
    Event::default()
        .event("copilotMessageChunk")
        .json_data(Delta { delta })
        .unwrap()
}

/// An answer of so many events.
pub fn case(events: usize, paced: bool) -> Case {
    let words: &'static [&'static str] = source::tokens(events).leak();
    let runtime = Arc::new(
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap(),
    );
    let on = |runtime: &Arc<Runtime>| Arc::clone(runtime);
    let body = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let query = OpenBb::read(&parts, body).unwrap();
    let agent = Arc::new(Modelled { words, paced });

    let mut all: Vec<(&'static str, Box<dyn FnMut() -> Vec<u8>>)> = Vec::new();
    for (name, env) in [
        ("copilot-wire", Env::default()),
        ("copilot-wire, no keep-alive", Env::new(NoTimer)),
    ] {
        let (ours, query, agent) = (on(&runtime), query.clone(), Arc::clone(&agent));
        all.push((
            name,
            Box::new(move || {
                ours.block_on(async {
                    let request = Request::<OpenBb>::new(query.clone());
                    drain(Body::run(Arc::clone(&agent), request, &env)).await
                })
            }),
        ));
    }
    let naive = on(&runtime);
    all.push((
        "async-stream, format! frames",
        Box::new(move || {
            naive.block_on(async {
                let mut frames = pin!(async_stream::stream! {
                    let mut model = Model::start(words, paced);
                    while let Some(delta) = model.next().await {
                        let data = serde_json::to_string(&Delta { delta }).unwrap();
                        yield Bytes::from(format!("event: copilotMessageChunk\ndata: {data}\n\n"));
                    }
                });
                let mut wire = Vec::with_capacity(16 * 1024);
                while let Some(frame) = frames.next().await {
                    wire.extend_from_slice(&black_box(frame));
                }
                wire
            })
        }),
    ));
    let spawn = on(&runtime);
    all.push((
        "mpsc, spawn and axum",
        Box::new(move || {
            spawn.block_on(async {
                let (to, from) = mpsc::channel(32);
                tokio::spawn(async move {
                    let mut model = Model::start(words, paced);
                    while let Some(word) = model.next().await {
                        let _ = to.send(word).await;
                    }
                });
                drain(axum_body(ReceiverStream::new(from), event)).await
            })
        }),
    ));
    all.push((
        "async-stream and axum",
        Box::new(move || {
            runtime.block_on(async {
                drain(axum_body(
                    async_stream::stream! {
                        let mut model = Model::start(words, paced);
                        while let Some(word) = model.next().await {
                            yield word;
                        }
                    },
                    event,
                ))
                .await
            })
        }),
    ));
    let mut contenders = Vec::new();
    let mut expected: Option<String> = None;
    for (name, mut run) in all {
        // axum leaves out the space behind the colon.
        let wire = String::from_utf8(run()).unwrap();
        let wire = wire
            .replace("event:c", "event: c")
            .replace("data:{", "data: {");
        assert_eq!(wire, *expected.get_or_insert(wire.clone()), "{name}");
        let kind = match name.starts_with("copilot-wire") {
            true => Kind::Ours,
            false => Kind::Peer,
        };
        contenders.push(Contender::of(kind, name, move || black_box(run()).len()));
    }
    Case {
        units: events,
        contenders,
    }
}
