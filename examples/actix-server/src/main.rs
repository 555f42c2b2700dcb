//! `cargo run -p actix-example` serves the built-in agent on <http://127.0.0.1:7777>.

use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;

#[actix_web::main]
async fn main() -> ExitCode {
    analyst::main(async |port| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        analyst::greet(listener.local_addr()?);
        Ok(actix_serve::serve(listener, analyst::router()?)?.await?)
    })
    .await
}
