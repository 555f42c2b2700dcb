//! From a model's stream to a front end: passed on, relayed, and asked for with a profile.

use std::hint::black_box;
use std::marker::PhantomData;

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::Wire as _;
use copilot_wire::models::{Passthrough, Profile, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Body, Reply, Request, async_trait};

use crate::Path;
use crate::reply::{answer, frames};
use crate::requests::{ANTHROPIC, OPENAI, RESPONSES};
use crate::source;

/// The length in bytes of a piece in which a model's stream arrives: that of a packet.
const PIECE: usize = 1460;

/// An agent whose reply is the answer of a model's server and nothing else.
pub struct Gateway<U>(Vec<Bytes>, PhantomData<fn() -> U>);

impl<U> Gateway<U> {
    /// Creates an agent from the pieces in which the answer arrives.
    pub fn new(pieces: Vec<Bytes>) -> Self {
        Self(pieces, PhantomData)
    }
}

#[async_trait]
impl<U: Upstream, P: Protocol> Agent<P> for Gateway<U> {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut passthrough = Passthrough::<U, P>::new(&request, reply);
        for piece in &self.0 {
            passthrough.write(black_box(piece)).await?;
        }
        Ok(passthrough.end().await?)
    }
}

/// A stream of so many tokens of a model that speaks `U`, for a front end that speaks `P`.
fn relay<U: Upstream, P: Protocol>(
    kind: &'static str,
    (of_model, of_front_end): (&'static str, &'static str),
    tokens: usize,
) -> Path {
    let name = format!("{kind}-{tokens}");
    Path::new(name, "token", tokens, move || {
        let stream = frames(answer::<U>(of_model, source::tokens(tokens).leak())());
        let stream = Bytes::from(stream.collect::<Vec<_>>().concat());
        let pieces = stream
            .chunks(PIECE)
            .map(|piece| stream.slice_ref(piece))
            .collect::<Vec<_>>();
        let (parts, ()) = http::Request::new(()).into_parts();
        let env = Env::default();
        Box::new(move || {
            let read = P::read(&parts, Bytes::from_static(of_front_end.as_bytes()));
            let request = Request::<P>::new(read.map_err(|_| "refused").unwrap());
            let agent = Gateway::<U>::new(pieces.clone());
            frames(Body::run(agent, request, &env))
                .map(|frame| black_box(frame).len())
                .sum()
        })
    })
}

/// A conversation as the request to a server that demands much: no late system messages, and strict ids.
fn profile(turns: usize) -> Path {
    Path::new(format!("profile-{turns}"), "turn", turns, move || {
        let body = source::conversation(turns);
        let (parts, ()) = http::Request::new(()).into_parts();
        let profile = Profile::of("api.mistral.ai", None);
        Box::new(move || {
            let query = OpenBb::read(&parts, black_box(body.clone())).unwrap();
            let request = Request::<OpenBb>::new(query);
            profile.ask::<OpenAi, _>(&request).to_json().len()
        })
    })
}

pub(crate) fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for tokens in [10, 10_000] {
        paths.push(relay::<OpenAi, OpenAi>(
            "passage-openai",
            (OPENAI, OPENAI),
            tokens,
        ));
        let same = (RESPONSES, RESPONSES);
        paths.push(relay::<Responses, Responses>(
            "passage-responses",
            same,
            tokens,
        ));
        let same = (ANTHROPIC, ANTHROPIC);
        paths.push(relay::<Anthropic, Anthropic>(
            "passage-anthropic",
            same,
            tokens,
        ));
        let dialects = (OPENAI, ANTHROPIC);
        paths.push(relay::<OpenAi, Anthropic>(
            "relay-openai-anthropic",
            dialects,
            tokens,
        ));
        let dialects = (RESPONSES, OPENAI);
        paths.push(relay::<Responses, OpenAi>(
            "relay-responses-openai",
            dialects,
            tokens,
        ));
    }
    paths.push(profile(20));
    paths
}
