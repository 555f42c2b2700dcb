//! The memory of lists that a peer sizes, and of long contents.
//!
//! The guard counts the instructions of the same lists: `cargo run --profile bench -p guard -- --lists`.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use guard::lists::{COUNTS, List, MOST, lists};
use guard::memory::{contents, held, tiny};

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

/// Returns the most bytes that are held at a time while a request is answered, for each byte of its body.
fn factor(body: String, answer: fn(Bytes) -> usize) -> f64 {
    let body = Bytes::from(body);
    let info = allocation_counter::measure(|| {
        assert!(answer(body.clone()) > 0);
    });
    info.bytes_max as f64 / body.len() as f64
}

fn check(cases: Vec<guard::memory::Case>, most: f64) {
    let mut failed = Vec::new();
    for case in cases {
        let factor = catch_unwind(|| factor(case.body, case.answer));
        let factor = factor.unwrap_or(f64::INFINITY);
        println!("{:40} {factor:6.2}", case.name);
        if factor > most {
            failed.push(format!("{}: {factor:.2} bytes a byte", case.name));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn long_contents_take_little_more_than_their_bytes() {
    check(contents(), held::LONG);
}

#[test]
fn tiny_elements_take_a_known_multiple_of_their_bytes() {
    check(tiny(), held::TINY);
}
