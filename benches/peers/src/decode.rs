//! From bytes to frames, and to typed events.
//!
//! The source is slices of one shared buffer, cut to size.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::protocol::EventDecoder;
use copilot_wire::sse::{Decoder, Frame};
use eventsource_stream::Eventsource as _;
use futures::{Stream, StreamExt as _, stream};
use guard::reply::answer;

use crate::encode::drain;
use crate::peer::Peer;
use crate::source::{self, READ};
use crate::{Case, Contender, Kind};

/// Events of 64 KiB.
pub const LARGE: usize = 16;

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

/// Collects contenders, each checked against the first.
#[derive(Default)]
struct Checked {
    contenders: Vec<Contender>,
    expected: Option<Sum>,
}

impl Checked {
    fn add(&mut self, kind: Kind, name: &'static str, mut run: impl FnMut() -> Sum + 'static) {
        let sum = run();
        assert_eq!(sum, *self.expected.get_or_insert(sum), "{name}");
        assert_ne!(sum.0, 0, "{name}");
        self.contenders
            .push(Contender::of(kind, name, move || run().1));
    }
}

/// Takes all that a stream has; it is always ready.
pub fn all<T>(stream: impl Stream<Item = T>, mut each: impl FnMut(T)) {
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = stream.as_mut().poll_next(&mut cx) {
        each(item);
    }
}

/// A stream to be read, with the number of its events.
pub type Wire = fn() -> (String, usize);

pub fn tokens() -> (String, usize) {
    (source::openbb_wire(&source::tokens(READ)), READ)
}

pub fn chunks() -> (String, usize) {
    (source::openai_wire(READ), READ)
}

pub fn large() -> (String, usize) {
    let text = source::text(64 * 1024, false);
    (source::openbb_wire(&[&*text; LARGE]), LARGE)
}

/// The stream of an answer with these pieces of text.
pub fn wire_of<P: Peer>(words: &'static [&'static str]) -> String {
    let mut wire = Vec::new();
    drain(answer::<P>(P::REQUEST, words)(), |piece| {
        wire.extend_from_slice(piece);
    });
    String::from_utf8(wire).unwrap()
}

/// Returns `true` if eventsource-stream can be measured: it is quadratic in the length of a line that comes in pieces,
/// and takes seconds for one of 64 KiB in pieces of 16 bytes.
fn is_feasible(chunks: &Chunks, events: usize) -> bool {
    chunks.0.len() < 100 * events || events > LARGE
}

pub fn frames(wire: Wire, size: usize) -> Case {
    let (wire, events) = wire();
    let chunks = Chunks::new(wire, size);
    let mut case = Checked::default();
    let input = chunks.clone();
    case.add(Kind::Ours, "copilot-wire", move || {
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
    case.add(Kind::Peer, "sse-stream", move || {
        let mut sum = (0, 0);
        all(sse_stream::SseByteStream::new(input.stream()), |event| {
            let event = black_box(event.unwrap());
            sum = (sum.0 + 1, sum.1 + event.data.map_or(0, |data| data.len()));
        });
        sum
    });
    let input = chunks.clone();
    case.add(Kind::Peer, "sseer", move || {
        let mut sum = (0, 0);
        all(sseer::EventStream::new(input.stream()), |event| {
            let event = black_box(event.unwrap());
            sum = (sum.0 + 1, sum.1 + event.data.len());
        });
        sum
    });
    if is_feasible(&chunks, events) {
        let input = chunks.clone();
        case.add(Kind::Peer, "eventsource-stream", move || {
            let mut sum = (0, 0);
            all(input.stream().eventsource(), |event| {
                let event = black_box(event.unwrap());
                sum = (sum.0 + 1, sum.1 + event.data.len());
            });
            sum
        });
    }
    let mut contenders = case.contenders;
    contenders.push(Contender::floor("memchr for LF, nothing else", move || {
        let ends = |chunk: Bytes| memchr::memchr_iter(b'\n', &chunk).count();
        chunks.0.iter().cloned().map(ends).sum()
    }));
    Case {
        units: events,
        contenders,
    }
}

/// An answer with these pieces of text, read in pieces of this many bytes.
pub fn typed<P: Peer>(words: &'static [&'static str], size: usize) -> Case {
    fn add(sum: &mut Sum, text: Option<usize>) {
        if let Some(length) = text {
            *sum = (sum.0 + 1, sum.1 + length);
        }
    }

    let chunks = Chunks::new(wire_of::<P>(words), size);
    let mut case = Checked::default();
    let input = chunks.clone();
    case.add(Kind::Ours, "copilot-wire", move || {
        let mut decoder = EventDecoder::<P>::new();
        let mut sum = (0, 0);
        for chunk in input.0.clone() {
            let mut rest = &chunk[..];
            while let Some(event) = decoder.next(&mut rest).unwrap() {
                add(&mut sum, P::ours(black_box(event)));
            }
        }
        sum
    });
    // What is not a text event is not read.
    let theirs = |name: &str, data: &str| {
        let is_text = name == P::EVENT.unwrap_or(name);
        is_text.then(|| P::theirs(data)).flatten()
    };
    let name = |decoder: &str| -> &'static str { format!("{decoder} and {}", P::READER).leak() };
    let input = chunks.clone();
    case.add(Kind::Peer, name("sse-stream"), move || {
        let mut sum = (0, 0);
        all(sse_stream::SseByteStream::new(input.stream()), |event| {
            let event = event.unwrap();
            let (name, data) = (event.event.as_deref(), event.data.as_deref());
            let text = theirs(name.unwrap_or_default(), data.unwrap_or_default());
            add(&mut sum, text);
        });
        sum
    });
    let input = chunks.clone();
    case.add(Kind::Peer, name("sseer"), move || {
        let mut sum = (0, 0);
        all(sseer::EventStream::new(input.stream()), |event| {
            let event = event.unwrap();
            add(&mut sum, theirs(&event.event, &event.data));
        });
        sum
    });
    if is_feasible(&chunks, words.len()) {
        case.add(Kind::Peer, name("eventsource-stream"), move || {
            let mut sum = (0, 0);
            all(chunks.stream().eventsource(), |event| {
                let event = event.unwrap();
                add(&mut sum, theirs(&event.event, &event.data));
            });
            sum
        });
    }
    Case {
        units: words.len(),
        contenders: case.contenders,
    }
}
