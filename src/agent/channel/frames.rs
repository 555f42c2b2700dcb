//! The body's side of a channel: it stages the buffer, and takes the output as frames. The parent module documents
//! which side owns the bytes at which time.

use std::mem;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::super::staging::Staging;
use super::super::wakeup::Wakeup;
use super::state::Passthrough;
use super::{Channel, Outcome, Reader, Turn};
use crate::protocol::Protocol;
use crate::sync::atomic::Ordering;

/// The body's side of a channel, independent of the protocol.
pub(in crate::agent) trait Frames: Send + Sync {
    /// Takes the buffer out of the state, so that the caller can stage it. `None` if it is not there.
    fn stage(&self) -> Option<Box<Staging>>;

    /// Puts the buffer back into the state.
    fn unstage(&self, staging: Option<Box<Staging>>);

    /// Wakes the body if there is output for it, or the turn is closed.
    fn wake_body(&self);

    /// Returns all unsent bytes as one frame: the buffer, which is `staging` if the caller has it, and then the bytes
    /// of other threads. `None` once the turn is closed and everything was returned. `agent` is set if the caller polls
    /// the agent itself, and has the agent's waker.
    fn poll_frame(
        &self,
        staging: Option<&mut Staging>,
        agent: Option<&Wakeup>,
    ) -> Poll<Option<Bytes>>;

    /// Returns the keep-alive after a period of silence; empty if nothing may be sent. `staging` is the buffer if the
    /// caller has it.
    fn keep_alive(&self, staging: Option<&Staging>) -> Bytes;

    /// Records that the agent panicked.
    fn panicked(&self);

    /// Records that the agent was dropped. Ignored if the agent had ended.
    fn dropped(&self);

    /// Closes the turn with `outcome`, unless it is closed. The agent may still be alive; its task drops it.
    fn stop(&self, outcome: Outcome);

    /// Returns `true` if the turn was stopped. Otherwise a later stop wakes the task of the detached run.
    fn poll_stopped(&self, cx: &Context<'_>) -> bool;

    /// Records whether the reply, or the turn, could not be stored.
    fn set_unstored(&self, unstored: bool);

    /// Records that the body was dropped. With `drain` the run continues, and its output is discarded.
    fn detach(&self, drain: bool);

    /// Delays the head of the response until the first output: a failure before it becomes the whole response.
    fn hold(&self);

    /// Returns `true` if there is output, or the turn is closed. `staging` is the buffer if the caller has it.
    fn has_output(&self, staging: Option<&Staging>) -> bool;

    /// Ends the delay of the head. Returns `true` if a failure is the whole response.
    fn release(&self) -> bool;

    /// Returns the status of a closed turn.
    fn status(&self) -> StatusCode;

    /// Returns `true` if the turn was cancelled.
    fn is_cancelled(&self) -> bool;

    /// Returns the headers of a failure that is the whole response, once.
    fn take_headers(&self) -> Option<Box<HeaderMap>>;

    /// Returns the span in which the agent runs.
    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span;
}

impl<P: Protocol> Frames for Channel<P> {
    fn stage(&self) -> Option<Box<Staging>> {
        let mut state = self.lock();
        // The text of a document is collected under the lock, so a staged buffer would not be used.
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
                // There is no reader, so the bytes are discarded.
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
        // A report during the poll has not woken the body.
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
            // A detached run has the buffer.
            None => return Poll::Pending,
        };
        state.buffer = own;
        if !frame.is_empty() {
            state.progress.bytes += frame.len() as u64;
            let waiting = mem::take(&mut state.waiting);
            drop(guard);
            // After a frame the body is polled again, and with it its agent, so the agent's own writes need no wake.
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
        // No keep-alive if a detached run has the buffer, or if bytes are in it, because the keep-alive would overtake
        // them. A document cannot contain a keep-alive.
        let silent = staging.is_some() || state.buffer.is_some();
        if silent && state.unstaged().is_empty() && state.document.is_none() {
            if !state.is_opened && state.passthrough == Passthrough::Off {
                state.is_opened = true;
                state.session.open(&mut out);
            } else {
                state.session.keep_alive(P::FRAMING, &mut out);
            }
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
        // Text that cannot be written is left out: the answer is incomplete in any case.
        let _ = self.hand_over(&mut state);
        let run = state.run.take();
        // Before the body is woken, so that its poll drops the agent.
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
        // Checked under the lock: a stop that is not visible here is going to find the waker.
        self.task.is_stopped()
    }

    fn set_unstored(&self, unstored: bool) {
        self.lock().progress.unstored = unstored;
    }

    fn detach(&self, drain: bool) {
        let mut state = self.lock();
        state.reader = if drain { Reader::Drained } else { Reader::Gone };
        state.progress.detached = drain;
        // The output of a detached run is discarded from here on by design, so it does not count as unread.
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
        state.is_refused
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.lock().closed, Some((Outcome::Cancelled, _)))
    }

    fn status(&self) -> StatusCode {
        self.lock().status
    }

    fn take_headers(&self) -> Option<Box<HeaderMap>> {
        self.lock().headers.take()
    }

    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span {
        self.record.span()
    }
}
