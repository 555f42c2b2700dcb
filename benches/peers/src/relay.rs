//! A token from a model's stream to a front end's: read in one dialect and written in another, or passed on in the same.
//!
//! The stream of the model comes in pieces of 1460 bytes, all of which are ready.

use std::hint::black_box;
use std::marker::PhantomData;

use bytes::Bytes;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::protocol::{AgentError, Env};
use copilot_wire::{Agent, Body, Protocol, Reply, Request, async_trait};
use futures::{Stream, StreamExt as _};
use guard::relay::Gateway;

use crate::decode::{Chunks, wire_of};
use crate::encode::{Checked, drain, sse_stream_body};
use crate::peer::Peer;
use crate::{Case, source};

/// The pair by hand, at its best.
pub const BOTH_WAYS: &str = "sse-stream both ways, serde_json (body)";

/// An agent that relays a model's stream.
struct Relaying<U>(Chunks, PhantomData<fn() -> U>);

#[async_trait]
impl<U: Upstream, P: Protocol> Agent<P> for Relaying<U> {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut relay = Relay::<U>::new();
        for piece in &self.0.0 {
            relay.pass(black_box(piece), &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}

/// Returns a function that asks an agent.
fn asking<P: Peer, A: Agent<P> + 'static>(agent: impl Fn() -> A) -> impl Fn() -> Body {
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    move || {
        let read = P::read(&parts, Bytes::from_static(P::REQUEST.as_bytes()));
        let request = read.map_err(|_| "refused").unwrap();
        Body::run(agent(), Request::<P>::new(request), &env)
    }
}

/// The stream of a model as it is read by hand: what `each` makes of every text.
fn by_hand<U: Peer, T>(chunks: &Chunks, each: impl Fn(usize, &str) -> T) -> impl Stream<Item = T> {
    let mut number = 0;
    sse_stream::SseByteStream::new(chunks.stream()).filter_map(move |event| {
        let event = event.unwrap();
        let is_text = event.event.as_deref() == U::EVENT;
        let data = event.data.filter(|_| is_text);
        let text = data.as_deref().and_then(U::read_text);
        let made = text.map(|text| {
            number += 1;
            each(number, &text)
        });
        std::future::ready(made)
    })
}

/// `count` tokens of a model that speaks `U`, for a front end that speaks `P`.
pub fn case<U: Upstream + Peer, P: Peer>(count: usize) -> Case {
    beside_hands::<U, P, _>(count, "copilot-wire, Relay and Body", |pieces| {
        Relaying::<U>(pieces, PhantomData)
    })
}

/// `count` tokens of a model, for a front end that speaks its dialect.
pub fn passage<U: Upstream + Peer>(count: usize) -> Case {
    beside_hands::<U, U, _>(count, "copilot-wire, Passthrough and Body", |pieces| {
        Gateway::<U>::new(pieces.0)
    })
}

fn beside_hands<U: Upstream + Peer, P: Peer, A: Agent<P> + 'static>(
    count: usize,
    name: &'static str,
    agent: fn(Chunks) -> A,
) -> Case {
    let chunks = Chunks::new(wire_of::<U>(source::tokens(count).leak()), 1460);
    let data = |number, text: &str| serde_json::to_string(&P::data(number, text)).unwrap();
    let mut case = Checked::new(P::text_of);
    let input = chunks.clone();
    let ours = asking::<P, _>(move || agent(input.clone()));
    case.ours(name, move |out| drain(ours(), out));
    let input = chunks.clone();
    case.peer(BOTH_WAYS, move |out| {
        let body = sse_stream_body(by_hand::<U, _>(&input, data), |data| {
            let event = sse_stream::Sse::default().data(data);
            match P::EVENT {
                Some(name) => event.event(name),
                None => event,
            }
        });
        drain(body, out)
    });
    case.peer("sse-stream, serde_json, format!", move |out| {
        let mut length = 0;
        let events = by_hand::<U, _>(&chunks, |number, text| {
            let data = data(number, text);
            Bytes::from(match P::EVENT {
                Some(name) => format!("event: {name}\ndata: {data}\n\n"),
                None => format!("data: {data}\n\n"),
            })
        });
        crate::decode::all(events, |event| {
            let event = black_box(event);
            out(&event);
            length += event.len();
        });
        length
    });
    case.build(count)
}
