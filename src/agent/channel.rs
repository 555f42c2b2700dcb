//! The one place that a reply and its body share: the bytes that wait, and how the turn stands.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::protocol::{AgentError, Env, Incident, Protocol, SendError};

/// Past this many waiting bytes a write waits for the body to be polled.
const HIGH_WATER: usize = 16 * 1024;

pub(super) struct Channel<P: Protocol> {
    state: Mutex<State<P>>,
    env: Env,
}

struct State<P: Protocol> {
    session: P::Session,
    /// What waits to leave.
    out: Vec<u8>,
    /// How much to reserve for the next frame: the size of the last one.
    frame: usize,
    turn: Turn,
    reader: Reader,
    /// What the agent came to, once it has.
    outcome: Option<Outcome>,
    /// Whether the agent's reply is gone, and if by a panic.
    reply: Handle,
    /// Writes outside the body's own task that wait for room.
    writers: Vec<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Words may follow.
    Open,
    /// An ending was written: nothing may follow but the protocol's own closing bytes.
    Ended,
    /// The closing bytes are written as well.
    Closed,
}

enum Reader {
    /// The body is there; woken when bytes come.
    Attached(Option<Waker>),
    /// The body is gone and the run with it: nothing more can be said.
    Gone,
    /// The body is gone and the run goes on: what is said is thrown away.
    Drained,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Handle {
    Alive,
    Dropped,
    Panicked,
}

/// What an agent came to.
pub(super) enum Outcome {
    Answered,
    Failed(AgentError),
    Panicked,
    /// It was dropped before it was done.
    Dropped,
}

impl<P: Protocol> Channel<P> {
    pub(super) fn new(mut session: P::Session, env: Env) -> Self {
        let mut out = Vec::new();
        P::start(&mut session, &mut out);
        let state = State {
            session,
            out,
            frame: 0,
            turn: Turn::Open,
            reader: Reader::Attached(None),
            outcome: None,
            reply: Handle::Alive,
            writers: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            env,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A write that panics is rolled back, so a poisoned state is a sound one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all of what `render` appends, or nothing; waits while too much is waiting already.
    pub(super) fn poll_write(
        &self,
        cx: &Context<'_>,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.turn != Turn::Open {
            return Poll::Ready(Err(SendError::Closed));
        }
        match &state.reader {
            Reader::Gone => return Poll::Ready(Err(SendError::Closed)),
            Reader::Attached(_) if state.out.len() >= HIGH_WATER => {
                if !state
                    .writers
                    .iter()
                    .any(|waker| waker.will_wake(cx.waker()))
                {
                    state.writers.push(cx.waker().clone());
                }
                return Poll::Pending;
            }
            Reader::Attached(_) | Reader::Drained => {}
        }
        Poll::Ready(Self::append(state, Turn::Open, render))
    }

    /// Writes an ending, past the high-water mark if need be: it is the last thing that is written.
    pub(super) fn end(
        &self,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let state = self.lock();
        if state.turn != Turn::Open || matches!(state.reader, Reader::Gone) {
            return Err(SendError::Closed);
        }
        Self::append(state, Turn::Ended, render)
    }

    fn append(
        mut state: MutexGuard<'_, State<P>>,
        turn: Turn,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        state.write(render)?;
        state.turn = turn;
        if let Reader::Drained = state.reader {
            state.out.clear();
        }
        let reader = state.take_reader();
        drop(state);
        reader.map(Waker::wake);
        Ok(())
    }

    /// The reply was dropped.
    pub(super) fn release(&self) {
        let mut state = self.lock();
        state.reply = if std::thread::panicking() {
            Handle::Panicked
        } else {
            Handle::Dropped
        };
        self.close(state);
    }

    /// The agent is done.
    pub(super) fn settle(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.outcome.is_none() {
            state.outcome = Some(outcome);
            self.close(state);
        }
    }

    /// Ends the turn when both the agent is done and its reply is gone.
    fn close(&self, mut state: MutexGuard<'_, State<P>>) {
        if state.reply == Handle::Alive || state.turn == Turn::Closed {
            return;
        }
        let outcome = match (state.outcome.take(), state.reply) {
            (None, _) => return,
            (Some(Outcome::Answered), Handle::Panicked) => Outcome::Panicked,
            (Some(outcome), _) => outcome,
        };
        let open = state.turn == Turn::Open;
        let attached = matches!(state.reader, Reader::Attached(_));
        let told = open && attached;
        state.turn = Turn::Closed;
        // Closing bytes are the protocol's own code on plain text: no error to hand on.
        let _ = state.write(|session, out| {
            match &outcome {
                Outcome::Failed(error) if open => P::fail(session, error.message(), out),
                Outcome::Panicked | Outcome::Dropped if open => {
                    P::fail(session, AgentError::DEFAULT, out);
                }
                _ => P::finish(session, out),
            }
            Ok(())
        });
        let reader = state.take_reader();
        drop(state);
        reader.map(Waker::wake);
        let protocol = P::NAME;
        let incident = match &outcome {
            Outcome::Failed(error) => Incident::Failed {
                protocol,
                error,
                told,
            },
            Outcome::Panicked => Incident::Panicked { protocol, told },
            // A client that left is no incident.
            Outcome::Answered | Outcome::Dropped => return,
        };
        // The observer is foreign code: it runs outside the lock, and a panic of its own must not
        // meet one that is on its way.
        let _ = catch_unwind(AssertUnwindSafe(|| self.env.incident(&incident)));
    }
}

impl<P: Protocol> State<P> {
    /// Appends all of what `render` writes, or nothing.
    fn write(
        &mut self,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        if self.out.capacity() == 0 {
            self.out.reserve(self.frame);
        }
        let rollback = Rollback::new(&mut self.out);
        render(&mut self.session, rollback.out)?;
        rollback.commit();
        Ok(())
    }

