#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| copilot_wire_fuzz::consent::consent(data));
