//! A token from a model's stream to a front end's: read in one dialect, and written in another.
//!
//! The stream of the model comes in pieces of 1460 bytes, all of which are ready.

use std::borrow::Cow;
use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::{Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decode::Chunks;
use crate::encode::{Checked, Words, drain, sse_stream_body};
use crate::{Row, source};

/// An agent that relays a model's stream.
struct Relaying<U>(Chunks, std::marker::PhantomData<fn() -> U>);

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

/// A dialect, and how its text events are read and written by hand.
pub trait Side: Protocol {
    /// A request for a stream.
    const REQUEST: &str;
    /// The name of the events of text, if they have one.
    const EVENT: Option<&str>;

    /// Returns the text of an event's data.
    fn read_text(data: &str) -> Option<Cow<'_, str>>;

    /// Returns the data of event number `number`.
    fn write_text(number: usize, text: &str) -> String;

    /// Returns the text in the data of an event, and what belongs to it.
    fn text_of(data: Value) -> Option<Value>;
}

fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap()
}

/// The member `delta` of events of one type.
fn delta(mut data: Value, kind: &str) -> Option<Value> {
    (data["type"] == kind).then(|| data["delta"].take())
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Content<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
}

#[derive(Serialize)]
struct WrittenChunk<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: [WrittenChoice<'a>; 1],
}

#[derive(Serialize)]
struct WrittenChoice<'a> {
    index: u32,
    delta: WrittenContent<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct WrittenContent<'a> {
    content: &'a str,
}

impl Side for OpenAi {
    const REQUEST: &str =
        r#"{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    const EVENT: Option<&str> = None;

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        if data == "[DONE]" {
            return None;
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).unwrap();
        let choice = chunk.choices.into_iter().next()?;
        black_box(choice.finish_reason);
        Some(choice.delta.content).filter(|text| !text.is_empty())
    }

    fn write_text(_: usize, content: &str) -> String {
        json(&WrittenChunk {
            id: black_box("chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE"),
            object: "chat.completion.chunk",
            created: black_box(1_763_712_345),
            model: black_box("gpt-5"),
            choices: [WrittenChoice {
                index: 0,
                delta: WrittenContent { content },
                finish_reason: None,
            }],
        })
    }

    fn text_of(mut data: Value) -> Option<Value> {
        let content = data["choices"][0]["delta"]["content"].take();
        let has_text = content.as_str().is_some_and(|text| !text.is_empty());
        has_text.then_some(content)
    }
}

const BLOCK_DELTA: &str = "content_block_delta";

#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(borrow)]
    delta: InBlock<'a>,
}

#[derive(Deserialize)]
struct InBlock<'a> {
    r#type: &'a str,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct WrittenDelta<'a> {
    r#type: &'a str,
    index: u32,
    delta: WrittenInBlock<'a>,
}

#[derive(Serialize)]
struct WrittenInBlock<'a> {
    r#type: &'a str,
    text: &'a str,
}

impl Side for Anthropic {
    const REQUEST: &str =
        r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    const EVENT: Option<&str> = Some(BLOCK_DELTA);

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        let read: BlockDelta<'_> = serde_json::from_str(data).unwrap();
        (read.delta.r#type == "text_delta").then_some(read.delta.text)
    }

    fn write_text(_: usize, text: &str) -> String {
        json(&WrittenDelta {
            r#type: BLOCK_DELTA,
            index: 0,
            delta: WrittenInBlock {
                r#type: "text_delta",
                text,
            },
        })
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, BLOCK_DELTA)
    }
}

const TEXT_DELTA: &str = "response.output_text.delta";

#[derive(Deserialize)]
struct ResponseDelta<'a> {
    #[serde(borrow)]
    delta: Cow<'a, str>,
}

#[derive(Serialize)]
struct WrittenResponseDelta<'a> {
    r#type: &'a str,
    sequence_number: usize,
    item_id: &'a str,
    output_index: u32,
    content_index: u32,
    delta: &'a str,
    logprobs: [(); 0],
}

impl Side for Responses {
    const REQUEST: &str = r#"{"model":"gpt-5","stream":true,"input":"hi"}"#;
    const EVENT: Option<&str> = Some(TEXT_DELTA);

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        let read: ResponseDelta<'_> = serde_json::from_str(data).unwrap();
        Some(read.delta)
    }

    fn write_text(sequence_number: usize, delta: &str) -> String {
        json(&WrittenResponseDelta {
            r#type: TEXT_DELTA,
            sequence_number,
            item_id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
            output_index: 0,
            content_index: 0,
            delta,
            logprobs: [],
        })
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, TEXT_DELTA)
    }
}

#[derive(Serialize)]
struct WrittenPageDelta<'a> {
    r#type: &'a str,
    id: &'a str,
    delta: &'a str,
}

impl Side for UiStream {
    const REQUEST: &str = r#"{"id":"chat-1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"trigger":"submit-message"}"#;
    const EVENT: Option<&str> = None;

    fn read_text(_: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn write_text(_: usize, delta: &str) -> String {
        json(&WrittenPageDelta {
            r#type: "text-delta",
            id: black_box("t1"),
            delta,
        })
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, "text-delta")
    }
}

/// Returns a function that answers with `agent`.
fn answer<P: Side, A: Agent<P> + 'static>(agent: impl Fn() -> A) -> impl Fn() -> Body {
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    move || {
        let read = P::read(&parts, Bytes::from_static(P::REQUEST.as_bytes()));
        let request = read.map_err(|_| "refused").unwrap();
        Body::run(agent(), Request::<P>::new(request), &env)
    }
}

/// The stream of a model as it is read by hand: what `each` makes of every text.
fn by_hand<U: Side, T>(chunks: &Chunks, each: impl Fn(usize, &str) -> T) -> impl Stream<Item = T> {
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
pub fn tokens<U: Upstream + Side, P: Side>(count: usize) -> Row {
    let mut wire = Vec::new();
    let words: &'static [&'static str] = source::tokens(count).leak();
    drain(answer::<U, _>(|| Words(words))(), |piece| {
        wire.extend_from_slice(piece);
    });
    let chunks = Chunks::new(String::from_utf8(wire).unwrap(), 1460);
    let mut row = Checked::new(P::text_of);
    let input = chunks.clone();
    let ours = answer::<P, _>(move || Relaying::<U>(input.clone(), std::marker::PhantomData));
    row.add("copilot-wire, Relay and Body", move |out| {
        drain(ours(), out)
    });
    let input = chunks.clone();
    row.add("sse-stream both ways, serde_json (body)", move |out| {
        let data = by_hand::<U, _>(&input, P::write_text);
        let body = sse_stream_body(data, |data| {
            let event = sse_stream::Sse::default().data(data);
            match P::EVENT {
                Some(name) => event.event(name),
                None => event,
            }
        });
        drain(body, out)
    });
    row.add("sse-stream, serde_json, format!", move |out| {
        let mut length = 0;
        let events = by_hand::<U, _>(&chunks, |number, text| {
            let data = P::write_text(number, text);
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
    row.row("tokens of a model for a front end", "token", count)
}
