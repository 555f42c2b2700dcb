//! The agent that a body runs.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::channel::{Channel, Frames};
use super::request::Head;
use super::staging::{self, Staging};
use super::turns::Running;
use super::{Agent, Reply, Request};
use crate::protocol::{AgentError, Answered, Protocol};
use crate::sync::Exclusive;

/// A running agent, taken out of its body by [`Body::detach`](super::Body::detach).
///
/// The future resolves when the agent has ended. Dropping it drops the agent, and the body then ends with a failure.
#[must_use = "an agent does nothing unless it is polled"]
pub struct Run {
    future: Exclusive<Pin<Box<dyn Future<Output = ()> + Send>>>,
    frames: Arc<dyn Frames>,
    pub(super) running: Option<Running>,
}

impl Run {
    pub(super) fn new(
        future: Pin<Box<dyn Future<Output = ()> + Send>>,
        frames: Arc<dyn Frames>,
    ) -> Self {
        Self {
            future: Exclusive::new(future),
            frames,
            running: None,
        }
    }

    /// Polls the agent while its buffer is staged, and returns the buffer.
    pub(super) fn poll_staged(
        &mut self,
        cx: &mut Context<'_>,
        mut staging: Option<Box<Staging>>,
    ) -> (Poll<()>, Option<Box<Staging>>) {
        #[cfg(feature = "tracing")]
        let _entered = self.frames.span().enter();
        if let Some(staging) = &mut staging {
            staging.borrow_spare();
        }
        let outer = staging::exchange(staging);
        // Unwind safety: after a panic the agent is not polled again, and the shared state is consistent, because a
        // write that panics is rolled back.
        let future = &mut self.future;
        let poll = catch_unwind(AssertUnwindSafe(|| future.get().as_mut().poll(cx)));
        let staging = staging::exchange(outer);
        if let Ok(poll) = poll {
            return (poll, staging);
        }
        self.frames.unstage(staging);
        self.frames.panicked();
        (Poll::Ready(()), None)
    }
}

impl Future for Run {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A stop during the poll wakes this task again.
        if self.frames.poll_stopped(cx) {
            // The agent is dropped now, not with the run, which its owner may keep.
            self.future = Exclusive::new(Box::pin(std::future::ready(())));
            self.running = None;
            return Poll::Ready(());
        }
        let staging = self.frames.stage();
        let (poll, staging) = self.poll_staged(cx, staging);
        self.frames.unstage(staging);
        self.frames.wake_body();
        poll
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.frames.dropped();
    }
}

opaque_debug!(Run);

/// Waits for the answer to each question of a reply, and runs the agent again with it.
pub(super) async fn go_on<P: Protocol, A: Agent<P>>(
    agent: &A,
    mut result: Result<(), AgentError>,
    channel: &Arc<Channel<P>>,
    mut wait: Answered<P::Request>,
    head: Head<P::Settings>,
) -> Result<(), AgentError> {
    while result.is_ok() && channel.is_ended() {
        let Some(message) = wait.await else {
            break;
        };
        let next = (P::EXTRAS.answered)(&message);
        if !channel.reopen() {
            break;
        }
        let reply = Reply::new(Arc::clone(channel));
        let request = Request::with_head(head.clone(), message, None);
        result = agent.answer(request, reply).await;
        match next {
            Some(next) => wait = next,
            None => break,
        }
    }
    result
}
