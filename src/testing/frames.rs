//! The frames of a body, and the time that passes between them.

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_core::Stream;

use super::Clock;
use crate::agent::Body;

/// The frames of a body. While its agent waits for nothing but the clock, the clock moves.
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

    /// The next frame.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let mut asked = false;
        poll_fn(|cx| self.poll(cx, &mut asked)).await
    }

    /// `asked` is whether the last poll woke nobody and asked for this one: a runtime hands out
    /// wakes that it put off, and runs what was spawned, between two polls.
    fn poll(&mut self, cx: &Context<'_>, asked: &mut bool) -> Poll<Option<Bytes>> {
        let woken = self.woken.swap(false, Ordering::SeqCst);
        let quiet = mem::take(asked) && !woken;
        let waker = Waker::from(Arc::new(Woken {
            flag: self.woken.clone(),
            outer: cx.waker().clone(),
        }));
        let frame = Pin::new(&mut self.body).poll_next(&mut Context::from_waker(&waker));
        if let Poll::Ready(frame) = frame {
            return Poll::Ready(frame.map(|Ok(frame)| frame));
        }
        // A wake has reached the outer waker as well. Polling again here would not do: an agent that
        // has used up its runtime's budget gets on only when the runtime does.
        if !self.woken.load(Ordering::SeqCst) {
            *asked = !quiet;
            if !quiet || self.clock.skip() {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

/// Notices that the agent is woken.
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
