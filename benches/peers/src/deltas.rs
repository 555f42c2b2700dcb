//! Text events of the protocols that number or nest them: to body frames, and back to typed events.

use std::hint::black_box;

use axum::response::sse::Event;
use bytes::Bytes;
use copilot_wire::protocol::{Env, EventDecoder, Protocol};
use copilot_wire::{Body, Request};
use futures::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decode::{Chunks, Sum, all, checked};
use crate::encode::{
    Checked, Text, Words, actix_body, axum_body, drain, drain_actix, sse_stream_body,
};
use crate::{Contender, Row, source};

const DECODED: usize = 5_000;

/// A protocol, and how its text events are written and read by hand.
struct Kind<P: Protocol, T> {
    encode: &'static str,
    decode: &'static str,
    request: &'static str,
    /// The name of the events, if they have one.
    event: Option<&'static str>,
    /// The data of event number `usize`.
    data: fn(usize, &'static str) -> T,
    text: Text,
    ours: fn(&P::Event) -> Option<usize>,
    theirs: fn(&str) -> Option<usize>,
}

impl<P: Protocol, T: Serialize + 'static> Kind<P, T> {
    fn body(&self, words: &'static [&'static str]) -> impl Fn() -> Body + use<P, T> {
        let body = Bytes::from_static(self.request.as_bytes());
        let (parts, ()) = http::Request::new(()).into_parts();
        let env = Env::default();
        move || {
            let request = P::read(&parts, body.clone())
                .map_err(|_| "refused")
                .unwrap();
            Body::run(Words(words), Request::<P>::new(request), &env)
        }
    }

    fn encode(self, events: usize) -> Row {
        let words: &'static [&'static str] = source::tokens(events).leak();
        let (name, make) = (self.event, self.data);
        let each = move || stream::iter(words.iter().copied().enumerate());
        let data = move |(number, word)| make(number, black_box(word));
        let json = move |word| serde_json::to_string(&data(word)).unwrap();
        let event = move || name.map_or_else(Event::default, |name| Event::default().event(name));
        let mut row = Checked::new(self.text);
        let body = self.body(words);
        row.add("copilot-wire, Reply and Body", move |out| {
            drain(body(), out)
        });
        row.add("axum, json_data (body)", move |out| {
            let body = axum_body(each(), move |word| event().json_data(data(word)).unwrap());
            drain(body, out)
        });
        row.add("axum, data(to_string) (body)", move |out| {
            drain(axum_body(each(), move |word| event().data(json(word))), out)
        });
        row.add("actix-web-lab (body)", move |out| {
            let body = actix_body(each(), move |word| {
                let data = actix_web_lab::sse::Data::new(json(word));
                match name {
                    Some(name) => data.event(name),
                    None => data,
                }
            });
            drain_actix(body, out)
        });
        row.add("sse-stream (body)", move |out| {
            let body = sse_stream_body(each(), move |word| {
                let event = sse_stream::Sse::default().data(json(word));
                match name {
                    Some(name) => event.event(name),
                    None => event,
                }
            });
            drain(body, out)
        });
        row.add("format! and to_string", move |out| {
            let events = words.iter().copied().enumerate().map(|word| {
                let data = json(word);
                let event = match name {
                    Some(name) => format!("event: {name}\ndata: {data}\n\n"),
                    None => format!("data: {data}\n\n"),
                };
                let event = black_box(Bytes::from(event));
                out(&event);
                event.len()
            });
            events.sum()
        });
        row.row(self.encode, "event", events)
    }

    /// Both read what the crate writes, in pieces of 1460 bytes.
    fn decode(self) -> Row {
        let mut wire = Vec::new();
        drain(self.body(source::tokens(DECODED).leak())(), |piece| {
            wire.extend_from_slice(piece);
        });
        let chunks = Chunks::new(String::from_utf8(wire).unwrap(), 1460);
        let (mut contenders, mut expected) = (Vec::new(), None);
        let (input, ours) = (chunks.clone(), self.ours);
        checked(&mut contenders, &mut expected, "copilot-wire", move || {
            let mut decoder = EventDecoder::<P>::new();
            let mut sum: Sum = (0, 0);
            for chunk in input.0.clone() {
                let mut rest = &chunk[..];
                while let Some(event) = decoder.next(&mut rest).unwrap() {
                    add(&mut sum, ours(black_box(event)));
                }
            }
            sum
        });
        let theirs = self.theirs;
        let run = move || {
            let mut sum: Sum = (0, 0);
            all(sse_stream::SseByteStream::new(chunks.stream()), |event| {
                let event = event.unwrap();
                if event.event.as_deref() == self.event {
                    add(&mut sum, theirs(&event.data.unwrap_or_default()));
                }
            });
            sum
        };
        let name = "sse-stream and serde_json";
        checked(&mut contenders, &mut expected, name, run);
        let contenders: Vec<Contender> = contenders;
        Row {
            name: self.decode,
            unit: "event",
            units: DECODED,
            contenders,
        }
    }
}

fn add(sum: &mut Sum, text: Option<usize>) {
    if let Some(length) = text {
        *sum = (sum.0 + 1, sum.1 + length);
    }
}

/// The member `delta` of events of one type.
fn delta(mut data: Value, kind: &str) -> Option<Value> {
    (data["type"] == kind).then(|| data["delta"].take())
}

mod responses {
    use copilot_wire::responses::{Event, EventKind, Responses};

    use super::*;

    const TEXT_DELTA: &str = "response.output_text.delta";

