//! The state of a turn, under the lock of its channel.

use std::mem;
use std::task::Waker;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use super::super::staging::{HIGH_WATER, Staging};
use crate::protocol::{AgentError, Progress, Protocol, Session};
use crate::sse::TooLarge;

pub(super) struct State<P: Protocol> {
    pub(super) session: Session<P::Blocks>,
    /// The unsent bytes; `None` while they are staged.
    pub(super) buffer: Option<Box<Staging>>,
    /// The bytes that other threads have written since the buffer was staged.
    pub(super) overflow: Vec<u8>,
    /// The text of an answer that is one document; `None` for a stream.
    pub(super) document: Option<Document>,
    pub(super) turn: Turn,
    pub(super) reader: Reader,
    /// The outcome of the agent. Moved to `closed` when the turn is closed.
    pub(super) outcome: Option<Outcome>,
    /// The outcome of the closed turn, and `true` if a failure was sent to the front end.
    pub(super) closed: Option<(Outcome, bool)>,
    /// `true` if the body was dropped before the whole answer was sent.
    pub(super) unread: bool,
    pub(super) progress: Progress,
    /// `true` until the time of the first output is recorded. Meanwhile text writes take the lock.
    pub(super) untimed: bool,
    /// The limit that the reply has exceeded. The turn then fails, whatever the agent returns.
    pub(super) too_large: Option<TooLarge>,
    /// `true` once the session has opened the reply, or the events of another server have.
    pub(super) is_opened: bool,
    pub(super) passthrough: Passthrough,
    /// The number of bytes that open the reply, before the first output.
    pub(super) opening: usize,
    /// `true` while the head of the response waits for the first output.
    pub(super) held: bool,
    /// The status of a closed turn.
    pub(super) status: StatusCode,
    /// Headers of the response beside those of every response of its kind.
    pub(super) headers: Option<Box<HeaderMap>>,
    /// `true` if a failure is the whole response.
    pub(super) is_refused: bool,
    pub(super) reply: Handle,
    /// The task of a detached run.
    pub(super) run: Option<Waker>,
    /// The wakers of tasks that wait for space, or for the body to be dropped. Every frame wakes and removes all of
    /// them, so wakers of tasks that no longer wait do not accumulate.
    pub(super) waiting: Vec<Waker>,
}

/// The collected text of an answer that is one document. Nothing is sent before its end, so writes never wait for
/// space.
#[derive(Default)]
pub(super) struct Document {
    /// The text that was not passed to the session yet: it is passed in one piece.
    pub(super) text: String,
    /// The number of bytes since the agent last yielded.
    pub(super) unyielded: usize,
}

/// The part of another server's answer in a reply.
#[allow(dead_code, reason = "only dialects of models pass answers on")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Passthrough {
    /// The agent writes the reply.
    #[default]
    Off,
    /// The answer of another server is going to be the reply. Nothing was written.
    Begun,
    /// Some of the other server's events were written, so an end that the session writes must be a failure.
    Running,
    /// The end of the other server's answer was written.
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Open,
    Ended,
    Closed,
}

pub(super) enum Reader {
    /// The body exists.
    Attached,
    /// The body and the run were dropped: writes fail.
    Gone,
    /// The body was dropped and the run continues: its output is discarded.
    Drained,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Handle {
    Alive,
    Dropped,
    Panicked,
}

/// The outcome of an agent.
pub(in crate::agent) enum Outcome {
    Answered,
    Failed(AgentError),
    Panicked,
    /// The agent was stopped before it ended, because the turn was cancelled.
    Cancelled,
    /// The agent was stopped before it ended, because the server shuts down.
    ShutDown,
    /// The agent was dropped before it ended.
    Dropped,
}

impl<P: Protocol> State<P> {
    /// Returns `true` if the agent may still write.
    pub(super) fn is_open(&self) -> bool {
        self.turn == Turn::Open && !matches!(self.reader, Reader::Gone)
    }

    /// Returns `true` if a shutdown has stopped the turn.
    pub(super) fn is_shut_down(&self) -> bool {
        matches!(self.closed, Some((Outcome::ShutDown, _)))
    }

    /// Records the time of the first output.
    pub(super) fn set_first_output(&mut self, time: Option<Duration>) {
        self.untimed = false;
        self.progress.first_output = time;
    }

    /// Collects text of a document. Returns `false` if the caller must write the text, because it may be the first
    /// output or the agent must yield, or if the answer is a stream.
    pub(super) fn collect(&mut self, text: &str) -> bool {
        let Some(document) = self.document.as_mut().filter(|_| !self.untimed) else {
            return false;
        };
        let size = document.unyielded + text.len();
        if size < HIGH_WATER {
            document.unyielded = size;
            document.text.push_str(text);
        }
        size < HIGH_WATER
    }

    /// Returns `true` if the agent must yield. Only for documents, whose writes never wait otherwise.
    pub(super) fn must_yield(&mut self, size: usize) -> bool {
        let Some(Document { unyielded, .. }) = &mut self.document else {
            return false;
        };
        if *unyielded >= HIGH_WATER {
            *unyielded = 0;
            return true;
        }
        *unyielded += size;
        false
    }

    /// Updates the text frame and the token limit of the buffer from the session.
    #[inline]
    pub(super) fn refresh(&self, staging: &mut Staging) {
        staging.frame = match self.untimed {
            true => None,
            false => self.session.text_frame(),
        };
        staging.limit_tokens();
    }

    /// Returns `true` if the agent has written output. `staged` is the number of bytes in a staged buffer. Valid only
    /// before the first byte is sent.
    pub(super) fn has_output(&mut self, staged: usize) -> bool {
        self.unstaged().len() + staged > self.opening
    }

    /// Returns the unsent bytes, without those in a staged buffer.
    pub(super) fn unstaged(&mut self) -> &mut Vec<u8> {
        match &mut self.buffer {
            Some(buffer) => &mut buffer.out,
            None => &mut self.overflow,
        }
    }

    /// Moves the bytes of other threads into the buffer, and adds the counts of the buffer to those of the turn.
    pub(super) fn merge(&mut self, staging: &mut Staging) {
        staging.out.append(&mut self.overflow);
        self.progress.events += mem::take(&mut staging.events);
        self.progress.bytes += mem::take(&mut staging.sent);
    }
}
