//! The memory of lists that a peer sizes, and of long contents.
//!
//! The guard counts the instructions of the same lists: `cargo run --profile bench -p guard -- --lists`.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use guard::lists::{COUNTS, List, MOST, lists};
use guard::memory::{Case, contents, tiny};

/// Returns the bytes that work with so many elements allocates.
fn bytes(list: &List, count: usize) -> f64 {
    let mut work = (list.prepare)((list.input)(count));
    let info = allocation_counter::measure(|| {
        std::hint::black_box(work());
    });
    info.bytes_total as f64
}

#[test]
fn memory_is_linear_in_every_list() {
    let mut failed = Vec::new();
    for list in lists() {
        let name = &list.name;
        let found = catch_unwind(AssertUnwindSafe(|| COUNTS.map(|count| bytes(&list, count))));
        let Ok([small, one, two]) = found else {
            failed.push(format!("{name}: it is not read"));
            continue;
        };
        // What is allocated once does not count.
        let ratio = (two - one) / (one - small).max(1.0);
        if ratio > MOST {
            failed.push(format!("{name}: {ratio:.2} times for twice the elements"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The most bytes that a request holds for each byte of its weight.
const HELD: f64 = 7.0;

/// Returns the weight that `Router::body_budget` documents.
fn weight(body: &[u8]) -> f64 {
    let count = |wanted: u8| body.iter().filter(|byte| **byte == wanted).count();
    (213 * count(b'{') + 13 * count(b',')).max(body.len()) as f64
}

/// Checks the most bytes that are held at a time while each request is answered.
fn check(cases: Vec<Case>) {
    let mut failed = Vec::new();
    for case in cases {
        let body = Bytes::from(case.body);
        let info = allocation_counter::measure(|| {
            assert!((case.answer)(body.clone()) > 0);
        });
        let held = info.bytes_max as f64;
        let (bytes, weighed) = (held / body.len() as f64, held / weight(&body));
        println!(
            "{:32} {bytes:7.2} a byte, {weighed:5.2} a byte of its weight",
            case.name
        );
        if weighed > HELD {
            failed.push(format!("{}: {weighed:.2}", case.name));
        }
    }
    assert!(failed.is_empty(), "bytes held for each byte: {failed:#?}");
}

#[test]
fn a_request_holds_at_most_seven_times_its_weight() {
    check(contents());
    check(tiny());
}
