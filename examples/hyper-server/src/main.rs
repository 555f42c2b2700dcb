//! `cargo run -p hyper-server` serves the built-in agent on <http://127.0.0.1:7777>.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use copilot_wire_hyper::{serve, stop_signal};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    analyst::main(async |port| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        analyst::greet(listener.local_addr()?);
        Ok(serve(listener, analyst::router()?, stop_signal()?).await?)
    })
    .await
}