    #[derive(Serialize)]
    pub struct Data {
        r#type: &'static str,
        sequence_number: usize,
        item_id: &'static str,
        output_index: u32,
        content_index: u32,
        delta: &'static str,
        logprobs: [(); 0],
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "part of the work")]
    struct Read {
        sequence_number: u64,
        item_id: String,
        output_index: u64,
        content_index: u64,
        delta: String,
        logprobs: Vec<Value>,
    }

    /// The peers number their events; ours also keeps the text and repeats it at the end.
    pub const KIND: Kind<Responses, Data> = Kind {
        encode: "events of Responses",
        decode: "typed events of Responses",
        request: r#"{"model":"gpt-5","stream":true,"input":"hi"}"#,
        event: Some(TEXT_DELTA),
        data: |number, delta| Data {
            r#type: TEXT_DELTA,
            sequence_number: number,
            item_id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
            output_index: 0,
            content_index: 0,
            delta,
            logprobs: [],
        },
        text: |data| delta(data, TEXT_DELTA),
        ours: |event| match event {
            Event::Stream(event) if event.kind == EventKind::TextDelta => {
                event.delta.as_ref().map(String::len)
            }
            _ => None,
        },
        theirs: |data| {
            let read: Read = black_box(serde_json::from_str(data).unwrap());
            Some(read.delta.len())
        },
    };
}

mod messages {
    use copilot_wire::anthropic::{Anthropic, Delta, Event};

    use super::*;

    const BLOCK_DELTA: &str = "content_block_delta";

    #[derive(Serialize)]
    pub struct Data {
        r#type: &'static str,
        index: u32,
        delta: InBlock,
    }

    #[derive(Serialize)]
    struct InBlock {
        r#type: &'static str,
        text: &'static str,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "part of the work")]
    struct Read {
        index: u32,
        delta: ReadDelta,
    }

    #[derive(Deserialize)]
    struct ReadDelta {
        text: Option<String>,
    }

    pub const KIND: Kind<Anthropic, Data> = Kind {
        encode: "events of Messages",
        decode: "typed events of Messages",
        request: r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
        event: Some(BLOCK_DELTA),
        data: |_, text| Data {
            r#type: BLOCK_DELTA,
            index: 0,
            delta: InBlock {
                r#type: "text_delta",
                text,
            },
        },
        text: |data| delta(data, BLOCK_DELTA),
        ours: |event| match event {
            Event::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => Some(text.len()),
            _ => None,
        },
        theirs: |data| {
            let read: Read = black_box(serde_json::from_str(data).unwrap());
            read.delta.text.map(|text| text.len())
        },
    };
}

/// The chunks of a page and the events of an app differ in their names only.
#[derive(Serialize)]
struct Plain {
    r#type: &'static str,
    #[serde(rename = "id", skip_serializing_if = "str::is_empty")]
    id: &'static str,
    #[serde(rename = "messageId", skip_serializing_if = "str::is_empty")]
    message_id: &'static str,
    delta: &'static str,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct ReadPlain<'a> {
    r#type: &'a str,
    id: Option<String>,
    #[serde(rename = "messageId")]
    message_id: Option<String>,
    delta: Option<String>,
}

fn read_plain(data: &str, kind: &str) -> Option<usize> {
    let read: ReadPlain<'_> = black_box(serde_json::from_str(data).ok()?);
    (read.r#type == kind).then_some(read.delta?.len())
}

mod pages {
    use copilot_wire::ui_stream::{Event, UiStream};

    use super::*;

    const TEXT_DELTA: &str = "text-delta";

    pub(super) const KIND: Kind<UiStream, Plain> = Kind {
        encode: "chunks of a UI message stream",
        decode: "typed chunks of a UI message stream",
        request: r#"{"id":"chat-1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"trigger":"submit-message"}"#,
        event: None,
        data: |_, delta| Plain {
            r#type: TEXT_DELTA,
            id: black_box("t1"),
            message_id: "",
            delta,
        },
        text: |data| delta(data, TEXT_DELTA),
        ours: |event| match event {
            Event::TextDelta(text) => Some(text.delta.len()),
            _ => None,
        },
        theirs: |data| read_plain(data, TEXT_DELTA),
    };
}

mod apps {
    use copilot_wire::ag_ui::{AgUi, Event};

    use super::*;

    const CONTENT: &str = "TEXT_MESSAGE_CONTENT";

    pub(super) const KIND: Kind<AgUi, Plain> = Kind {
        encode: "events of AG-UI",
        decode: "typed events of AG-UI",
        request: r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u1","role":"user","content":"hi"}],"tools":[],"context":[],"forwardedProps":{}}"#,
        event: None,
        data: |_, delta| Plain {
            r#type: CONTENT,
            id: "",
            message_id: black_box("msg-5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e"),
            delta,
        },
        text: |data| delta(data, CONTENT),
        ours: |event| match event {
            Event::TextMessageContent(text) => Some(text.delta.len()),
            _ => None,
        },
        theirs: |data| read_plain(data, CONTENT),
    };
}

pub fn encode_responses(events: usize) -> Row {
    responses::KIND.encode(events)
}

pub fn encode_messages(events: usize) -> Row {
    messages::KIND.encode(events)
}

pub fn encode_pages(events: usize) -> Row {
    pages::KIND.encode(events)
}

pub fn encode_apps(events: usize) -> Row {
    apps::KIND.encode(events)
}

pub fn typed_responses() -> Row {
    responses::KIND.decode()
}

pub fn typed_messages() -> Row {
    messages::KIND.decode()
}

pub fn typed_pages() -> Row {
    pages::KIND.decode()
}

pub fn typed_apps() -> Row {
    apps::KIND.decode()
}
