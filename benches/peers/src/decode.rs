//! From bytes to frames, and to typed events.
//!
//! The source is slices of one shared buffer, cut to size.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_openai::types::chat::CreateChatCompletionStreamResponse;
use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::EventDecoder;
use copilot_wire::sse::{Decoder, Frame};
use eventsource_stream::Eventsource as _;
use futures::{Stream, StreamExt as _, stream};
use serde::Deserialize;

use crate::source;
use crate::{Contender, Row};

const EVENTS: usize = 5_000;
/// Events of 64 KiB.
const LARGE: usize = 40;

/// The result that all contenders must agree on: the number of events, and a sum over their text.
pub type Sum = (usize, usize);

#[derive(Clone)]
pub struct Chunks(pub Vec<Bytes>);

impl Chunks {
    pub fn new(wire: String, size: usize) -> Self {
        let wire = Bytes::from(wire);
        let cut = |at: usize| wire.slice(at..wire.len().min(at + size));
        Self((0..wire.len()).step_by(size).map(cut).collect())
    }

    pub fn stream(&self) -> impl Stream<Item = Result<Bytes, Infallible>> + use<> {
        stream::iter(self.0.clone()).map(Ok)
    }
}

pub fn checked(
    contenders: &mut Vec<Contender>,
    expected: &mut Option<Sum>,
    name: &'static str,
    mut run: impl FnMut() -> Sum + 'static,
) {
    let sum = run();
    assert_eq!(sum, *expected.get_or_insert(sum), "{name}");
    contenders.push(Contender::new(name, move || run().1));
}

/// Takes all that a stream has; it is always ready.
pub fn all<T>(stream: impl Stream<Item = T>, mut each: impl FnMut(T)) {
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = stream.as_mut().poll_next(&mut cx) {
        each(item);
    }
}

pub fn frames_tokens(size: usize) -> Row {
    let wire = source::openbb_wire(&source::tokens(EVENTS));
    frames("frames of OpenBB tokens", wire, size, EVENTS)
}

pub fn frames_chunks(size: usize) -> Row {
    let wire = source::openai_wire(EVENTS);
    frames("frames of OpenAI chunks", wire, size, EVENTS)
}

pub fn frames_large(size: usize) -> Row {
    frames("frames of events of 64 KiB", large_wire(), size, LARGE)
}

fn large_wire() -> String {
    let text = source::text(64 * 1024, false);
    source::openbb_wire(&vec![&*text; LARGE])
}

fn frames(name: &'static str, wire: String, size: usize, events: usize) -> Row {
    let chunks = Chunks::new(wire, size);
    let mut contenders = Vec::new();
    let mut expected = None;
    let input = chunks.clone();
    checked(&mut contenders, &mut expected, "copilot-wire", move || {
        let mut decoder = Decoder::new();
        let mut sum = (0, 0);
        for chunk in input.0.clone() {
            let mut rest = &chunk[..];
            while let Some(frame) = decoder.next(&mut rest).unwrap() {
                if let Frame::Event(event) = black_box(frame) {
                    sum = (sum.0 + 1, sum.1 + event.data().len());
                }
            }
        }
        sum
    });
    let input = chunks.clone();
    checked(&mut contenders, &mut expected, "sse-stream", move || {
        let mut sum = (0, 0);
        all(sse_stream::SseByteStream::new(input.stream()), |event| {
            let event = black_box(event.unwrap());
            sum = (sum.0 + 1, sum.1 + event.data.map_or(0, |data| data.len()));
        });
        sum
    });
    let input = chunks.clone();
    checked(&mut contenders, &mut expected, "sseer", move || {
        let mut sum = (0, 0);
        all(sseer::EventStream::new(input.stream()), |event| {
            let event = black_box(event.unwrap());
            sum = (sum.0 + 1, sum.1 + event.data.len());
        });
        sum
    });
    // Quadratic in the length of a line that comes in pieces: seconds for one of 64 KiB in pieces of 16 bytes.
    if size > 16 || events > LARGE {
        let input = chunks.clone();
        let run = move || {
            let mut sum = (0, 0);
            all(input.stream().eventsource(), |event| {
                let event = black_box(event.unwrap());
                sum = (sum.0 + 1, sum.1 + event.data.len());
            });
            sum
        };
        let name = "eventsource-stream";
        checked(&mut contenders, &mut expected, name, run);
    }
    contenders.push(Contender::new("memchr for LF, nothing else", move || {
        let ends = |chunk: Bytes| memchr::memchr_iter(b'\n', &chunk).count();
        chunks.0.iter().cloned().map(ends).sum()
    }));
    row(name, contenders, events)
}

