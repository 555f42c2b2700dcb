//! Serves agents for the interoperability tests, with hyper, or with actix if asked to.
//!
//! It takes a free port, prints it on standard output, and stops when standard input ends.
#![allow(clippy::print_stdout)]

mod ag_ui;
mod anthropic;
mod failing;
mod ollama;
mod openai;
mod recall;
mod responses;
mod ui_stream;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::{Env, Environment, Ticks};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let router = Router::new().env(Env::new(Impatient));
    let conversations = Conversations::single_user(MemoryConversationStore::new());
    let router = openai::mount(router.conversations(conversations))?;
    let router = anthropic::mount(router)?;
    let router = responses::mount(router)?;
    let router = ui_stream::mount(router)?;
    let router = ag_ui::mount(router)?;
    let router = ollama::mount(router)?;
    let router = failing::mount(router)?;
    match std::env::args().nth(1).as_deref() {
        Some("actix") => actix(router),
        _ => hyper(router),
    }
}

fn hyper(router: Router) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        let stop = async {
            let mut rest = Vec::new();
            let _ = tokio::io::stdin().read_to_end(&mut rest).await;
        };
        Ok(hyper_server::serve(listener, router, stop).await?)
    })
}

fn actix(router: Router) -> Result<(), Failure> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
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
