//! Replays what the fuzz targets start from and what they ever found, on a stable compiler.
//!
//! The bodies of the targets are those of `fuzz/`. Every seed, every past finding and every fixture
//! runs, and as many random inputs as a test has time for; `fuzz/README.md` says how to look for more.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::type_complexity,
    clippy::collapsible_match,
    clippy::option_map_unit_fn,
    unreachable_pub
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

#[path = "../fuzz/src/lib.rs"]
mod targets;

use targets::TARGETS;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn target(name: &str) -> fn(&[u8]) {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap().1
}

#[test]
fn every_seed_and_every_past_finding_runs() {
    for (name, run) in TARGETS {
        let seeds = files(&root().join("fuzz/seeds").join(name));
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            println!("{}", seed.display());
            run(&fs::read(seed).unwrap());
        }
    }
}

#[test]
fn every_fixture_runs_in_every_target_that_reads_such_text() {
    let run = |fixture: &PathBuf| {
        println!("{}", fixture.display());
        let bytes = fs::read(fixture).unwrap();
        target("requests")(&bytes);
        target("json")(&bytes);
        for how in 0..8 {
            let cut = [&[how], bytes.as_slice()].concat();
            target("events")(&cut);
            // The decoder's target has a byte more, its budget.
            target("sse_decode")(&[&[how, 200], bytes.as_slice()].concat());
        }
    };
    // Alternately, so that each half has as many large ones.
    let fixtures = files(&root().join("fixtures"));
    let half = |first| fixtures.iter().skip(first).step_by(2);
    thread::scope(|scope| {
        scope.spawn(|| half(0).for_each(run));
        half(1).for_each(run);
    });
}

#[test]
fn every_case_of_the_conformance_suite_is_read_as_the_naive_reader_reads_it() {
    let cases = fs::read(root().join("fixtures/sse/conformance.json")).unwrap();
    let cases: serde_json::Value = serde_json::from_slice(&cases).unwrap();
    for case in cases["parse"].as_array().unwrap() {
        let Some(stream) = case["input"].as_str() else {
            continue;
        };
        for how in 0..8 {
            let mut input = vec![how, 60];
            input.extend_from_slice(stream.as_bytes());
            target("sse_decode")(&input);
        }
        // The naive reader is a second opinion only if it is right.
        let expected = case["expected"]["events"].as_array().unwrap();
        let seen = targets::sse::naive(stream.as_bytes());
        let events = seen
            .iter()
            .filter(|seen| matches!(seen, targets::sse::Seen::Event { .. }));
        assert_eq!(events.count(), expected.len(), "{}", case["name"]);
    }
}

/// Findings of the `reply` target, in words.
mod findings {
    use super::targets::reply::{Act, Line, Step, play};

    #[test]
    fn a_run_that_is_dropped_before_its_first_poll_ends_the_body() {
        play(&[Step::Detach, Step::Poll(false), Step::DropRun]);
    }

    #[test]
    fn a_text_that_panics_half_way_is_taken_back() {
        play(&[
            Step::Script(Act::Speak(Line::Text(b'a', 3))),
            Step::Script(Act::Speak(Line::TextPanics)),
            Step::Script(Act::Speak(Line::Text(b'b', 3))),
            Step::Poll(false),
        ]);
    }

    #[test]
    fn a_write_from_another_thread_counts_even_if_the_next_one_panics() {
        play(&[
            Step::Script(Act::Thread(Line::Word, 1)),
            Step::Script(Act::Speak(Line::WordPanics)),
            Step::Script(Act::Speak(Line::Text(b'a', 3))),
            Step::Poll(false),
        ]);
    }
}

/// Runs the targets without coverage feedback: on random bytes, and on seeds with random changes.
#[test]
fn random_inputs_run() {
    let mut random = Random(0x5EED);
    for (name, run) in TARGETS {
        let seeds = files(&root().join("fuzz/seeds").join(name));
        let seeds: Vec<_> = seeds.iter().map(|seed| fs::read(seed).unwrap()).collect();
        // Curves without optimisation take their time.
        let rounds = if *name == "signature" { 50 } else { 600 };
        for round in 0..rounds {
            let mut bytes = match seeds.get(round % (seeds.len() + 1)) {
                Some(seed) => seed.clone(),
                None => (0..random.below(400))
                    .map(|_| random.below(256) as u8)
                    .collect(),
            };
            bytes.truncate(4096);
            for _ in 0..random.below(8) {
                if bytes.is_empty() {
                    break;
                }
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => bytes.insert(at, random.below(256) as u8),
                    2 => drop(bytes.remove(at)),
                    _ => {
                        let end = at + random.below(bytes.len() - at);
                        let piece = bytes[at..end].to_vec();
                        bytes.extend_from_slice(&piece);
                    }
                }
            }
            let ran = std::panic::catch_unwind(|| run(&bytes));
            assert!(ran.is_ok(), "{name}: {bytes:?}");
        }
    }
}

/// splitmix64
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as usize % bound.max(1)
    }
}
