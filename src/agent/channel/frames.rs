//! The body's side of a channel: staging its buffer, and taking what was written as frames. The
//! parent module tells who owns which bytes when.

use std::mem;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::super::staging::Staging;
use super::super::wakeup::Wakeup;
use super::{Channel, Outcome, Reader, Turn};
use crate::protocol::{Protocol, Session};
use crate::sync::atomic::Ordering;

/// The body's side of a channel, whatever the protocol.
pub(in crate::agent) trait Frames: Send + Sync {
    /// Takes the buffer, so that it can be staged.
    fn stage(&self) -> Option<Box<Staging>>;

    /// Takes the buffer back.
    fn unstage(&self, staging: Option<Box<Staging>>);

    /// Wakes the body if there is anything for it.
    fn wake_body(&self);

    /// Takes everything that waits as one frame: what is in the buffer, which may be with the caller,
    /// and what other threads have written. `None` once the turn is closed and all is taken. `agent` has
    /// the waker of the agent if the caller polls it itself.
    fn poll_frame(
        &self,
        staging: Option<&mut Staging>,
        agent: Option<&Wakeup>,
    ) -> Poll<Option<Bytes>>;

    /// Returns what is sent after a while of silence; empty where nothing may be sent. `staging` is
    /// the buffer, if it is with the caller.
    fn keep_alive(&self, staging: Option<&Staging>) -> Bytes;

    /// Records that the agent panicked.
    fn panicked(&self);

    /// Records that the agent was dropped, unless it had ended.
    fn dropped(&self);

    /// Closes the turn with `outcome`, unless it is closed. The agent need not have ended; its task
    /// drops it.
    fn stop(&self, outcome: Outcome);

    /// Returns `true` if the turn was stopped. The task of a detached run is woken when it is.
    fn poll_stopped(&self, cx: &Context<'_>) -> bool;

    /// Records whether the reply, or the turn, could not be stored.
    fn set_unstored(&self, unstored: bool);

    /// Records that the body is gone. With `drain` the run continues, and its output is discarded.
    fn detach(&self, drain: bool);

    /// Lets the head of the response wait for the first output: a failure before it becomes the whole response.
    fn hold(&self);

    /// Returns `true` if there is output, or the turn is closed. `staging` is the buffer, if it is with the caller.
    fn has_output(&self, staging: Option<&Staging>) -> bool;

    /// Ends the wait of the head. Returns `true` if a failure is the whole response.
    fn release(&self) -> bool;

    /// Returns the status of a closed turn.
    fn status(&self) -> StatusCode;

    /// Returns `true` if the turn was cancelled.
    fn is_cancelled(&self) -> bool;

    /// Takes the headers of a failure that is the whole response.
    fn take_headers(&self) -> HeaderMap;

    /// Returns the span in which the agent runs.
    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span;
}

impl<P: Protocol> Frames for Channel<P> {
    fn stage(&self) -> Option<Box<Staging>> {
        let mut state = self.lock();
        // A token would look there in vain: its text is collected under the lock.
        if state.document.is_some() {
            return None;
        }
        let mut staging = state.buffer.take()?;
        staging.id = self.id();
        state.refresh(&mut staging);
        self.stale.store(false, Ordering::Release);
        Some(staging)
    }

    fn unstage(&self, staging: Option<Box<Staging>>) {
        if let Some(mut staging) = staging {
            let mut state = self.lock();
            state.merge(&mut staging);
            if !matches!(state.reader, Reader::Attached) {
                // Nobody reads any more.
                staging.out = Vec::new();
            }
            state.buffer = Some(staging);
        }
    }

    fn wake_body(&self) {
        let mut state = self.lock();
        let news = !state.unstaged().is_empty() || state.turn == Turn::Closed;
        drop(state);
        if news {
            self.task.report();
        }
        // What was reported during the poll has woken nobody.
        if self.task.is_reported() {
            self.task.wake_reader();
        }
    }

    fn poll_frame(
        &self,
        staging: Option<&mut Staging>,
        agent: Option<&Wakeup>,
    ) -> Poll<Option<Bytes>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut own = state.buffer.take();
        let frame = match staging.or(own.as_deref_mut()) {
            Some(staging) => {
                state.merge(staging);
                staging.take_frame()
            }
            // A detached run has it.
            None => return Poll::Pending,
        };
        state.buffer = own;
        if !frame.is_empty() {
            state.progress.bytes += frame.len() as u64;
            let waiting = mem::take(&mut state.waiting);
            drop(guard);
            // A body is polled for the next frame in any case, and its agent with it.
            let polled = |writer: &Waker| agent.is_some_and(|agent| agent.absorb(writer));
            for writer in waiting.into_iter().filter(|writer| !polled(writer)) {
                writer.wake();
            }
            return Poll::Ready(Some(frame));
        }
        match state.turn {
            Turn::Closed => Poll::Ready(None),
            Turn::Open | Turn::Ended => Poll::Pending,
        }
    }

    fn keep_alive(&self, staging: Option<&Staging>) -> Bytes {
        let mut out = Vec::new();
        let mut state = self.lock();
        // With a buffer staged elsewhere, or something in it, there is no silence, and these bytes would
        // overtake it. An answer that is one document has no place for them.
        let silent = staging.is_some() || state.buffer.is_some();
        if silent && state.unstaged().is_empty() && state.document.is_none() {
            state.session.keep_alive(P::FRAMING, &mut out);
            self.stale.store(true, Ordering::Release);
            state.progress.bytes += out.len() as u64;
        }
        out.into()
    }

    fn panicked(&self) {
        self.settle(Outcome::Panicked);
    }

    fn dropped(&self) {
        let run = self.lock().run.take();
        drop(run);
        self.settle(Outcome::Dropped);
    }

    fn stop(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.turn == Turn::Closed {
            return;
        }
        // If it cannot be written, it is left out of an answer that is not complete anyway.
        let _ = self.hand_over(&mut state);
        let run = state.run.take();
        // Before the body is woken, so that it drops the agent.
        self.task.stop();
        self.close_with(state, outcome);
        if let Some(run) = run {
            run.wake();
        }
    }

    fn poll_stopped(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        match &mut state.run {
            Some(run) => run.clone_from(cx.waker()),
            run => *run = Some(cx.waker().clone()),
        }
        // Under the lock: a stop that this does not see finds the waker.
        self.task.is_stopped()
    }

    fn set_unstored(&self, unstored: bool) {
        self.lock().progress.unstored = unstored;
    }

    fn detach(&self, drain: bool) {
        let mut state = self.lock();
        state.reader = if drain { Reader::Drained } else { Reader::Gone };
        state.progress.detached = drain;
        // What a detached run writes from here on is meant to be thrown away.
        let waits = !state.unstaged().is_empty();
        state.unread = !drain && (state.turn != Turn::Closed || waits);
        *state.unstaged() = Vec::new();
        let waiting = mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn hold(&self) {
        self.lock().held = true;
    }

    fn has_output(&self, staging: Option<&Staging>) -> bool {
        let mut state = self.lock();
        let staged = staging.map_or(0, |staging| staging.out.len());
        state.turn == Turn::Closed || state.has_output(staged)
    }

    fn release(&self) -> bool {
        let mut state = self.lock();
        state.held = false;
        state.headers.is_some()
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.lock().closed, Some((Outcome::Cancelled, _)))
    }

    fn status(&self) -> StatusCode {
        self.lock().status
    }

    fn take_headers(&self) -> HeaderMap {
        self.lock()
            .headers
            .take()
            .map_or_else(HeaderMap::new, |headers| *headers)
    }

    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span {
        self.record.span()
    }
}
