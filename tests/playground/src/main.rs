//! Serves the stage agent on every front end, with the playground, on a port of its own.
//!
//! It prints the address, and stops when its input ends.

mod hostile;
mod stage;

use std::io::Read;
use std::net::Ipv4Addr;

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::github::Mount;
use copilot_wire::openbb::{Descriptor, Switch};
use copilot_wire_kit::github::RequestSigner;
use outside_protocol::ollama;
use tokio::net::TcpListener;

use stage::Stage;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let descriptor = Descriptor::new("stage", "Stage", "Shows what an agent can do")
        .enable(Switch::WidgetDashboardSelect)
        .enable(Switch::WidgetDashboardSearch);
    let signer = RequestSigner::generate()?;
    let scripts = copilot_wire::protocols::scripts();
    let outside = [outside_protocol::PLAYGROUND, ollama::OLLAMA_PLAYGROUND];
    let scripts = scripts.into_iter().chain(outside);
    let router = Router::new()
        .base_path("/below")
        .conversations(Conversations::single_user(MemoryConversationStore::new()))
        .playground_with(scripts)?
        .mount(descriptor, Stage)?
        .mount(Mount::verified(signer.key_set()), Stage)?
        .mount(copilot_wire::openai::Model::new("stage"), Stage)?
        .mount(copilot_wire::responses::Model::new("stage"), Stage)?
        .mount(copilot_wire::meilisearch::Mount::new(), Stage)?
        .mount(copilot_wire::ag_ui::Mount::new(), Stage)?
        .mount(tool(), Stage)?
        .mount(copilot_wire::anthropic::Model::new("stage"), Stage)?
        .mount(copilot_wire::ui_stream::Mount::new(), Stage)?
        .mount(approving(), Stage)?
        .mount(outside_protocol::Screen("/pager"), Stage)?
        .mount(ollama::Model::new("agent").path("/ollama/api/chat"), Stage)?
        .playground_signer(move |body| signer.sign(body))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    tell(&format!("http://{}", listener.local_addr()?));
    let stop = async {
        let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        drop(end.await);
    };
    Ok(copilot_wire_hyper::serve(listener, router, stop).await?)
}

fn tool() -> copilot_wire::mcp::Mount {
    copilot_wire::mcp::Mount::new("stage", "Shows what an agent can do.")
}

/// A second mount, whose pages show approval requests.
fn approving() -> copilot_wire::ui_stream::Mount {
    let mount = copilot_wire::ui_stream::Mount::new();
    mount.path("/api/approving").approvals(true).markdown(false)
}

#[expect(clippy::print_stdout, reason = "the test reads the address")]
fn tell(address: &str) {
    println!("{address}");
}