    fn take_reader(&mut self) -> Option<Waker> {
        match &mut self.reader {
            Reader::Attached(waker) => waker.take(),
            Reader::Gone | Reader::Drained => None,
        }
    }
}

/// Takes back what was written since it was made, on error and on unwind alike.
struct Rollback<'a> {
    out: &'a mut Vec<u8>,
    keep: usize,
}

impl<'a> Rollback<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        let keep = out.len();
        Self { out, keep }
    }

    fn commit(mut self) {
        self.keep = usize::MAX;
    }
}

impl Drop for Rollback<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.keep);
    }
}

/// What a body asks of a channel, whatever the protocol.
pub(super) trait Frames: Send + Sync {
    /// Opens a poll of the body: writes need not wake it. Says whether there is room for more.
    fn begin(&self) -> bool;

    /// Takes everything that waits as one frame, or leaves a waker. `None` once the turn is closed
    /// and all is taken.
    fn poll_frame(&self, cx: &Context<'_>) -> Poll<Option<Bytes>>;

    /// What is sent after a while of silence.
    fn keep_alive(&self) -> Bytes;

    /// The agent panicked.
    fn panicked(&self);

    /// The body is gone. With `drain` the run goes on, and what it says is thrown away.
    fn detach(&self, drain: bool);
}

impl<P: Protocol> Frames for Channel<P> {
    fn begin(&self) -> bool {
        let mut state = self.lock();
        drop(state.take_reader());
        state.out.len() < HIGH_WATER
    }

    fn poll_frame(&self, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        if !state.out.is_empty() {
            let frame = mem::take(&mut state.out);
            state.frame = frame.len();
            let writers = mem::take(&mut state.writers);
            drop(state);
            // The body's own task needs no waking: it is polled for the next frame in any case.
            for writer in writers
                .into_iter()
                .filter(|writer| !writer.will_wake(cx.waker()))
            {
                writer.wake();
            }
            return Poll::Ready(Some(Bytes::from(frame)));
        }
        if state.turn == Turn::Closed {
            return Poll::Ready(None);
        }
        if let Reader::Attached(waker) = &mut state.reader {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn keep_alive(&self) -> Bytes {
        let mut out = Vec::new();
        P::keep_alive(&mut self.lock().session, &mut out);
        out.into()
    }

    fn panicked(&self) {
        self.settle(Outcome::Panicked);
    }

    fn detach(&self, drain: bool) {
        let mut state = self.lock();
        state.reader = if drain { Reader::Drained } else { Reader::Gone };
        state.out = Vec::new();
        let writers = mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
    }
}
