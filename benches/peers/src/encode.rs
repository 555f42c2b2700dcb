//! From an agent's words to body frames.
//!
//! Rows marked "body" go through the crate's own response body, polled frame by frame from a source
//! that is always ready, without keep-alive.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use actix_web::body::MessageBody;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use bytes::{Buf, Bytes};
use copilot_wire::json::Escape;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::sse::{Decoder, EventWriter, Frame};
use copilot_wire::{Agent, Body, Reply, Request, async_trait, event_name};
use futures::{Stream, stream};
use serde::Serialize;
use serde_json::Value;

use crate::source::{self, Price, Sample};
use crate::{Contender, Row};

const CHUNK: &str = "copilotMessageChunk";
const ARTIFACT: &str = "copilotMessageArtifact";

/// Polls a body to its end; every poll must be ready.
pub fn drain<B: http_body::Body<Data: Buf>>(body: B, mut each: impl FnMut(&[u8])) -> usize {
    let mut body = pin!(body);
    let mut cx = Context::from_waker(Waker::noop());
    let mut length = 0;
    while let Poll::Ready(Some(frame)) = body.as_mut().poll_frame(&mut cx) {
        if let Some(data) = frame.ok().and_then(|frame| frame.into_data().ok()) {
            let data = black_box(data);
            length += data.remaining();
            each(data.chunk());
        }
    }
    length
}

/// The same for actix, which has a trait of its own.
pub fn drain_actix(body: impl MessageBody, mut each: impl FnMut(&[u8])) -> usize {
    let mut body = pin!(body);
    let mut cx = Context::from_waker(Waker::noop());
    let mut length = 0;
    while let Poll::Ready(Some(frame)) = body.as_mut().poll_next(&mut cx) {
        if let Ok(data) = frame {
            let data = black_box(data);
            length += data.len();
            each(&data);
        }
    }
    length
}

/// Every event of a stream that `text` finds a text in: its name and that text or value.
fn decoded(wire: &[u8], text: Text) -> Vec<(String, Value)> {
    let mut decoder = Decoder::new().limit(64 * 1024 * 1024);
    let mut rest = wire;
    let mut events = Vec::new();
    while let Some(frame) = decoder.next(&mut rest).unwrap() {
        let Frame::Event(event) = frame else { continue };
        let data = serde_json::from_str(event.data()).ok().and_then(text);
        events.extend(data.map(|data| (event.name().to_owned(), data)));
    }
    events
}

/// A function that returns the content of an event that all contenders write: the crate also writes
/// beginnings and ends.
pub type Text = fn(Value) -> Option<Value>;

/// Collects contenders, each checked against the first.
pub struct Checked {
    contenders: Vec<Contender>,
    expected: Option<Vec<(String, Value)>>,
    text: Text,
}

impl Checked {
    pub fn new(text: Text) -> Self {
        Self {
            contenders: Vec::new(),
            expected: None,
            text,
        }
    }

    /// `run` calls its argument with every piece of output.
    pub fn add(
        &mut self,
        name: &'static str,
        mut run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        let mut wire = Vec::new();
        let length = run(&mut |piece| wire.extend_from_slice(piece));
        assert_eq!(length, wire.len(), "{name}");
        let events = decoded(&wire, self.text);
        let expected = self.expected.get_or_insert_with(|| events.clone());
        let differ = events
            .iter()
            .zip(&*expected)
            .find(|(this, that)| this != that);
        assert_eq!(differ, None, "{name}");
        assert_eq!(events.len(), expected.len(), "{name}");
        assert!(!events.is_empty(), "{name}");
        self.contenders
            .push(Contender::new(name, move || run(&mut |_| ())));
    }

    pub fn row(self, name: &'static str, unit: &'static str, units: usize) -> Row {
        Row {
            name,
            unit,
            units,
            contenders: self.contenders,
        }
    }
}

/// An agent that says these pieces of text.
pub struct Words(pub &'static [&'static str]);

