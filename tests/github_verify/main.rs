//! GitHub Copilot request signatures.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may be blunt too"
)]

mod cache;
mod flight;
mod headers;
mod key_server;
mod keys;
mod properties;
mod signature;
mod verdicts;

use std::fs;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use copilot_wire::github::verify::{HeaderPair, KeyId, KeySet, VerifyErrorKind as Kind, verify};
use copilot_wire_kit::github::RequestSigner;
use http::{HeaderMap, HeaderValue};

const BODY: &[u8] = br#"{"messages":[]}"#;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!(
        "{}/fixtures/github-copilot/{name}",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap()
}

fn json(name: &str) -> serde_json::Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

fn keys() -> KeySet {
    KeySet::from_json(&fixture("keys.json")).unwrap()
}

fn headers(pair: HeaderPair, identifier: &str, signature: &str) -> HeaderMap {
    HeaderMap::from_iter([
        (
            pair.identifier(),
            HeaderValue::from_str(identifier).unwrap(),
        ),
        (pair.signature(), HeaderValue::from_str(signature).unwrap()),
    ])
}

fn kind(body: &[u8], headers: &HeaderMap, keys: &KeySet) -> Option<Kind> {
    verify(body, headers, keys).err().map(|error| error.kind())
}
