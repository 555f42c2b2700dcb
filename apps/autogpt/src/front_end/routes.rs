//! The routes of all front ends.

use copilot_wire::Router;
use copilot_wire::github::Mount;
use copilot_wire::mcp;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{Refusal, User};
use copilot_wire::router::MountError;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::FrontEnd;
use crate::digest::hex_digest;

/// Mounts the agent on every front end: the OpenBB Workspace, GitHub Copilot behind `mount`, Meilisearch
/// chat clients, web pages, as the model `autogpt` for clients of language models, as the tool `autogpt` for those that
/// call tools, and the playground at `/`.
///
/// Where nobody has set the [`User`] of a request, its header `authorization` is the user. All callers without one
/// are one user, so that they too can resume an answer on a router with
/// [resumable](Router::resumable) replies.
///
/// # Errors
///
/// [`MountError`], if two of them want one path.
pub fn routes(agent: FrontEnd, mount: Mount) -> Result<Router, MountError> {
    let descriptor = Descriptor::new(
        "copilot-wire-autogpt",
        "AutoGPT",
        "Works towards your goal step by step, and asks before a step does harm.",
    );
    let tool = mcp::Mount::new(
        "autogpt",
        "Works towards a goal step by step, and asks before a step does harm.",
    )
    .title("AutoGPT")
    .question("The goal, or what AutoGPT is to be told")
    .server(mcp::Server::new("autogpt", env!("CARGO_PKG_VERSION")));
    Router::new()
        .guard(async |parts| Ok::<_, Refusal>(with_user(parts)))
        .playground()?
        .mount(descriptor, agent.clone())?
        .mount(mount, agent.clone())?
        .mount(copilot_wire::meilisearch::Mount::new(), agent.clone())?
        .mount(copilot_wire::ui_stream::Mount::new(), agent.clone())?
        .mount(copilot_wire::ag_ui::Mount::new(), agent.clone())?
        .mount(tool, agent.clone())?
        .mount_model("autogpt", agent)
}

fn with_user(mut parts: Parts) -> Parts {
    if parts.extensions.get::<User>().is_none() {
        let key = parts
            .headers
            .get(AUTHORIZATION)
            .map(|key| String::from_utf8_lossy(key.as_bytes()));
        // A digest: no user whose id is the text of a key is the owner of that key.
        let user = match &key {
            Some(key) => hex_digest(&["authorization", key]),
            None => hex_digest(&["anonymous"]),
        };
        parts.extensions.insert(User::new(user));
    }
    parts
}
