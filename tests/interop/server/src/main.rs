//! Serves agents for the interoperability tests, with hyper, or with actix if asked to.
//!
//! It takes a free port, prints it on standard output, and stops when standard input ends. With `stored` as the second
//! argument replies outlive their connections.
#![allow(clippy::print_stdout)]

mod ag_ui;
mod anthropic;
mod failing;
mod mcp;
mod ollama;
mod openai;
mod recall;
mod responses;
mod ui_stream;

use std::net::TcpListener;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::{Env, Environment, Ticks};
use copilot_wire::replies::{MemoryReplyStore, Replies};
use tokio::io::AsyncReadExt;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    println!("{port}");
    let mut router =
        Router::new()
            .env(Env::new(Impatient))
            .hosts(["localhost", "127.0.0.1", "[::1]"]);
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next();
    if arguments.next().as_deref() == Some("stored") {
        let store = MemoryReplyStore::new();
        router = router.resumable(Replies::per_user(store, tokio::spawn));
    }
    let conversations = Conversations::single_user(MemoryConversationStore::new());
    let router = openai::mount(router.conversations(conversations))?;
    let router = anthropic::mount(router)?;
    let router = responses::mount(router)?;
    let router = ui_stream::mount(router)?;
    let router = ag_ui::mount(router)?;
    let router = ollama::mount(router)?;
    let router = mcp::mount(router, &format!("http://127.0.0.1:{port}"))?;
    let router = failing::mount(router)?;
    match kind.as_deref() {
        Some("actix") => actix(listener, router),
        _ => hyper(listener, router),
    }
}

fn hyper(listener: TcpListener, router: Router) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let stop = async {
            let mut rest = Vec::new();
            let _ = tokio::io::stdin().read_to_end(&mut rest).await;
        };
        Ok(copilot_wire_hyper::serve(listener, router, stop).await?)
    })
}

fn actix(listener: TcpListener, router: Router) -> Result<(), Failure> {
    actix_web::rt::System::new().block_on(async {
        let server = actix_serve::serve(listener, router)?;
        let handle = server.handle();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            drop(handle.stop(false));
        });
        Ok(server.await?)
    })
}

/// Keeps streams alive every 20 ms, so that every client meets keep-alive.
struct Impatient;

impl Environment for Impatient {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        // Keep-alive ticks every 7.5 s; anything else is a deadline.
        if period != Duration::from_millis(7500) {
            return None;
        }
        Some(Box::pin(Every(tokio::time::interval(
            Duration::from_millis(10),
        ))))
    }
}

struct Every(tokio::time::Interval);

impl futures_core::Stream for Every {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.0.poll_tick(cx).map(|_| Some(()))
    }
}
