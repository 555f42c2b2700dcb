//! `cargo run -p chat-pages` serves the agent of both pages on <http://127.0.0.1:7777>.

use std::error::Error;

use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1);
    let port: u16 = port.map_or(Ok(7777), |port| port.parse())?;
    let router = chat_pages::router()?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    greet(&listener.local_addr()?.to_string());
    Ok(copilot_wire_hyper::serve(listener, router, copilot_wire_hyper::stop_signal()?).await?)
}

#[expect(clippy::print_stdout, reason = "read by a person at a terminal")]
fn greet(address: &str) {
    println!("chat-pages: listening on http://{address}");
    let [pages, _] = chat_pages::ORIGINS;
    println!("  pages: npm start, then open {pages}");
}
