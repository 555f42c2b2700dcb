//! From an agent's words to the frames of a body.

use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::mcp::Mcp;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures_core::Stream;

use crate::Path;
use crate::requests::{AG_UI, ANTHROPIC, GITHUB, MCP, OPENAI, OPENBB, RESPONSES, UI_STREAM};
use crate::requests::{ANTHROPIC_DOCUMENT, OPENAI_DOCUMENT, RESPONSES_DOCUMENT};
use crate::source::{self, ANSWERS, LARGE, SAMPLE, Sample};

pub type Words = &'static [&'static str];

/// An agent that says these pieces of text, and waits for each where `waits` is set, as for a model.
#[derive(Clone)]
pub struct Speaker {
    pub words: Words,
    pub waits: bool,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Speaker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for word in self.words {
            if self.waits {
                tokio::task::yield_now().await;
            }
            reply.text(black_box(word)).await?;
        }
        Ok(())
    }
}

/// Polls a body to its end, which is always ready. Returns its frames.
pub fn frames(mut body: Body) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut body).poll_next(&mut cx) {
            Poll::Ready(Some(Ok(frame))) => Some(frame),
            _ => None,
        }
    })
}

/// Returns a function that answers `request` with `words`.
pub fn answer<P: Protocol>(request: &'static str, words: Words) -> impl FnMut() -> Body {
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    move || {
        let read = P::read(&parts, Bytes::from_static(request.as_bytes()));
        let message = read.map_err(|_| "refused").unwrap();
        let agent = Speaker {
            words,
            waits: false,
        };
        Body::run(agent, Request::<P>::new(message), &env)
    }
}

fn path<P: Protocol>(
    name: impl std::fmt::Display,
    unit: &'static str,
    units: usize,
    request: &'static str,
    words: impl Fn() -> Vec<&'static str> + Clone + 'static,
) -> Path {
    Path::new(name, unit, units, move || {
        let mut answer = answer::<P>(request, words().leak());
        Box::new(move || frames(answer()).map(|frame| black_box(frame).len()).sum())
    })
}

fn tokens<P: Protocol>(request: &'static str) -> impl Iterator<Item = Path> {
    ANSWERS.into_iter().map(move |number| {
        let name = format!("token-{}-{number}", P::NAME);
        path::<P>(name, "event", number, request, move || {
            source::tokens(number)
        })
    })
}

fn large<P: Protocol>(request: &'static str) -> impl Iterator<Item = Path> {
    source::TEXTS.into_iter().map(move |(kind, text)| {
        let name = format!("large-{}-{kind}", P::NAME);
        path::<P>(name, "event", LARGE, request, move || {
            vec![&*text(64 * 1024).leak(); LARGE]
        })
    })
}

/// The text that models write, in tokens and in pieces of 1 KiB.
fn samples<P: Protocol>(request: &'static str) -> impl Iterator<Item = Path> {
    Sample::ALL.iter().flat_map(move |(kind, sample)| {
        let tokens = format!("sample-{}-{kind}", P::NAME);
        let pieces = format!("piece-{}-{kind}", P::NAME);
        [
            path::<P>(tokens, "event", SAMPLE, request, || sample.tokens(SAMPLE)),
            path::<P>(pieces, "event", 100, request, || {
                vec![&*sample.of_length(1024).leak(); 100]
            }),
        ]
    })
}

/// An answer that is one document.
fn documents() -> impl Iterator<Item = Path> {
    let at_once = || vec![&*source::tokens(2000).concat().leak()];
    [
        path::<OpenAi>("document-openai-1", "answer", 1, OPENAI_DOCUMENT, || {
            source::tokens(1)
        }),
        path::<OpenAi>("document-openai-2000", "answer", 1, OPENAI_DOCUMENT, || {
            source::tokens(2000)
        }),
        path::<OpenAi>(
            "document-openai-at-once",
            "answer",
            1,
            OPENAI_DOCUMENT,
            at_once,
        ),
        path::<Anthropic>(
            "document-anthropic-2000",
            "answer",
            1,
            ANTHROPIC_DOCUMENT,
            || source::tokens(2000),
        ),
        path::<Responses>(
            "document-responses-2000",
            "answer",
            1,
            RESPONSES_DOCUMENT,
            || source::tokens(2000),
        ),
    ]
    .into_iter()
}

/// 200 events on a runtime with a timer: at once, or each waited for.
fn plumbing() -> impl Iterator<Item = Path> {
    const EVENTS: usize = 200;
    [("burst", false), ("paced", true)]
        .into_iter()
        .map(|(name, waits)| {
            Path::new(format!("plumbing-{name}"), "event", EVENTS, move || {
                let words: Words = source::tokens(EVENTS).leak();
                let builder = tokio::runtime::Builder::new_current_thread();
                let runtime = { builder }.enable_time().build().unwrap();
                let (parts, ()) = http::Request::new(()).into_parts();
                let query = OpenBb::read(&parts, Bytes::from_static(OPENBB.as_bytes())).unwrap();
                let env = Env::default();
                Box::new(move || {
                    runtime.block_on(async {
                        let request = Request::<OpenBb>::new(query.clone());
                        let mut body = Body::run(Speaker { words, waits }, request, &env);
                        let mut length = 0;
                        while let Some(Ok(frame)) =
                            std::future::poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await
                        {
                            length += black_box(frame).len();
                        }
                        length
                    })
                })
            })
        })
}

pub(crate) fn paths() -> Vec<Path> {
    let editors = tokens::<copilot_wire_acp::Acp>(crate::requests::ACP);
    tokens::<OpenBb>(OPENBB)
        .chain(tokens::<GitHub>(GITHUB))
        .chain(tokens::<OpenAi>(OPENAI))
        .chain(tokens::<Responses>(RESPONSES))
        .chain(tokens::<Anthropic>(ANTHROPIC))
        .chain(tokens::<Meilisearch>(OPENAI))
        .chain(tokens::<UiStream>(UI_STREAM))
        .chain(tokens::<AgUi>(AG_UI))
        .chain(tokens::<Mcp>(MCP))
        .chain(editors)
        .chain(samples::<OpenBb>(OPENBB))
        .chain(samples::<Responses>(RESPONSES))
        .chain(large::<OpenBb>(OPENBB))
        .chain(large::<OpenAi>(OPENAI))
        .chain(large::<Responses>(RESPONSES))
        .chain(documents())
        .chain(plumbing())
        .collect()
}
