//! Serves agents for the interoperability tests.
//!
//! It takes a free port, prints it on standard output, and stops when standard input ends.
#![allow(clippy::print_stdout)]

mod openai;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use copilot_wire::Router;
use copilot_wire::protocol::{Env, Environment, Ticks};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let router = openai::mount(Router::new().env(Env::new(Impatient)))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    hyper_server::serve(listener, router, async {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    })
    .await?;
    Ok(())
}

/// Keeps streams alive every 20 ms, so that every client meets keep-alive.
struct Impatient;

impl Environment for Impatient {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
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