#[async_trait]
impl<P: Protocol> Agent<P> for Words {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for word in self.0 {
            reply.text(black_box(word)).await?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
pub struct Delta<'a> {
    pub delta: &'a str,
}

fn openbb(words: &'static [&'static str], name: &'static str, unit: &'static str) -> Row {
    let mut row = Checked::new(Some);
    let each = move || stream::iter(words.iter().map(|word| black_box(*word)));
    let body = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    row.add("copilot-wire, Reply and Body", move |out| {
        let request = Request::<OpenBb>::new(OpenBb::read(&parts, body.clone()).unwrap());
        drain(Body::run(Words(words), request, &env), out)
    });
    row.add("axum, json_data (body)", move |out| {
        drain(
            axum_body(each(), |delta| {
                Event::default()
                    .event(CHUNK)
                    .json_data(Delta { delta })
                    .unwrap()
            }),
            out,
        )
    });
    row.add("axum, data(to_string) (body)", move |out| {
        drain(
            axum_body(each(), |delta| {
                let data = serde_json::to_string(&Delta { delta }).unwrap();
                Event::default().event(CHUNK).data(data)
            }),
            out,
        )
    });
    row.add("actix-web-lab (body)", move |out| {
        drain_actix(
            actix_body(each(), |delta| {
                let data = serde_json::to_string(&Delta { delta }).unwrap();
                actix_web_lab::sse::Data::new(data).event(CHUNK)
            }),
            out,
        )
    });
    row.add("sse-stream (body)", move |out| {
        drain(
            sse_stream_body(each(), |delta| {
                let data = serde_json::to_string(&Delta { delta }).unwrap();
                sse_stream::Sse::default().event(CHUNK).data(data)
            }),
            out,
        )
    });
    row.add("format! and to_string", move |out| {
        words
            .iter()
            .map(|delta| {
                let data = serde_json::to_string(&Delta {
                    delta: black_box(delta),
                })
                .unwrap();
                let event = black_box(Bytes::from(format!("event: {CHUNK}\ndata: {data}\n\n")));
                out(&event);
                event.len()
            })
            .sum()
    });
    let mut buffer = Vec::new();
    row.add("loop on json-escape-simd, reused Vec", move |out| {
        buffer.clear();
        for word in words {
            buffer.extend_from_slice(b"event: copilotMessageChunk\ndata: {\"delta\":");
            json_escape_simd::escape_into(black_box(*word), &mut buffer);
            buffer.extend_from_slice(b"}\n\n");
        }
        out(&buffer);
        black_box(&buffer).len()
    });
    row.row(name, unit, words.len())
}

pub fn openbb_tokens(count: usize) -> Row {
    openbb(source::tokens(count).leak(), "OpenBB token events", "event")
}

/// Text as a model writes it, in tokens.
pub fn sample(sample: Sample) -> Row {
    let name = "OpenBB token events of one kind of text";
    openbb(sample.tokens(2000).leak(), name, "event")
}

pub fn clean_deltas(count: usize) -> Row {
    let text = source::text(64 * 1024, false);
    deltas(text, count, "events of 64 KiB without escapes")
}

pub fn dirty_deltas(count: usize) -> Row {
    let text = source::text(64 * 1024, true);
    deltas(text, count, "events of 64 KiB with 3 % escapes")
}

pub fn markdown_deltas(count: usize) -> Row {
    let text = source::markdown(64 * 1024);
    deltas(text, count, "events of 64 KiB of Markdown")
}

fn deltas(text: String, count: usize, name: &'static str) -> Row {
    let text: &'static str = text.leak();
    openbb(vec![text; count].leak(), name, "event")
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Content<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Content<'a> {
    content: &'a str,
}

fn chunk(content: &str) -> Chunk<'_> {
    Chunk {
        id: black_box("chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE"),
        object: "chat.completion.chunk",
        created: black_box(1_763_712_345),
        model: black_box("gpt-4o-mini-2024-07-18"),
        choices: [Choice {
            index: 0,
            delta: Content { content },
            finish_reason: None,
        }],
    }
}

/// Nothing but the bytes, in blocks of the size of our frames.
fn copying(wire: Vec<u8>) -> impl FnMut(&mut dyn FnMut(&[u8])) -> usize {
    let mut to = vec![0; 16 * 1024];
    move |out| {
        for block in wire.chunks(to.len()) {
            let to = &mut to[..block.len()];
            to.copy_from_slice(black_box(block));
            out(black_box(to));
        }
        wire.len()
    }
}

pub fn openai_chunks(count: usize) -> Row {
    use copilot_wire::openai::OpenAi;

    let words: &'static [&'static str] = source::tokens(count).leak();
    // A stream begins with the role and ends with the reason.
    let mut row = Checked::new(|mut chunk| {
        let content = chunk["choices"][0]["delta"]["content"].take();
        content
            .as_str()
            .is_some_and(|text| !text.is_empty())
            .then_some(content)
    });
    let each = move || stream::iter(words.iter().map(|word| black_box(*word)));
    let body = Bytes::from_static(
        br#"{"model":"gpt-4o-mini-2024-07-18","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
    );
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    let mut wire = Vec::new();
    let request = OpenAi::read(&parts, body.clone()).unwrap();
    drain(
        Body::run(Words(words), Request::<OpenAi>::new(request), &env),
        |piece| {
            wire.extend_from_slice(piece);
        },
    );
    row.add("copilot-wire, Reply and Body", move |out| {
        let request = Request::<OpenAi>::new(OpenAi::read(&parts, body.clone()).unwrap());
        drain(Body::run(Words(words), request, &env), out)
    });
    row.add("axum, json_data (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                Event::default().json_data(chunk(word)).unwrap()
            }),
            out,
        )
    });
    row.add("axum, data(to_string) (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                Event::default().data(serde_json::to_string(&chunk(word)).unwrap())
            }),
            out,
        )
    });
    row.add("actix-web-lab (body)", move |out| {
        drain_actix(
            actix_body(each(), |word| {
                actix_web_lab::sse::Data::new(serde_json::to_string(&chunk(word)).unwrap())
            }),
            out,
        )
    });
    row.add("sse-stream (body)", move |out| {
        drain(
            sse_stream_body(each(), |word| {
                sse_stream::Sse::default().data(serde_json::to_string(&chunk(word)).unwrap())
            }),
            out,
        )
    });
    row.add("format! and to_string", move |out| {
        words
            .iter()
            .map(|word| {
                let data = serde_json::to_string(&chunk(black_box(word))).unwrap();
                let event = black_box(Bytes::from(format!("data: {data}\n\n")));
                out(&event);
                event.len()
            })
            .sum()
    });
    row.add("memcpy of the bytes", copying(wire));
    row.row("OpenAI chunks", "event", words.len())
}

