//! The files of `fixtures/github-copilot/`.

use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use copilot_wire::github::ChatRequest;
use copilot_wire::json::Wire as _;
use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    // The OpenAI tests use the same streams of models.
    let folder = match name.starts_with("chunk-") {
        true => "openai",
        false => "github-copilot",
    };
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder)
}

/// Returns the names of all files with this prefix and suffix, in order.
pub(crate) fn names(prefix: &str, suffix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(prefix)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(prefix) && name.ends_with(suffix))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{prefix}*{suffix}");
    names
}

pub(crate) fn bytes(name: &str) -> Bytes {
    fs::read(folder(name).join(name)).expect(name).into()
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).expect(name)
}

pub(crate) fn request(name: &str) -> ChatRequest {
    ChatRequest::from_json(bytes(name)).expect(name)
}

/// Returns every recorded request with its name.
pub(crate) fn requests() -> impl Iterator<Item = (String, ChatRequest)> {
    names("req-", ".json")
        .into_iter()
        .filter(|name| name != "req-expected.json")
        .map(|name| {
            let request = request(&name);
            (name, request)
        })
}
