//! `API_KEYS=ali=sesame cargo run -p axum-server` serves three agents on
//! <http://127.0.0.1:7777/agents/>. With `--resumable` replies outlive their connections, and with
//! `--redis URL`, and the feature `redis`, several servers share them, and conversations. With `--sqlite FILE`, and the
//! feature `sqlite`, both outlive a server that restarts.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use axum_server::{Settings, app, serve, stores};
use copilot_wire_hyper::stop_signal;
use tokio::net::TcpListener;

#[tokio::main]
#[expect(clippy::print_stderr, reason = "what a person at a terminal reads")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("axum-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let mut settings = Settings::from_env()?;
    stores(&mut settings, std::env::args().skip(1)).await?;
    let stop = stop_signal()?;
    let listener = TcpListener::bind(settings.address).await?;
    let app = app(settings)?;
    greet(listener.local_addr()?);
    Ok(serve(listener, app, stop).await?)
}

#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
fn greet(address: SocketAddr) {
    println!("axum-server: listening on http://{address}");
    println!("  OpenBB Workspace   add http://{address}/agents, with your key as X-API-KEY");
    println!(
        "  OpenAI clients     base URL http://{address}/agents/NAME/v1 of an agent, with your key"
    );
    println!("  Prometheus         scrape http://{address}/metrics");
}
