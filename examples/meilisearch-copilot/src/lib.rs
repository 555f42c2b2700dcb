//! Puts a Meilisearch workspace behind every chat front end.
//!
//! The agent hands the conversation to the workspace and relays what comes back: text as text, a
//! search as a step of the work, the documents it found as sources, a search that failed as a note
//! while the answer goes on. Behind our own Meilisearch route the events pass through as they are, but
//! for the words of failures, and the search engine is asked with the client's key. Clients have a say in how
//! the model answers as far as their protocols have words for it, and read why the answer ended.

mod bridge;
mod conversation;
mod document;
mod failure;
mod native;
mod parameters;
mod relay;
pub mod replay;
mod store;
mod upstream;

pub use bridge::Bridge;
pub use conversation::Turn;
pub use failure::UpstreamError;
pub use store::{Memory, Store};
pub use upstream::{Answer, Upstream};

use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::Env;
use copilot_wire::router::MountError;
use copilot_wire::{Router, ag_ui, github, ui_stream};
use http::Method;
use native::Native;
use std::sync::Arc;

/// Returns a router with the bridge on every front end.
///
/// # Errors
///
/// When two front ends want one path.
pub fn router(bridge: Bridge, env: Env) -> Result<Router, MountError> {
    let bridge = Arc::new(bridge);
    let descriptor = Descriptor::new(
        "copilot-wire-search",
        "Search",
        "Answers from the documents of a Meilisearch workspace and names its sources.",
    );
    Router::new()
        .env(env)
        // No page of the web may pass for one of this machine.
        .hosts(analyst::LOOPBACK)
        .playground()?
        .mount(descriptor, Arc::clone(&bridge))?
        // Anybody may ask here: fine on this machine, and in the open a case for `Mount::verified`.
        .mount(github::Mount::unverified(), Arc::clone(&bridge))?
        .mount_model("search", Arc::clone(&bridge))?
        .mount(ui_stream::Mount::new(), Arc::clone(&bridge))?
        .mount(ag_ui::Mount::new(), Arc::clone(&bridge))?
        .with(|site| site.route(Method::POST, Native::PATH, Native(bridge)))
}
