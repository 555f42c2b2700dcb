//! The work for lists that a peer sizes, and the memory of requests.
//!
//! The bytes that a thread allocates, compares and moves are counted (`benches/counter`): exact, with no tool but the
//! compiler, however busy the machine is. A search by name, a removal from the front and a copy of what was read
//! so far are seen so. A search by number or variant is not: the guard counts the instructions of the same lists, with
//! callgrind (`cargo run --profile bench -p guard -- --lists`, a step of `.ci/full`).
//!
//! Seen to fail, each with the names of its lists and 3.2 to 4.2 times the bytes: a search for the call of an id in
//! `models::prompt` (every order of calls and results of all front ends), one for a citation in the session of GitHub
//! (`github-says-citations`), one for a member in the accumulator of chat completions (`openai-stream-members`), and the
//! search for a model's name when it is mounted (`mounted-models`), which was a fault.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod stored;

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use guard::lists::{COUNTS, List, MOST, lists};
use guard::memory::{Case, contents, tiny};

/// Returns the bytes that work with so many elements allocates, and those that it compares and moves.
fn bytes(list: &List, count: usize) -> [f64; 2] {
    let mut work = (list.prepare)(count);
    let before = counter::bytes();
    let info = allocation_counter::measure(|| {
        std::hint::black_box(work());
    });
    let compared = counter::bytes() - before;
    [info.bytes_total as f64, compared as f64]
}

#[test]
fn work_is_linear_in_every_list() {
    let mut failed = Vec::new();
    for list in lists().into_iter().chain(stored::lists()) {
        let name = &list.name;
        let found = catch_unwind(AssertUnwindSafe(|| {
            COUNTS.map(|count| bytes(&list, count / 4))
        }));
        let Ok([small, one, two]) = found else {
            failed.push(format!("{name}: it is not read"));
            continue;
        };
        for (at, what) in ["allocated", "compared and moved"].into_iter().enumerate() {
            // What is done once does not count.
            let (first, second) = (one[at] - small[at], two[at] - one[at]);
            // A search of names takes more than 400 bytes for each of these elements. What the random numbers of a hash
            // map make is far less.
            let is_noise = second - 2.0 * first < (16 * (COUNTS[2] - COUNTS[1])) as f64;
            if second > MOST * first && !is_noise {
                let ratio = second / first;
                failed.push(format!(
                    "{name}: {ratio:.2} times the bytes {what} for twice the elements"
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Returns the weight that `Router::body_budget` documents.
fn weight(body: &[u8]) -> f64 {
    let count = |wanted: u8| body.iter().filter(|byte| **byte == wanted).count();
    (213 * count(b'{') + 13 * count(b',')).max(body.len()) as f64
}

/// Checks the most bytes that are held at a time while each request is answered, for each byte of the request, and at most
/// seven for each byte of its weight.
fn check(cases: Vec<Case>, most: f64) {
    let mut failed = Vec::new();
    for case in cases {
        let body = Bytes::from(case.body);
        let info = allocation_counter::measure(|| {
            assert!((case.answer)(body.clone()) > 0);
        });
        let held = info.bytes_max as f64;
        let (bytes, weighed) = (held / body.len() as f64, held / weight(&body));
        println!(
            "{bytes:7.2} a byte, {weighed:5.2} a byte of its weight: {}",
            case.name
        );
        if bytes > most || weighed > 7.0 {
            failed.push(format!("{}: {bytes:.2}, {weighed:.2}", case.name));
        }
    }
    assert!(failed.is_empty(), "bytes held for each byte: {failed:#?}");
}

#[test]
fn a_request_of_long_contents_holds_at_most_six_times_its_length() {
    check(contents(), 6.0);
}

#[test]
fn a_request_of_tiny_elements_holds_at_most_forty_times_its_length() {
    check(tiny(), 40.0);
}
