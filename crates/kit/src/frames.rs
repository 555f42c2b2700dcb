//! The frames of a body, with virtual time between them.

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_core::Stream;

use super::Clock;
use copilot_wire::agent::Body;

/// The frames of a body. The clock advances only while the agent waits for nothing else.
pub(super) struct Frames {
    body: Body,
    clock: Clock,
    woken: Arc<AtomicBool>,
}

impl Frames {
    pub(super) fn new(body: Body, clock: Clock) -> Self {
        let woken = Arc::default();
        Self { body, clock, woken }
    }

    /// Returns the next frame. `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let mut asked = false;
        poll_fn(|cx| self.poll(cx, &mut asked)).await
    }

    /// Polls the body. `asked` is `true` if the last poll woke nothing and requested this one: a
    /// runtime delivers deferred wakes, and runs spawned tasks, between two polls.
    fn poll(&mut self, cx: &Context<'_>, asked: &mut bool) -> Poll<Option<Bytes>> {
        let woken = self.woken.swap(false, Ordering::SeqCst);
        // `quiet` is `true` at the second poll in a row without a wake: the first one requests another poll, so that
        // the runtime runs spawned tasks in between.
        let quiet = mem::take(asked) && !woken;
        let waker = Waker::from(Arc::new(Woken {
            flag: self.woken.clone(),
            outer: cx.waker().clone(),
        }));
        let frame = Pin::new(&mut self.body).poll_next(&mut Context::from_waker(&waker));
        if let Poll::Ready(frame) = frame {
            return Poll::Ready(frame.and_then(Result::ok));
        }
        // A wake has reached the outer waker as well. Polling again here is not enough: an agent that has used up its
        // runtime's budget continues only after the runtime has run.
        if !self.woken.load(Ordering::SeqCst) {
            *asked = !quiet;
            // Without a wake and without a sleep to skip to, nothing in process can continue the agent: then the outer
            // task waits for an external event.
            if !quiet || self.clock.skip() {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

/// A waker that records wakes of the agent.
struct Woken {
    flag: Arc<AtomicBool>,
    outer: Waker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.flag.store(true, Ordering::SeqCst);
        self.outer.wake_by_ref();
    }
}
