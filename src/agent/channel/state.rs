//! The state of a turn, under the lock of its channel.

use std::mem;
use std::task::Waker;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use super::super::staging::{HIGH_WATER, Staging};
use crate::protocol::{AgentError, Progress, Protocol, Session as _, TooLarge};

pub(super) struct State<P: Protocol> {
    pub(super) session: P::Session,
    /// The bytes to be sent; `None` while they are staged.
    pub(super) buffer: Option<Box<Staging>>,
    /// The bytes that other threads have written since the buffer was staged.
    pub(super) overflow: Vec<u8>,
    /// Of an answer that is one document only.
    pub(super) document: Option<Document>,
    pub(super) turn: Turn,
    pub(super) reader: Reader,
    /// The outcome of the agent, until the turn is closed.
    pub(super) outcome: Option<Outcome>,
    /// The outcome of the closed turn, and `true` if a failure was sent to the front end.
    pub(super) closed: Option<(Outcome, bool)>,
    /// `true` if the body was dropped before the whole answer was sent.
    pub(super) unread: bool,
    pub(super) progress: Progress,
    /// `true` while the time of the first output is wanted. Until then text takes the lock.
    pub(super) untimed: bool,
    /// The limit that the reply has exceeded: it fails, whatever the agent returns.
    pub(super) too_large: Option<TooLarge>,
    /// The size of what the session has written before the agent's first output.
    pub(super) opening: usize,
    /// `true` while the head of the response waits for the first output.
    pub(super) held: bool,
    /// The status of a closed turn.
    pub(super) status: StatusCode,
    /// The headers of a failure that is the whole response.
    pub(super) headers: Option<Box<HeaderMap>>,
    pub(super) reply: Handle,
    /// The task of a detached run.
    pub(super) run: Option<Waker>,
    /// The wakers of writes that wait for space, or for the body to be dropped. Every frame wakes all, so one that
    /// nobody waits for any more does not stay.
    pub(super) waiting: Vec<Waker>,
}

/// An answer that is one document. Nothing of it leaves before its end, so no write would ever wait.
#[derive(Default)]
pub(super) struct Document {
    /// Text that the session does not have yet: it is handed over together.
    pub(super) text: String,
    /// The number of bytes since the agent last yielded. Until the first output is timed it is as large as it can be,
    /// so that no text is collected.
    pub(super) unyielded: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Open,
    Ended,
    Closed,
}

pub(super) enum Reader {
    /// The body is there.
    Attached,
    /// The body is gone and the run with it: writes fail.
    Gone,
    /// The body is gone and the run continues: its output is discarded.
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
    /// It was stopped before it was done, on behalf of a client.
    Cancelled,
    /// It was stopped before it was done, because the server shuts down.
    ShutDown,
    /// It was dropped before it was done.
    Dropped,
}

impl<P: Protocol> State<P> {
    /// Returns `true` if anything may still be written.
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
        if let Some(document) = &mut self.document {
            document.unyielded = 0;
        }
    }

    /// Collects text of a document. Returns `false` if it is to be written, or if this is no document.
    pub(super) fn collect(&mut self, text: &str) -> bool {
        let Some(document) = &mut self.document else {
            return false;
        };
        let size = document.unyielded + text.len();
        if size < HIGH_WATER {
            document.unyielded = size;
            document.text.push_str(text);
        }
        size < HIGH_WATER
    }

    /// Returns `true` once in a while if nothing else makes the agent wait.
    pub(super) fn must_yield(&mut self, size: usize) -> bool {
        let Some(Document { unyielded, .. }) = &mut self.document else {
            return false;
        };
        if *unyielded >= HIGH_WATER {
            if self.untimed {
                return false;
            }
            *unyielded = 0;
            return true;
        }
        *unyielded += size;
        false
    }

    /// Updates what writing text needs to know of the session.
    pub(super) fn refresh(&self, staging: &mut Staging) {
        staging.frame = match self.untimed {
            true => None,
            false => self.session.text_frame(),
        };
        staging.limit_tokens();
    }

    /// Returns `true` if the agent has output among the bytes of which none was sent yet, with `staged` bytes
    /// elsewhere.
    pub(super) fn has_output(&mut self, staged: usize) -> bool {
        self.unstaged().len() + staged > self.opening
    }

    /// Returns the bytes that wait for the body, without those that are staged.
    pub(super) fn unstaged(&mut self) -> &mut Vec<u8> {
        match &mut self.buffer {
            Some(buffer) => &mut buffer.out,
            None => &mut self.overflow,
        }
    }

    /// Adds what other threads have written to the buffer, and its counts to the turn's.
    pub(super) fn merge(&mut self, staging: &mut Staging) {
        staging.out.append(&mut self.overflow);
        self.progress.events += mem::take(&mut staging.events);
        self.progress.bytes += mem::take(&mut staging.sent);
    }
}
