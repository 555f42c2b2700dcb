//! The bodies of the fuzz targets: plain functions from bytes to nothing, which panic on a finding.
//!
//! `fuzz_targets/` hands them to the fuzzer, `tests/fuzz_replay.rs` of the library compiles the same
//! files on a stable compiler and replays every seed and every past finding.

#[cfg(feature = "openai")]
pub mod consent;
pub mod input;
pub mod json;
pub mod protocols;
pub mod reply;
pub mod router;
#[cfg(feature = "verify")]
pub mod signature;
pub mod sse;

/// The name of a target's folder under `seeds/`, and the target.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("sse_decode", sse::decode),
    ("sse_encode", sse::encode),
    ("json", json::json),
    ("requests", protocols::requests),
    ("events", protocols::events),
    ("words", protocols::words),
    ("router", router::router),
    ("reply", reply::reply),
    #[cfg(feature = "openai")]
    ("consent", consent::consent),
    #[cfg(feature = "verify")]
    ("signature", signature::signature),
];