fn row(name: &'static str, contenders: Vec<Contender>, units: usize) -> Row {
    Row {
        name,
        unit: "event",
        units,
        contenders,
    }
}

#[derive(Deserialize)]
struct Delta {
    delta: String,
}

pub fn typed_tokens(size: usize) -> Row {
    let wire = source::openbb_wire(&source::tokens(EVENTS));
    typed_openbb("typed OpenBB tokens", wire, size, EVENTS)
}

pub fn typed_large(size: usize) -> Row {
    typed_openbb("typed OpenBB events of 64 KiB", large_wire(), size, LARGE)
}

fn typed_openbb(name: &'static str, wire: String, size: usize, events: usize) -> Row {
    use copilot_wire::openbb::{Event, Output};

    let chunks = Chunks::new(wire, size);
    let mut contenders = Vec::new();
    let mut expected = None;
    let input = chunks.clone();
    checked(&mut contenders, &mut expected, "copilot-wire", move || {
        let mut decoder = EventDecoder::<OpenBb>::new();
        let mut sum = (0, 0);
        for chunk in input.0.clone() {
            let mut rest = &chunk[..];
            while let Some(event) = decoder.next(&mut rest).unwrap() {
                if let Event::Output(Output::MessageChunk(delta)) = black_box(event) {
                    sum = (sum.0 + 1, sum.1 + delta.len());
                }
            }
        }
        sum
    });
    let input = chunks.clone();
    checked(
        &mut contenders,
        &mut expected,
        "sse-stream and serde_json",
        move || {
            let mut sum = (0, 0);
            all(sse_stream::SseByteStream::new(input.stream()), |event| {
                let event = event.unwrap();
                if event.event.as_deref() == Some("copilotMessageChunk") {
                    add(&mut sum, &event.data.unwrap_or_default());
                }
            });
            sum
        },
    );
    checked(
        &mut contenders,
        &mut expected,
        "sseer and serde_json",
        move || {
            let mut sum = (0, 0);
            all(sseer::EventStream::new(chunks.stream()), |event| {
                let event = event.unwrap();
                if &*event.event == "copilotMessageChunk" {
                    add(&mut sum, &event.data);
                }
            });
            sum
        },
    );
    row(name, contenders, events)
}

fn add(sum: &mut Sum, data: &str) {
    let delta = black_box(serde_json::from_str::<Delta>(data).unwrap().delta);
    *sum = (sum.0 + 1, sum.1 + delta.len());
}

pub fn typed_chunks(size: usize) -> Row {
    use copilot_wire::openai::{Event, OpenAi};

    fn length(chunk: CreateChatCompletionStreamResponse) -> usize {
        let choice = black_box(chunk).choices.swap_remove(0);
        choice.delta.content.map_or(0, |content| content.len())
    }

    let chunks = Chunks::new(source::openai_wire(EVENTS), size);
    let mut contenders = Vec::new();
    let mut expected = None;
    let input = chunks.clone();
    checked(&mut contenders, &mut expected, "copilot-wire", move || {
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut sum = (0, 0);
        for chunk in input.0.clone() {
            let mut rest = &chunk[..];
            while let Some(event) = decoder.next(&mut rest).unwrap() {
                if let Event::Chunk(chunk) = black_box(event) {
                    let text = chunk
                        .choices
                        .first()
                        .and_then(|choice| choice.delta.content.as_ref());
                    sum = (sum.0 + 1, sum.1 + text.map_or(0, |text| text.len()));
                }
            }
        }
        sum
    });
    let input = chunks.clone();
    checked(
        &mut contenders,
        &mut expected,
        "sse-stream and async-openai's type",
        move || {
            let mut sum = (0, 0);
            all(sse_stream::SseByteStream::new(input.stream()), |event| {
                let data = event.unwrap().data.unwrap_or_default();
                sum = (
                    sum.0 + 1,
                    sum.1 + length(serde_json::from_str(&data).unwrap()),
                );
            });
            sum
        },
    );
    checked(
        &mut contenders,
        &mut expected,
        "eventsource-stream and async-openai's type",
        move || {
            let mut sum = (0, 0);
            all(chunks.stream().eventsource(), |event| {
                let data = event.unwrap().data;
                sum = (
                    sum.0 + 1,
                    sum.1 + length(serde_json::from_str(&data).unwrap()),
                );
            });
            sum
        },
    );
    row("typed OpenAI chunks", contenders, EVENTS)
}
