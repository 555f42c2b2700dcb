//! From bytes to frames, and to typed events.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{EventDecoder, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::sse::Decoder;
use copilot_wire::ui_stream::UiStream;

use crate::Path;
use crate::reply::{self, Words, answer, frames};
use crate::source;

/// The tokens of a stream.
const EVENTS: usize = 2000;

/// The events of 64 KiB.
const LARGE: usize = 8;

/// The bytes that arrive together, with the names of their paths.
const SIZES: [(&str, usize); 3] = [("16", 16), ("1460", 1460), ("64k", 64 * 1024)];

type Wire = fn() -> Vec<u8>;

/// Tokens as an answer of protocol `P`.
fn wire<P: Protocol>(request: &'static str, words: Words) -> Vec<u8> {
    frames(answer::<P>(request, words)()).flatten().collect()
}

fn frames_of(name: &'static str, units: usize, wire: Wire) -> impl Iterator<Item = Path> {
    SIZES.into_iter().map(move |(size_name, size)| {
        let name = format!("frames-{name}-{size_name}");
        Path::new(name, "event", units, move || {
            let wire = wire();
            Box::new(move || {
                let mut decoder = Decoder::new();
                let mut found = 0;
                for mut chunk in wire.chunks(size) {
                    while let Some(frame) = decoder.next(&mut chunk).unwrap() {
                        black_box(frame);
                        found += 1;
                    }
                }
                found
            })
        })
    })
}

fn typed<P: Protocol>(
    name: String,
    sizes: &'static [(&'static str, usize)],
    units: usize,
    wire: impl Fn() -> Vec<u8> + Copy + 'static,
) -> impl Iterator<Item = Path> {
    sizes.iter().map(move |(size_name, size)| {
        let name = format!("typed-{name}-{size_name}");
        Path::new(name, "event", units, move || {
            let wire = wire();
            Box::new(move || {
                let mut decoder = EventDecoder::<P>::new();
                let mut found = 0;
                for mut chunk in wire.chunks(*size) {
                    while let Some(event) = decoder.next(&mut chunk).unwrap() {
                        black_box(event);
                        found += 1;
                    }
                }
                found
            })
        })
    })
}

fn tokens<P: Protocol>(request: &'static str) -> impl Iterator<Item = Path> {
    typed::<P>(P::NAME.to_owned(), &SIZES[..2], EVENTS, move || {
        wire::<P>(request, source::tokens(EVENTS).leak())
    })
}

fn large() -> Vec<u8> {
    let text = source::text(64 * 1024, false);
    source::openbb_wire(&[&*text; LARGE]).into_bytes()
}

/// One line of 1 MB in pieces of 16 bytes.
fn line() -> Path {
    const LENGTH: usize = 1_000_000;
    Path::new("frames-line-16", "piece", LENGTH / 16, || {
        let wire = Bytes::from(format!("data: {}\n\n", "x".repeat(LENGTH)));
        Box::new(move || {
            let mut decoder = Decoder::new().limit(2 * LENGTH);
            let mut found = 0;
            for mut chunk in wire.chunks(16) {
                while let Some(frame) = decoder.next(&mut chunk).unwrap() {
                    black_box(frame);
                    found += 1;
                }
            }
            found
        })
    })
}

pub(crate) fn paths() -> Vec<Path> {
    let openbb: Wire = || source::openbb_wire(&source::tokens(EVENTS)).into_bytes();
    let openai: Wire = || source::openai_wire(EVENTS).into_bytes();
    frames_of("token", EVENTS, openbb)
        .chain(frames_of("chunk", EVENTS, openai))
        .chain(frames_of("large", LARGE, large))
        .chain([line()])
        .chain(tokens::<OpenBb>(reply::OPENBB))
        .chain(tokens::<GitHub>(reply::GITHUB))
        .chain(tokens::<OpenAi>(reply::OPENAI))
        .chain(tokens::<Responses>(reply::RESPONSES))
        .chain(tokens::<Anthropic>(reply::ANTHROPIC))
        .chain(tokens::<Meilisearch>(reply::OPENAI))
        .chain(tokens::<UiStream>(reply::UI_STREAM))
        .chain(tokens::<AgUi>(reply::AG_UI))
        .chain(typed::<OpenBb>("large".to_owned(), &SIZES, LARGE, large))
        .collect()
}
