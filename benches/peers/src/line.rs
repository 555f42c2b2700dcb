//! One very long line in small pieces: what a hostile upstream can ask of a decoder.

use std::convert::Infallible;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::sse::{Decoder, Frame};
use futures::{Stream as _, StreamExt as _, stream};

use crate::{Case, Contender};

const PIECE: usize = 16;

pub fn case(length: usize) -> Case {
    let mut wire = b"data: ".to_vec();
    wire.resize(length, b'x');
    wire.extend_from_slice(b"\n\n");
    let wire = Bytes::from(wire);
    let expected = length - b"data: ".len();
    let pieces = move || {
        let wire = wire.clone();
        (0..wire.len())
            .step_by(PIECE)
            .map(move |at| wire.slice(at..wire.len().min(at + PIECE)))
    };

    let source = pieces.clone();
    let ours = move || {
        let mut decoder = Decoder::new().limit(2 * length);
        let mut found = 0;
        for piece in source() {
            let mut rest = &piece[..];
            while let Some(frame) = decoder.next(&mut rest).unwrap() {
                if let Frame::Event(event) = frame {
                    found += event.data().len();
                }
            }
        }
        found
    };
    // The least that a decoder can do: look for the line end, and keep what it has looked at.
    let source = pieces.clone();
    let floor = move || {
        let mut held = Vec::new();
        let mut found = 0;
        for piece in source() {
            held.extend_from_slice(&piece);
            if memchr::memchr(b'\n', &piece).is_some() && found == 0 {
                found = length - b"data: ".len();
            }
        }
        found
    };
    let source = pieces;
    let sse_stream = move || {
        let pieces = stream::iter(source()).map(Ok::<_, Infallible>);
        let mut events = pin!(sse_stream::SseByteStream::new(pieces));
        let mut cx = Context::from_waker(Waker::noop());
        match events.as_mut().poll_next(&mut cx) {
            Poll::Ready(Some(Ok(event))) => event.data.map_or(0, |data| data.len()),
            _ => 0,
        }
    };

    let mut contenders = vec![
        Contender::ours("copilot-wire", ours),
        Contender::floor("memchr and keep", floor),
        Contender::peer("sse-stream", sse_stream),
    ];
    for contender in &mut contenders {
        assert_eq!((contender.run)(), expected, "{}", contender.name);
    }
    Case {
        units: length / PIECE,
        contenders,
    }
}
