//! The cost of JSON beside serde_json: escaping, writing a table, skipping a large value.
//!
//! ```sh
//! cargo bench --bench json
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::json::{Escape, Reader, escape, write};
use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use serde::Serialize;
use serde_json::value::RawValue;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Creates 64 KiB of text in which every `nth` character needs an escape.
fn text(nth: usize) -> String {
    (0..65536)
        .map(|at| if at % nth == nth - 1 { '"' } else { 'x' })
        .collect()
}

#[divan::bench(args = [65537, 33])]
fn escape_64k(bencher: Bencher<'_, '_>, nth: usize) {
    let text = text(nth);
    let mut out = Vec::new();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        out.clear();
        escape(black_box(&text), Escape::JsonAndSeparators, &mut out);
        out.len()
    });
}

#[divan::bench(args = [65537, 33])]
fn escape_64k_serde_json(bencher: Bencher<'_, '_>, nth: usize) {
    let text = text(nth);
    let mut out = Vec::new();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        out.clear();
        serde_json::to_writer(&mut out, black_box(&text)).unwrap();
        out.len()
    });
}

#[derive(Serialize)]
struct Row {
    date: String,
    symbol: &'static str,
    open: f64,
    close: f64,
    volume: u64,
}

fn rows() -> Vec<Row> {
    (0..1000)
        .map(|day: i32| Row {
            date: format!("2025-{:02}-{:02}", 1 + day / 28 % 12, 1 + day % 28),
            symbol: "AAPL",
            open: 200.0 + f64::from(day) * 0.17,
            close: 201.0 + f64::from(day) * 0.13,
            volume: 50_000_000 + u64::from(day.unsigned_abs()) * 7919,
        })
        .collect()
}

#[divan::bench]
fn write_table(bencher: Bencher<'_, '_>) {
    let rows = rows();
    bencher.bench_local(|| {
        let mut out = Vec::new();
        write(black_box(&rows), Escape::Json, &mut out).unwrap();
        out
    });
}

#[divan::bench]
fn write_table_serde_json(bencher: Bencher<'_, '_>) {
    let rows = rows();
    bencher.bench_local(|| serde_json::to_vec(black_box(&rows)).unwrap());
}

/// Creates widget data as the Workspace sends it: records as JSON text inside a string.
fn body() -> Bytes {
    let records = serde_json::to_string(&rows()).unwrap();
    Bytes::from(serde_json::to_string(&[records]).unwrap())
}

#[divan::bench]
fn read_past_data(bencher: Bencher<'_, '_>) {
    let body = body();
    bencher
        .counter(BytesCount::of_slice(&body))
        .bench_local(|| Reader::new(black_box(&body)).unwrap().value().unwrap());
}

#[divan::bench]
fn read_past_data_serde_json(bencher: Bencher<'_, '_>) {
    let body = body();
    bencher
        .counter(BytesCount::of_slice(&body))
        .bench_local(|| {
            let raw: &RawValue = serde_json::from_slice(black_box(&body)).unwrap();
            raw.get().len()
        });
}
