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

use crate::source::{self, Price};
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

/// Every event of a stream: its name and its data as a value.
fn decoded(wire: &[u8]) -> Vec<(String, serde_json::Value)> {
    let mut decoder = Decoder::new().limit(64 * 1024 * 1024);
    let mut rest = wire;
    let mut events = Vec::new();
    while let Some(frame) = decoder.next(&mut rest).unwrap() {
        let Frame::Event(event) = frame else { continue };
        // An OpenAI stream begins with the role and ends with the reason and `[DONE]`.
        let Ok(mut data) = serde_json::from_str::<serde_json::Value>(event.data()) else {
            continue;
        };
        if data.get("choices").is_some() {
            let content = data["choices"][0]["delta"]["content"].take();
            if content.as_str().is_none_or(str::is_empty) {
                continue;
            }
            data = content;
        }
        // A response begins with the item and ends with the repeated text; a message has one block.
        if data.get("sequence_number").is_some() || event.name() == BLOCK_DELTA {
            data = data["delta"].take();
            if data.is_null() {
                continue;
            }
        } else if event.name().starts_with("message_") || event.name().starts_with("content_block") {
            continue;
        }
        events.push((event.name().to_owned(), data));
    }
    events
}

/// Collects contenders, each checked against the first.
struct Checked {
    contenders: Vec<Contender>,
    expected: Option<Vec<(String, serde_json::Value)>>,
}

impl Checked {
    fn new() -> Self {
        Self {
            contenders: Vec::new(),
            expected: None,
        }
    }

    /// `run` calls its argument with every piece of output.
    fn add(
        &mut self,
        name: &'static str,
        mut run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        let mut wire = Vec::new();
        let length = run(&mut |piece| wire.extend_from_slice(piece));
        assert_eq!(length, wire.len(), "{name}");
        let events = decoded(&wire);
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

    fn row(self, name: &'static str, unit: &'static str, units: usize) -> Row {
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
    let mut row = Checked::new();
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

pub fn openbb_tokens() -> Row {
    openbb(
        source::tokens(20_000).leak(),
        "OpenBB token events",
        "event",
    )
}

pub fn clean_delta() -> Row {
    deltas(false, "64 KiB of text without escapes in one event")
}

pub fn dirty_delta() -> Row {
    deltas(true, "64 KiB of text with 3 % escapes in one event")
}

fn deltas(dirty: bool, name: &'static str) -> Row {
    let text: &'static str = source::text(64 * 1024, dirty).leak();
    openbb(vec![text; 8].leak(), name, "event")
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

pub fn openai_chunks() -> Row {
    use copilot_wire::openai::OpenAi;

    let words: &'static [&'static str] = source::tokens(20_000).leak();
    let mut row = Checked::new();
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

const TEXT_DELTA: &str = "response.output_text.delta";

#[derive(Serialize)]
struct TextDelta<'a> {
    r#type: &'static str,
    sequence_number: usize,
    item_id: &'a str,
    output_index: u32,
    content_index: u32,
    delta: &'a str,
    logprobs: [(); 0],
}

fn text_delta<'a>((number, word): (usize, &'a str)) -> TextDelta<'a> {
    TextDelta {
        r#type: TEXT_DELTA,
        sequence_number: number,
        item_id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
        output_index: 0,
        content_index: 0,
        delta: black_box(word),
        logprobs: [],
    }
}

/// The peers number their events; ours also keeps the text and repeats it at the end.
pub fn response_events() -> Row {
    use copilot_wire::responses::Responses;

    let words: &'static [&'static str] = source::tokens(20_000).leak();
    let mut row = Checked::new();
    let each = move || stream::iter(words.iter().copied().enumerate());
    let body = Bytes::from_static(br#"{"model":"gpt-5","stream":true,"input":"hi"}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    row.add("copilot-wire, Reply and Body", move |out| {
        let request = Responses::read(&parts, body.clone()).unwrap();
        let request = Request::<Responses>::new(request);
        drain(Body::run(Words(words), request, &env), out)
    });
    row.add("axum, json_data (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                let event = Event::default().event(TEXT_DELTA);
                event.json_data(text_delta(word)).unwrap()
            }),
            out,
        )
    });
    row.add("axum, data(to_string) (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                let event = Event::default().event(TEXT_DELTA);
                event.data(serde_json::to_string(&text_delta(word)).unwrap())
            }),
            out,
        )
    });
    row.add("actix-web-lab (body)", move |out| {
        drain_actix(
            actix_body(each(), |word| {
                let data = serde_json::to_string(&text_delta(word)).unwrap();
                actix_web_lab::sse::Data::new(data).event(TEXT_DELTA)
            }),
            out,
        )
    });
    row.add("sse-stream (body)", move |out| {
        drain(
            sse_stream_body(each(), |word| {
                let data = serde_json::to_string(&text_delta(word)).unwrap();
                sse_stream::Sse::default().event(TEXT_DELTA).data(data)
            }),
            out,
        )
    });
    row.add("format! and to_string", move |out| {
        let events = words.iter().copied().enumerate().map(|word| {
            let data = serde_json::to_string(&text_delta(word)).unwrap();
            let event = black_box(Bytes::from(format!("event: {TEXT_DELTA}\ndata: {data}\n\n")));
            out(&event);
            event.len()
        });
        events.sum()
    });
    row.row("events of Responses", "event", words.len())
}

