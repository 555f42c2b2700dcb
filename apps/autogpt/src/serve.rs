//! The HTTP server.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use autogpt::agent_loop::runner::AutoGpt;
use autogpt::front_end::{FrontEnd, routes};
use copilot_wire::conversations::Conversations;
use copilot_wire::replies::Replies;
use tokio::net::TcpListener;

/// Serves the agent on this machine until Ctrl-C or `SIGTERM`. Questions are signed with `secret`, or without it with a
/// random key that all servers with the same replies share.
pub(crate) async fn serve(
    agent: AutoGpt,
    (replies, conversations): (Replies, Conversations),
    port: u16,
    secret: Option<[u8; 32]>,
) -> Result<(), Box<dyn Error>> {
    let (mount, signer) = analyst::github_mount()?;
    let router = routes(FrontEnd::new(agent), mount)?
        .resumable(replies)
        .conversations(conversations)
        .hosts(analyst::LOOPBACK);
    let router = match secret {
        Some(secret) => router.secret(secret),
        None => router,
    };
    let router = match signer {
        Some(signer) => router.playground_signer(move |body| signer.sign(body))?,
        None => router,
    };
    // On this machine only, because the agent writes files, and this server does not authenticate users.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    print_addresses(listener.local_addr()?);
    Ok(copilot_wire_hyper::serve(listener, router, copilot_wire_hyper::stop_signal()?).await?)
}

#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
fn print_addresses(address: SocketAddr) {
    println!("autogpt: listening on http://{address}");
    println!("  Your browser       open http://{address} and tell the agent a goal");
    println!("  OpenBB Workspace   add http://{address} as an agent");
    println!(
        "  GitHub Copilot     POST http://{address}/github, signed; GITHUB_SIGNATURES=off takes all"
    );
    println!("  Meilisearch chat   POST http://{address}/chats/NAME/chat/completions");
    println!("  OpenAI clients     base URL http://{address}/v1, model `autogpt`");
    println!("  MCP clients        the tool `autogpt` at http://{address}/mcp");
}
