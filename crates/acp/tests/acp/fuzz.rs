//! The fuzz target of connections, on its seeds and with random changes.

// Also a target of the fuzzer, and its helpers.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/acp.rs"]
mod acp;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../../fuzz/src/input.rs"]
mod input;

use std::path::Path;

use input::Chunks;

#[test]
fn seeds_run_in_pieces_and_with_changes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/acp");
    let seeds = std::fs::read_dir(folder).unwrap();
    let mut seeds: Vec<_> = seeds.map(|seed| seed.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for seed in seeds {
        let mut bytes = std::fs::read(&seed).unwrap();
        for how in 0..4 {
            bytes[0] = how;
            acp::acp(&bytes);
        }
        // Another byte at pseudo-random places, of which the sizes of chunks are a source.
        let mut at = 1;
        for (number, chunk) in Chunks::new(&[0; 20_000], 7).take(100).enumerate() {
            at = (at + 31 * chunk.len() + 1) % bytes.len();
            let was = bytes[at];
            bytes[at] = b"\0\n\"{}[],:0\xff"[number % 11];
            acp::acp(&bytes);
            bytes[at] = was;
        }
    }
}
