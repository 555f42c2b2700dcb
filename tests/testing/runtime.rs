//! A harness inside a runtime: time waits for what the runtime has put off.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::{Clock, Harness, Transcript};
use futures::future::{Either, select};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

/// Works before a second has passed, or is late.
struct Hurried(Clock, Work);

#[derive(Clone, Copy)]
enum Work {
    /// More receives than tokio allows a task in one go.
    Receives,
    /// Gives way to other tasks.
    Yields,
    /// Waits for a task of its own.
    Spawned,
    /// Wakes itself until a task of its own is done.
    Spins,
}

impl Work {
    async fn run(self) {
        match self {
            Self::Receives => {
                let (sender, mut receiver) = mpsc::unbounded_channel();
                (0..1000).for_each(|number| sender.send(number).unwrap());
                for number in 0..1000 {
                    assert_eq!(receiver.recv().await, Some(number));
                }
            }
            Self::Yields => {
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            }
            Self::Spawned => {
                let (sender, receiver) = oneshot::channel();
                tokio::spawn(async { sender.send(()).unwrap() });
                receiver.await.unwrap();
            }
            Self::Spins => {
                let done = Arc::new(AtomicBool::new(false));
                let task = done.clone();
                tokio::spawn(async move { task.store(true, Ordering::SeqCst) });
                poll_fn(|cx| {
                    if done.load(Ordering::SeqCst) {
                        return Poll::Ready(());
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
            }
        }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Hurried {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let late = self.0.sleep(Duration::from_secs(1));
        let said = match select(Box::pin(self.1.run()), Box::pin(late)).await {
            Either::Left(_) => "in time",
            Either::Right(_) => "late",
        };
        // Again, after time has moved.
        self.0.sleep(Duration::from_secs(2)).await;
        self.1.run().await;
        Ok(reply.text(said).await?)
    }
}

fn play(work: Work) -> Transcript<OpenAi> {
    let runtime = Builder::new_current_thread().build().unwrap();
    let clock = Clock::new();
    let mut harness =
        Harness::new(OpenAiClient::new("m"), Hurried(clock.clone(), work)).clock(&clock);
    runtime.block_on(harness.prompt("now")).unwrap()
}

#[test]
fn time_stands_still_while_the_runtime_has_work() {
    for work in [Work::Receives, Work::Yields, Work::Spawned, Work::Spins] {
        let turn = play(work);
        assert_eq!(turn.to_string(), "text: in time\n");
        assert_eq!(turn.duration(), Duration::from_secs(2));
    }
}
