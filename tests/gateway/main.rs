//! Tests of a router as a gateway: base path, guards, limits of uploads, and reports.

#![cfg(all(
    feature = "openbb",
    feature = "github",
    feature = "meilisearch",
    feature = "openai"
))]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod base_path;
mod compressed;
#[cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "mcp",
    feature = "responses",
    feature = "ui_stream"
))]
mod exposed;
mod guards;
mod reports;
mod support;
mod uploads;
mod users;
