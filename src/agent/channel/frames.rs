//! The body's side of a channel: staging its buffer, and taking what was written as frames. The
//! parent module tells who owns which bytes when.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::StatusCode;

use super::super::staging::{self, Owner, Staged, Staging};
use super::super::wakeup::Wakeup;
use super::{Channel, Outcome, Reader, Turn, wake};
#[cfg(feature = "resumable")]
use crate::protocol::AgentError;
use crate::protocol::{Protocol, Session};

/// The body's side of a channel, whatever the protocol.
pub(in crate::agent) trait Frames: Owner {
    /// Stages the buffer for one poll of the agent on this thread. With `attached` the body itself
    /// polls, and writes need not wake it.
    fn stage(self: Arc<Self>, attached: bool) -> Staged;

    /// Takes everything that waits as one frame, or leaves a waker. `None` once the turn is closed
    /// and all is taken. `agent` is the waker of the agent if the caller polls it itself.
    fn poll_frame(&self, cx: &Context<'_>, agent: Option<&Wakeup>) -> Poll<Option<Bytes>>;

    /// Returns what is sent after a while of silence; empty where nothing may be sent.
    fn keep_alive(&self) -> Bytes;

    /// Records that the agent panicked.
    fn panicked(&self);

    /// Records that the agent was dropped, unless it had ended.
    fn dropped(&self);

    /// Closes the turn before the agent has ended: as cancelled, or as failed. Nothing can be written then.
    #[cfg(feature = "resumable")]
    fn stop(&self, error: Option<AgentError>);

    /// Records that the reply could not be stored.
    #[cfg(feature = "resumable")]
    fn unstored(&self);

    /// Records that the body is gone. With `drain` the run continues, and its output is discarded.
    fn detach(&self, drain: bool);

    /// Returns the status of a closed turn whose answer is one document.
    fn status(&self) -> StatusCode;

    /// Returns the span in which the agent runs.
    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span;
}

impl<P: Protocol> Owner for Channel<P> {
    fn unstage(&self, mut out: Vec<u8>, events: u64) {
        let mut state = self.lock();
        state.progress.events += events;
        // In this order: what others wrote while the buffer was staged comes behind it.
        out.append(&mut state.out);
        // Nobody reads any more.
        if !matches!(state.reader, Reader::Attached(_)) {
            out = Vec::new();
        }
        // A poll that wrote nothing must not wake the reader, who would poll again for nothing.
        let news = !out.is_empty() || state.turn == Turn::Closed;
        let reader = if news { state.take_reader() } else { None };
        state.out = out;
        state.staged = false;
        drop(state);
        wake(reader);
    }
}

impl<P: Protocol> Frames for Channel<P> {
    fn stage(self: Arc<Self>, attached: bool) -> Staged {
        let mut state = self.lock();
        if attached {
            // The body that polls looks for frames right after this poll. Waking it too would poll
            // it twice.
            drop(state.take_reader());
        }
        state.staged = true;
        let mut staging = Staging {
            id: self.id(),
            out: mem::take(&mut state.out),
            events: 0,
            frame: state.session.text_frame(),
            quiet: state.is_quiet(),
            token_limit: 0,
            first: state.next_frame(),
        };
        staging.limit_tokens();
        // Under the lock, with the frame of this moment: until another thread writes, text needs no
        // lock.
        self.stale.store(false, Ordering::Release);
        drop(state);
        staging::stage(staging, self)
    }

    fn poll_frame(&self, cx: &Context<'_>, agent: Option<&Wakeup>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        if !state.staged && !state.out.is_empty() {
            let frame = mem::take(&mut state.out);
            state.frame = frame.len();
            self.sent(&mut state.progress, frame.len());
            let waiting = mem::take(&mut state.waiting);
            drop(state);
            // A body is polled for the next frame in any case, and its agent with it.
            let polled = |writer: &Waker| agent.is_some_and(|agent| agent.absorb(writer));
            for writer in waiting.into_iter().filter(|writer| !polled(writer)) {
                writer.wake();
            }
            return Poll::Ready(Some(Bytes::from(frame)));
        }
        if state.turn == Turn::Closed && !state.staged {
            return Poll::Ready(None);
        }
        // Under the same lock as the look at `out`: bytes that come now find this waker.
        if let Reader::Attached(waker) = &mut state.reader {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn keep_alive(&self) -> Bytes {
        let mut out = Vec::new();
        let mut state = self.lock();
        // With a buffer staged elsewhere there is no silence, and these bytes would overtake it. An
        // answer that is one document has no place for them.
        if !state.staged && state.unyielded.is_none() {
            state.session.keep_alive(&mut out);
            self.sent(&mut state.progress, out.len());
        }
        out.into()
    }

    fn panicked(&self) {
        self.settle(Outcome::Panicked);
    }

    fn dropped(&self) {
        self.settle(Outcome::Dropped);
    }

    #[cfg(feature = "resumable")]
    fn stop(&self, error: Option<AgentError>) {
        let state = self.lock();
        if state.turn != Turn::Closed {
            self.close_with(state, error.map_or(Outcome::Cancelled, Outcome::Failed));
        }
    }

    #[cfg(feature = "resumable")]
    fn unstored(&self) {
        self.lock().progress.unstored = true;
    }

    fn detach(&self, drain: bool) {
        let mut state = self.lock();
        state.reader = if drain { Reader::Drained } else { Reader::Gone };
        state.progress.detached = drain;
        // What a detached run writes from here on is meant to be thrown away.
        state.unread = !drain && (state.turn != Turn::Closed || !state.out.is_empty());
        state.out = Vec::new();
        let waiting = mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn status(&self) -> StatusCode {
        self.lock().status
    }

    #[cfg(feature = "tracing")]
    fn span(&self) -> &tracing::Span {
        self.record.span()
    }
}
