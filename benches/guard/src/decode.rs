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
use crate::reply::{Words, answer, frames};
use crate::requests;
use crate::source::{self, PIECES, READ};

/// The events of 64 KiB.
const LARGE: usize = 8;

type Wire = fn() -> Vec<u8>;

/// Tokens as an answer of protocol `P`.
fn wire<P: Protocol>(request: &'static str, words: Words) -> Vec<u8> {
    frames(answer::<P>(request, words)()).flatten().collect()
}

fn frames_of(name: &'static str, units: usize, wire: Wire) -> impl Iterator<Item = Path> {
    PIECES.into_iter().map(move |(size_name, size)| {
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
    typed::<P>(P::NAME.to_owned(), &PIECES[..2], READ, move || {
        wire::<P>(request, source::tokens(READ).leak())
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
    let openbb: Wire = || source::openbb_wire(&source::tokens(READ)).into_bytes();
    let openai: Wire = || source::openai_wire(READ).into_bytes();
    frames_of("token", READ, openbb)
        .chain(frames_of("chunk", READ, openai))
        .chain(frames_of("large", LARGE, large))
        .chain([line()])
        .chain(tokens::<OpenBb>(requests::OPENBB))
        .chain(tokens::<GitHub>(requests::GITHUB))
        .chain(tokens::<OpenAi>(requests::OPENAI))
        .chain(tokens::<Responses>(requests::RESPONSES))
        .chain(tokens::<Anthropic>(requests::ANTHROPIC))
        .chain(tokens::<Meilisearch>(requests::OPENAI))
        .chain(tokens::<UiStream>(requests::UI_STREAM))
        .chain(tokens::<AgUi>(requests::AG_UI))
        .chain(typed::<OpenBb>("large".to_owned(), &PIECES, LARGE, large))
        .collect()
}
