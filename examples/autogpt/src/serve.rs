//! The agent as a server.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use autogpt::front_end::{FrontEnd, routes};
use autogpt::runner::AutoGpt;
use tokio::net::TcpListener;

/// Serves the agent on this machine until it is interrupted.
pub(crate) async fn serve(agent: AutoGpt, port: u16) -> Result<(), Box<dyn Error>> {
    let (mount, _) = analyst::github_mount()?;
    let router = routes(FrontEnd::new(agent), mount)?;
    let router = router.env(analyst::environment());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    greet(listener.local_addr()?);
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    Ok(hyper_server::serve(listener, router, stop).await?)
}

#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
fn greet(address: SocketAddr) {
    println!("autogpt: listening on http://{address}");
    println!("  Your browser       open http://{address} and tell the agent a goal");
    println!("  OpenBB Workspace   add http://{address} as an agent");
    println!("  GitHub Copilot     POST http://{address}/github, see GITHUB_SIGNATURES");
    println!("  Meilisearch chat   POST http://{address}/chats/NAME/chat/completions");
    println!("  OpenAI clients     base URL http://{address}/v1, model `autogpt`");
}
