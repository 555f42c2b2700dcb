use copilot_wire::Router;
use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::router::MountError;

use super::FrontEnd;

/// Mounts the agent on every front end: the OpenBB Workspace, GitHub Copilot behind `mount`, Meilisearch
/// chat clients, web pages, as the model `autogpt` for clients of language models, and the playground at `/`.
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
    Router::new()
        .playground()?
        .mount(descriptor, agent.clone())?
        .mount(mount, agent.clone())?
        .mount(copilot_wire::meilisearch::Mount::new(), agent.clone())?
        .mount(copilot_wire::ui_stream::Mount::new(), agent.clone())?
        .mount(copilot_wire::ag_ui::Mount::new(), agent.clone())?
        .mount_model("autogpt", agent)
}
