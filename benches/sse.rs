//! The cost of reading events, and of a line in small pieces.
//!
//! ```sh
//! cargo bench --bench sse
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::hint::black_box;

use copilot_wire::sse::{Decoder, Event, Frame, encode};
use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const EVENTS: usize = 1000;

fn wire(name: &str, data: &str) -> Vec<u8> {
    format!("event: {name}\ndata: {data}\n\n")
        .repeat(EVENTS)
        .into_bytes()
}

fn decode(wire: &[u8], size: usize) -> usize {
    let mut decoder = Decoder::new().limit(2 * wire.len());
    let mut length = 0;
    for mut chunk in wire.chunks(size) {
        while let Some(frame) = decoder.next(&mut chunk).unwrap() {
            if let Frame::Event(event) = black_box(frame) {
                length += event.data().len();
            }
        }
    }
    length
}

/// Short events, as a model's tokens are, in chunks of a network packet and of a read.
#[divan::bench(args = [1460, 65536])]
fn decode_tokens(bencher: Bencher<'_, '_>, size: usize) {
    let wire = wire("copilotMessageChunk", r#"{"delta":" latest"}"#);
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench_local(|| decode(black_box(&wire), size));
}

/// Events of 1 KB in the same chunks.
#[divan::bench(args = [1460, 65536])]
fn decode_kilobytes(bencher: Bencher<'_, '_>, size: usize) {
    let wire = wire("copilotMessageArtifact", &"x".repeat(1000));
    bencher
        .counter(BytesCount::of_slice(&wire))
        .bench_local(|| decode(black_box(&wire), size));
}

/// One line of 1 MB: the time must not depend on how it is cut by more than the cutting costs.
#[divan::bench(args = [16, 1460, 65536])]
fn decode_one_line_in_pieces(bencher: Bencher<'_, '_>, size: usize) {
    let mut wire = b"data: ".to_vec();
    wire.resize(1_000_000, b'x');
    wire.extend_from_slice(b"\n\n");
    bencher
        .counter(BytesCount::of_slice(&wire))
        .bench_local(|| decode(black_box(&wire), size));
}

/// An event that is passed on.
#[divan::bench]
fn encode_events(bencher: Bencher<'_, '_>) {
    let event = Event::new(r#"{"delta":" latest"}"#);
    let mut out = Vec::with_capacity(64 * 1024);
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        out.clear();
        for _ in 0..EVENTS {
            encode(black_box(&event), &mut out);
        }
        out.len()
    });
}
