//! From an agent's words to body frames.
//!
//! Contenders marked "body" go through the crate's own response body, polled frame by frame from a source that is always
//! ready, without keep-alive. All of them read a request first. What the protocol sends before and after the text is
//! there for the peers as ready strings, but for the text that a protocol repeats at the end: that is escaped again.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use actix_web::body::MessageBody;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use bytes::{Buf, Bytes};
use copilot_wire::sse::{Decoder, Frame};
use futures::{Stream, stream};
use guard::reply::answer;
use serde::Deserialize;
use serde_json::Value;

use crate::peer::Peer;
use crate::{Case, Contender, Kind};

pub const OURS: &str = "copilot-wire, Reply and Body";
pub const JSON_DATA: &str = "axum, json_data (body)";
pub const DATA: &str = "axum, data(to_string) (body)";
pub const ACTIX: &str = "actix-web-lab (body)";
pub const SSE_STREAM: &str = "sse-stream (body)";
pub const FORMAT: &str = "format! and to_string";

/// Polls a body to its end, again at once where it is not ready: a long document yields now and then.
pub fn drain<B: http_body::Body<Data: Buf>>(body: B, mut each: impl FnMut(&[u8])) -> usize {
    let mut body = pin!(body);
    let mut cx = Context::from_waker(Waker::noop());
    let mut length = 0;
    loop {
        let frame = match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(Some(frame)) => frame,
            Poll::Ready(None) => return length,
            Poll::Pending => continue,
        };
        if let Some(data) = frame.ok().and_then(|frame| frame.into_data().ok()) {
            let data = black_box(data);
            length += data.remaining();
            each(data.chunk());
        }
    }
}

/// The same for actix, which has a trait of its own, and is always ready.
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

/// The events of a stream: name and data.
fn events(wire: &[u8]) -> Vec<(String, String)> {
    let mut decoder = Decoder::new().limit(64 * 1024 * 1024);
    let mut rest = wire;
    let mut events = Vec::new();
    while let Some(frame) = decoder.next(&mut rest).unwrap() {
        if let Frame::Event(event) = frame {
            events.push((event.name().to_owned(), event.data().to_owned()));
        }
    }
    events
}

/// A function that returns the content of an event that all contenders write.
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
    fn add(
        &mut self,
        kind: Kind,
        name: &'static str,
        mut run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        let mut wire = Vec::new();
        let length = run(&mut |piece| wire.extend_from_slice(piece));
        assert_eq!(length, wire.len(), "{name}");
        let text = |(name, data): (String, String)| {
            let text = serde_json::from_str(&data).ok().and_then(self.text);
            text.map(|text| (name, text))
        };
        let found: Vec<_> = events(&wire).into_iter().filter_map(text).collect();
        let expected = self.expected.get_or_insert_with(|| found.clone());
        let differ = found
            .iter()
            .zip(&*expected)
            .find(|(this, that)| this != that);
        assert_eq!(differ, None, "{name}");
        assert_eq!(found.len(), expected.len(), "{name}");
        assert!(!found.is_empty(), "{name}");
        self.contenders
            .push(Contender::of(kind, name, move || run(&mut |_| ())));
    }

    pub fn ours(
        &mut self,
        name: &'static str,
        run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        self.add(Kind::Ours, name, run);
    }

    pub fn peer(
        &mut self,
        name: &'static str,
        run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        self.add(Kind::Peer, name, run);
    }

    pub fn floor(
        &mut self,
        name: &'static str,
        run: impl FnMut(&mut dyn FnMut(&[u8])) -> usize + 'static,
    ) {
        self.add(Kind::Floor, name, run);
    }

    pub fn build(self, units: usize) -> Case {
        Case {
            units,
            contenders: self.contenders,
        }
    }
}

/// The members of a request that a peer reads, whatever the protocol.
#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct Asked {
    #[serde(default)]
    model: String,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    input: String,
    #[serde(default)]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct Message {
    role: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct Part {
    text: String,
}