#[derive(Serialize)]
struct Artifact<'a> {
    r#type: &'static str,
    uuid: &'a str,
    name: &'a str,
    description: &'a str,
    content: &'a [Price],
}

fn artifact(prices: &[Price]) -> Artifact<'_> {
    Artifact {
        r#type: "table",
        uuid: "5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e",
        name: "Prices",
        description: "Daily prices",
        content: black_box(prices),
    }
}

/// The artifact is there as rows of a struct; what is timed is how it gets into the stream.
pub fn table() -> Row {
    let prices: &'static [Price] = source::prices(7000).leak();
    let artifact = move || artifact(prices);
    let mut row = Checked::new(Some);
    row.add("copilot-wire, EventWriter and json::write", move |out| {
        let mut buffer = Vec::new();
        EventWriter::new(&mut buffer)
            .name(&event_name!("copilotMessageArtifact"))
            .data_with(|out| copilot_wire::json::write(&artifact(), Escape::JsonAndSeparators, out))
            .unwrap()
            .finish();
        let frame = black_box(Bytes::from(buffer));
        out(&frame);
        frame.len()
    });
    let one = || stream::iter([()]);
    row.add("axum, json_data (body)", move |out| {
        drain(
            axum_body(one(), move |()| {
                Event::default()
                    .event(ARTIFACT)
                    .json_data(artifact())
                    .unwrap()
            }),
            out,
        )
    });
    row.add("axum, data(to_string) (body)", move |out| {
        drain(
            axum_body(one(), move |()| {
                Event::default()
                    .event(ARTIFACT)
                    .data(serde_json::to_string(&artifact()).unwrap())
            }),
            out,
        )
    });
    row.add("sse-stream (body)", move |out| {
        drain(
            sse_stream_body(one(), move |()| {
                let data = serde_json::to_string(&artifact()).unwrap();
                sse_stream::Sse::default().event(ARTIFACT).data(data)
            }),
            out,
        )
    });
    row.add("format! and to_string", move |out| {
        let data = serde_json::to_string(&artifact()).unwrap();
        let event = black_box(Bytes::from(format!("event: {ARTIFACT}\ndata: {data}\n\n")));
        out(&event);
        event.len()
    });
    row.row("a table of 7000 rows", "table", 1)
}

/// The same into a buffer that is large enough from the round before.
pub fn table_reused() -> Row {
    let prices: &'static [Price] = source::prices(7000).leak();
    let mut row = Checked::new(Some);
    let mut buffer = Vec::new();
    row.add("copilot-wire, reused Vec", move |out| {
        buffer.clear();
        EventWriter::new(&mut buffer)
            .name(&event_name!("copilotMessageArtifact"))
            .data_with(|out| {
                copilot_wire::json::write(&artifact(prices), Escape::JsonAndSeparators, out)
            })
            .unwrap()
            .finish();
        out(&buffer);
        black_box(&buffer).len()
    });
    let mut buffer = Vec::new();
    row.add("prefix and serde_json, reused Vec", move |out| {
        buffer.clear();
        buffer.extend_from_slice(b"event: copilotMessageArtifact\ndata: ");
        serde_json::to_writer(&mut buffer, &artifact(prices)).unwrap();
        buffer.extend_from_slice(b"\n\n");
        out(&buffer);
        black_box(&buffer).len()
    });
    row.row("a table of 7000 rows into a reused buffer", "table", 1)
}

pub fn axum_body<T: 'static>(
    source: impl Stream<Item = T> + Send + 'static,
    event: impl Fn(T) -> Event + Send + 'static,
) -> axum::body::Body {
    use futures::StreamExt as _;
    let events = source.map(move |item| Ok::<_, Infallible>(event(item)));
    Sse::new(events).into_response().into_body()
}

pub fn actix_body<T: 'static>(
    source: impl Stream<Item = T> + 'static,
    event: impl Fn(T) -> actix_web_lab::sse::Data + 'static,
) -> impl MessageBody {
    use futures::StreamExt as _;
    let events = source.map(move |item| actix_web_lab::sse::Event::from(event(item)));
    actix_web_lab::sse::Sse::from_infallible_stream(events)
}

pub fn sse_stream_body<T>(
    source: impl Stream<Item = T>,
    event: impl Fn(T) -> sse_stream::Sse,
) -> impl http_body::Body<Data: Buf> {
    use futures::StreamExt as _;
    sse_stream::SseBody::new(source.map(move |item| Ok::<_, Infallible>(event(item))))
}
