//! The agent that the example servers serve, and what they have in common.
//!
//! It needs no API key: it tells what data says, looks things up in the guide, asks before it deletes
//! and calls tools that fit, so that a front end has something to show of each. With the feature `model`, and with
//! `OPENAI_BASE_URL` set (and `OPENAI_API_KEY`, `OPENAI_MODEL`), it answers from that model instead. With the feature
//! `signatures` it verifies the requests of GitHub Copilot.

mod analyst;
mod dataset;
mod library;
#[cfg(feature = "model")]
mod model;
#[cfg(not(feature = "model"))]
#[path = "no_model.rs"]
mod model;
#[cfg(feature = "signatures")]
mod signatures;
#[cfg(not(feature = "signatures"))]
#[path = "unsigned.rs"]
mod signatures;
mod talk;

pub use analyst::Analyst;
pub use model::Model;
#[cfg(feature = "model")]
pub use model::shown;
pub use signatures::mount as github_mount;

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::mcp;
use copilot_wire::openbb::{Descriptor, Switch};

/// The hosts by which a browser on this machine reaches it. The examples serve nobody else, and no web page may
/// pass for one of theirs.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Runs a server on a port, the one of `--port N` or 7777, and prints why it failed, or the usage where the arguments
/// ask for it or are not understood.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a person at a terminal reads"
)]
pub async fn main(serve: impl AsyncFnOnce(u16) -> Result<(), Box<dyn Error>>) -> ExitCode {
    const USAGE: &str = "\
        Serves the built-in agent to every front end on http://127.0.0.1:7777.\n\
        usage: [--port N]\n\
        environment, with the feature `model`: OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, to answer from that model\n\
        environment, with the feature `signatures`: GITHUB_SIGNATURES, which is test, github, off, or the address of keys";
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let port = match arguments[..] {
        [] => Some(7777),
        ["--port", port] => port.parse().ok(),
        ["--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => None,
    };
    let Some(port) = port else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match serve(port).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("port {port}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Tells where the server is, and what to try next.
#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
pub fn greet(address: SocketAddr) {
    let signed = if cfg!(feature = "signatures") {
        ", signed; GITHUB_SIGNATURES=off takes all"
    } else {
        ""
    };
    println!(
        "copilot-wire: listening on http://{address}
  Your browser       open http://{address} and talk to the agent
  OpenBB Workspace   add http://{address} as an agent
  GitHub Copilot     POST http://{address}/github{signed}
  Meilisearch chat   POST http://{address}/chats/NAME/chat/completions
  OpenAI clients     base URL http://{address}/v1, any key, model `analyst`; Codex too
  Anthropic clients  base URL http://{address}, any key, model `analyst`; Claude Code too
  AI SDK pages       useChat with the API http://{address}/api/chat
  AG-UI apps         POST http://{address}/agui
  MCP clients        the tool `ask` at http://{address}/mcp

Try next:
  ask it             curl -N http://{address}/v1/chat/completions -H 'content-type: application/json' -d '{{
                       \"model\": \"analyst\", \"stream\": true, \"messages\": [{{\"role\": \"user\", \"content\": \"Hello\"}}]}}'
  Claude Code        ANTHROPIC_BASE_URL=http://{address} ANTHROPIC_API_KEY=any claude
  an agent of yours  README.md, \"Your own agent\": ten lines"
    );
}

/// Returns a router with the example agent on every front end.
///
/// # Errors
///
/// When the settings in the environment are not usable.
pub fn router() -> Result<Router, Box<dyn Error>> {
    routes(Analyst::new(Model::from_env()?))
}

/// Creates a router with an analyst on every front end.
///
/// # Errors
///
/// When it cannot be mounted.
pub fn routes(agent: Analyst) -> Result<Router, Box<dyn Error>> {
    let descriptor = Descriptor::new(
        "copilot-wire-analyst",
        "Analyst",
        "Looks at the widgets on your dashboard and tells you what their data says.",
    )
    .enable(Switch::WidgetDashboardSelect)
    .enable(Switch::WidgetDashboardSearch);
    let (mount, signer) = signatures::mount()?;
    // It asks before it deletes, and then deletes nothing.
    let tool = mcp::Mount::new(
        "ask",
        "Asks the analyst one question, and returns its answer.",
    )
    .title("Ask the analyst")
    .read_only()
    .server(mcp::Server::new("analyst", env!("CARGO_PKG_VERSION")).title("Analyst"));
    // It serves one user, as `LOOPBACK` says.
    let conversations = Conversations::single_user(MemoryConversationStore::new());
    let router = Router::new()
        .hosts(LOOPBACK)
        .conversations(conversations)
        .playground()?
        .mount(descriptor, agent.clone())?
        .mount(mount, agent.clone())?
        .mount_catch_all("analyst", agent.clone())?
        .mount(copilot_wire::meilisearch::Mount::new(), agent.clone())?
        .mount(copilot_wire::ui_stream::Mount::new(), agent.clone())?
        .mount(copilot_wire::ag_ui::Mount::new(), agent.clone())?
        .mount(tool, agent)?;
    #[cfg(feature = "signatures")]
    if let Some(signer) = signer {
        return Ok(router.playground_signer(move |body| signer.sign(body))?);
    }
    #[cfg(not(feature = "signatures"))]
    let None = signer;
    Ok(router)
}