/// An event that a peer writes.
#[derive(Clone, Copy)]
enum Item {
    /// Name and data of an event before the text or after it.
    Ready(Option<&'static str>, &'static str),
    /// The name of an event that repeats all text, and its data around that.
    Whole(Option<&'static str>, [&'static str; 2], &'static str),
    /// The number of a text event, and its text.
    Text(usize, &'static str),
}

/// Returns the events that a peer writes for `words`: what our own stream has before and after its text is ready.
fn items<P: Peer>(words: &'static [&'static str]) -> &'static [Item] {
    let mut wire = Vec::new();
    drain(answer::<P>(P::REQUEST, words)(), |piece| {
        wire.extend_from_slice(piece);
    });
    let all = events(&wire);
    let is_text = |(_, data): &(String, String)| {
        let data = serde_json::from_str(data).ok();
        data.and_then(P::text_of).is_some()
    };
    let first = all.iter().position(is_text).unwrap();
    let last = all.iter().rposition(is_text).unwrap();
    assert_eq!(last + 1 - first, words.len(), "{}", P::TITLE);
    let text: &'static str = words.concat().leak();
    let whole = serde_json::to_string(text).unwrap();
    let ready = |(name, data): &(String, String)| {
        let name: Option<&'static str> = match name.as_str() {
            "message" => None,
            name => Some(name.to_owned().leak()),
        };
        let data: &'static str = data.clone().leak();
        match data.split_once(&*whole) {
            Some((head, tail)) => Item::Whole(name, [head, tail], text),
            None => Item::Ready(name, data),
        }
    };
    let (before, after) = (&all[..first], &all[last + 1..]);
    let texts = words.iter().enumerate();
    let texts = texts.map(|(number, word)| Item::Text(first + number, word));
    let before = before.iter().map(ready);
    let after = after.iter().map(ready);
    before.chain(texts).chain(after).collect::<Vec<_>>().leak()
}

/// The name and the data of an event as a peer makes them.
fn event<P: Peer>(item: Item) -> (Option<&'static str>, String) {
    match item {
        Item::Ready(name, data) => (name, data.to_owned()),
        Item::Whole(name, [head, tail], text) => {
            let text = serde_json::to_string(black_box(text)).unwrap();
            (name, [head, &text, tail].concat())
        }
        Item::Text(number, word) => {
            let data = serde_json::to_string(&P::data(number, black_box(word)));
            (P::EVENT, data.unwrap())
        }
    }
}

/// An answer with these pieces of text.
pub fn case<P: Peer>(words: &'static [&'static str]) -> Case {
    let mut case = Checked::new(P::text_of);
    let mut ours = answer::<P>(P::REQUEST, words);
    case.ours(OURS, move |out| drain(ours(), out));
    let items = items::<P>(words);
    let each = move || {
        let asked: Asked = serde_json::from_str(black_box(P::REQUEST)).unwrap();
        black_box(asked);
        items.iter().copied()
    };
    let named = |name: Option<&'static str>| {
        name.map_or_else(Event::default, |name| Event::default().event(name))
    };
    case.peer(JSON_DATA, move |out| {
        let body = axum_body(stream::iter(each()), move |item| match item {
            Item::Text(number, word) => named(P::EVENT)
                .json_data(P::data(number, black_box(word)))
                .unwrap(),
            item => {
                let (name, data) = event::<P>(item);
                named(name).data(data)
            }
        });
        drain(body, out)
    });
    case.peer(DATA, move |out| {
        let body = axum_body(stream::iter(each()), move |item| {
            let (name, data) = event::<P>(item);
            named(name).data(data)
        });
        drain(body, out)
    });
    case.peer(ACTIX, move |out| {
        let body = actix_body(stream::iter(each()), move |item| {
            let (name, data) = event::<P>(item);
            let data = actix_web_lab::sse::Data::new(data);
            match name {
                Some(name) => data.event(name),
                None => data,
            }
        });
        drain_actix(body, out)
    });
    case.peer(SSE_STREAM, move |out| {
        let body = sse_stream_body(stream::iter(each()), move |item| {
            let (name, data) = event::<P>(item);
            let event = sse_stream::Sse::default().data(data);
            match name {
                Some(name) => event.event(name),
                None => event,
            }
        });
        drain(body, out)
    });
    case.peer(FORMAT, move |out| {
        let events = each().map(|item| {
            let event = match event::<P>(item) {
                (Some(name), data) => format!("event: {name}\ndata: {data}\n\n"),
                (None, data) => format!("data: {data}\n\n"),
            };
            let event = black_box(Bytes::from(event));
            out(&event);
            event.len()
        });
        events.sum()
    });
    if let Some((before, after)) = P::AROUND {
        let mut buffer = Vec::new();
        case.floor("loop on json-escape-simd, reused Vec", move |out| {
            buffer.clear();
            for word in words {
                buffer.extend_from_slice(before.as_bytes());
                json_escape_simd::escape_into(black_box(*word), &mut buffer);
                buffer.extend_from_slice(after.as_bytes());
            }
            out(&buffer);
            black_box(&buffer).len()
        });
    }
    let mut wire = Vec::new();
    drain(answer::<P>(P::REQUEST, words)(), |piece| {
        wire.extend_from_slice(piece);
    });
    case.floor("memcpy of the bytes", copying(wire));
    case.build(words.len())
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
