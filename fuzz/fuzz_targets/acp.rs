#![no_main]

// Not in the library, which tests of the workspace compile without this crate.
#[path = "../src/acp.rs"]
mod acp;

use copilot_wire_fuzz::input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp::acp(data));