const BLOCK_DELTA: &str = "content_block_delta";

#[derive(Serialize)]
struct BlockDelta<'a> {
    r#type: &'static str,
    index: u32,
    delta: InBlock<'a>,
}

#[derive(Serialize)]
struct InBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

fn block_delta(word: &str) -> BlockDelta<'_> {
    BlockDelta {
        r#type: BLOCK_DELTA,
        index: 0,
        delta: InBlock {
            r#type: "text_delta",
            text: black_box(word),
        },
    }
}

/// Text of one block.
pub fn message_events() -> Row {
    use copilot_wire::anthropic::Anthropic;

    let words: &'static [&'static str] = source::tokens(20_000).leak();
    let mut row = Checked::new();
    let each = move || stream::iter(words.iter().copied());
    let body = Bytes::from_static(br#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    row.add("copilot-wire, Reply and Body", move |out| {
        let request = Anthropic::read(&parts, body.clone()).unwrap();
        let request = Request::<Anthropic>::new(request);
        drain(Body::run(Words(words), request, &env), out)
    });
    row.add("axum, json_data (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                let event = Event::default().event(BLOCK_DELTA);
                event.json_data(block_delta(word)).unwrap()
            }),
            out,
        )
    });
    row.add("axum, data(to_string) (body)", move |out| {
        drain(
            axum_body(each(), |word| {
                let event = Event::default().event(BLOCK_DELTA);
                event.data(serde_json::to_string(&block_delta(word)).unwrap())
            }),
            out,
        )
    });
    row.add("actix-web-lab (body)", move |out| {
        drain_actix(
            actix_body(each(), |word| {
                let data = serde_json::to_string(&block_delta(word)).unwrap();
                actix_web_lab::sse::Data::new(data).event(BLOCK_DELTA)
            }),
            out,
        )
    });
    row.add("sse-stream (body)", move |out| {
        drain(
            sse_stream_body(each(), |word| {
                let data = serde_json::to_string(&block_delta(word)).unwrap();
                sse_stream::Sse::default().event(BLOCK_DELTA).data(data)
            }),
            out,
        )
    });
    row.add("format! and to_string", move |out| {
        let events = words.iter().copied().map(|word| {
            let data = serde_json::to_string(&block_delta(word)).unwrap();
            let event = black_box(Bytes::from(format!("event: {BLOCK_DELTA}\ndata: {data}\n\n")));
            out(&event);
            event.len()
        });
        events.sum()
    });
    row.row("events of Messages", "event", words.len())
}

#[derive(Serialize)]
struct Artifact<'a> {
    r#type: &'static str,
    uuid: &'a str,
    name: &'a str,
    description: &'a str,
    content: &'a [Price],
}

/// The artifact is there as rows of a struct; what is timed is how it gets into the stream.
pub fn table() -> Row {
    let prices: &'static [Price] = source::prices(7000).leak();
    let artifact = move || Artifact {
        r#type: "table",
        uuid: "5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e",
        name: "Prices",
        description: "Daily prices",
        content: black_box(prices),
    };
    let mut row = Checked::new();
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

pub fn axum_body<T: 'static>(
    source: impl Stream<Item = T> + Send + 'static,
    event: impl Fn(T) -> Event + Send + 'static,
) -> axum::body::Body {
    use futures::StreamExt as _;
    let events = source.map(move |item| Ok::<_, Infallible>(event(item)));
    Sse::new(events).into_response().into_body()
}

fn actix_body<T: 'static>(
    source: impl Stream<Item = T> + 'static,
    event: impl Fn(T) -> actix_web_lab::sse::Data + 'static,
) -> impl MessageBody {
    use futures::StreamExt as _;
    let events = source.map(move |item| actix_web_lab::sse::Event::from(event(item)));
    actix_web_lab::sse::Sse::from_infallible_stream(events)
}

fn sse_stream_body<T>(
    source: impl Stream<Item = T>,
    event: impl Fn(T) -> sse_stream::Sse,
) -> impl http_body::Body<Data: Buf> {
    use futures::StreamExt as _;
    sse_stream::SseBody::new(source.map(move |item| Ok::<_, Infallible>(event(item))))
}
