//! The one place that a reply and its body share: the bytes that wait, and how the turn stands.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::desk::{self, Desk, OnDesk};
use crate::protocol::{AgentError, Env, Incident, Protocol, SendError};

/// Past this many waiting bytes a write waits for the body to be polled.
pub(super) const HIGH_WATER: usize = 16 * 1024;

pub(super) struct Channel<P: Protocol> {
    state: Mutex<State<P>>,
    /// Whether the desk is out of date: `out` may hold what came from elsewhere, or the text frame
    /// may have changed.
    overflow: AtomicBool,
    env: Env,
}

struct State<P: Protocol> {
    session: P::Session,
    /// What waits to leave, but for what is on a desk.
    out: Vec<u8>,
    /// Whether some of it is on a desk now.
    on_desk: bool,
    /// The size of the last frame.
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
        P::open(&mut session, &mut out);
        let state = State {
            session,
            out,
            on_desk: false,
            frame: 0,
            turn: Turn::Open,
            reader: Reader::Attached(None),
            outcome: None,
            reply: Handle::Alive,
            writers: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            overflow: AtomicBool::new(false),
            env,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A write that panics is rolled back, so a poisoned state is a sound one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells this channel from all others that are alive.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Writes a piece of text; the same as any other write, but quick in the agent's own poll.
    #[inline]
    pub(super) fn poll_text(&self, cx: &Context<'_>, text: &str) -> Poll<Result<(), SendError>> {
        let quick = desk::with(self.id(), |desk| {
            let room = desk.out.len() < HIGH_WATER && !self.overflow.load(Ordering::Acquire);
            if room {
                desk.make_room();
                let rollback = Rollback::new(&mut desk.out);
                P::text(&desk.frame, text, rollback.out);
                rollback.commit();
            }
            room
        });
        if quick == Some(true) {
            return Poll::Ready(Ok(()));
        }
        self.poll_text_locked(cx, text)
    }

    /// Kept apart, so that the quick way is short enough to become part of the agent's own code.
    #[inline(never)]
    fn poll_text_locked(&self, cx: &Context<'_>, text: &str) -> Poll<Result<(), SendError>> {
        self.poll_write(cx, |session, out| {
            P::text(&P::text_frame(session), text, out);
            Ok(())
        })
    }

    /// Writes all of what `render` appends, or nothing; waits while too much is waiting already.
    pub(super) fn poll_write(
        &self,
        cx: &Context<'_>,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if !state.is_open() {
            return Poll::Ready(Err(SendError::Closed));
        }
        let on_desk = desk::with(self.id(), |desk| desk.out.len()).unwrap_or(0);
        let full = state.out.len() + on_desk >= HIGH_WATER;
        if full && matches!(state.reader, Reader::Attached(_)) {
            let known = |waker: &Waker| waker.will_wake(cx.waker());
            if !state.writers.iter().any(known) {
                state.writers.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        Poll::Ready(self.append(state, Turn::Open, render))
    }

    /// Writes an ending, past the high-water mark if need be: it is the last thing that is written.
    pub(super) fn end(
        &self,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let state = self.lock();
        if !state.is_open() {
            return Err(SendError::Closed);
        }
        self.append(state, Turn::Ended, render)
    }

    fn append(
        &self,
        mut state: MutexGuard<'_, State<P>>,
        turn: Turn,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        self.write(&mut state, render)?;
        state.turn = turn;
        if let Reader::Drained = state.reader {
            state.out.clear();
            desk::with(self.id(), |desk| desk.out.clear());
        }
        let reader = state.take_reader();
        drop(state);
        wake(reader);
        Ok(())
    }

    /// Appends all of what `render` writes, or nothing, behind everything written before.
    fn write(
        &self,
        state: &mut State<P>,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut render = Some(render);
        let mut all_or_nothing = |session: &mut P::Session, out: &mut Vec<u8>| {
            let Some(render) = render.take() else {
                return Ok(());
            };
            let rollback = Rollback::new(out);
            render(session, rollback.out)?;
            rollback.commit();
            Ok(())
        };
        let on_desk = desk::with(self.id(), |desk| {
            // What came from elsewhere came after what is on the desk, or at no certain time.
            desk.out.append(&mut state.out);
            // If this panics, the frame on the desk may be an old one: text then takes the lock.
            self.overflow.store(true, Ordering::Release);
            let written = all_or_nothing(&mut state.session, &mut desk.out);
            desk.frame = P::text_frame(&state.session);
            self.overflow.store(false, Ordering::Release);
            written
        });
        on_desk.unwrap_or_else(|| {
            let written = all_or_nothing(&mut state.session, &mut state.out);
            self.overflow.store(true, Ordering::Release);
            written
        })
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
        let _ = self.write(&mut state, |session, out| {
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
        wake(reader);
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
        self.env.tell(&incident);
    }
}

impl<P: Protocol> State<P> {
    /// Whether anything may still be said.
    fn is_open(&self) -> bool {
        self.turn == Turn::Open && !matches!(self.reader, Reader::Gone)
    }

    /// How large a buffer the next frame may need, going by the last one. What was much larger than
    /// a frame gets was one large event, and such make room for themselves.
    fn next_frame(&self) -> usize {
        if self.frame < 2 * HIGH_WATER {
            self.frame.min(HIGH_WATER)
        } else {
            0
        }
    }

    fn take_reader(&mut self) -> Option<Waker> {
        match &mut self.reader {
            Reader::Attached(waker) => waker.take(),
            Reader::Gone | Reader::Drained => None,
        }
    }
}

/// Wakes whoever waits; foreign code, so never under the lock.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
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
    /// Lays what waits on this thread's desk for one poll of the agent. With `attached` the body
    /// itself polls, and writes need not wake it.
    fn check_out(self: Arc<Self>, attached: bool) -> OnDesk;

    /// Takes back what is on the desk after the poll.
    fn check_in(&self, out: Vec<u8>);

    /// Takes everything that waits as one frame, or leaves a waker. `None` once the turn is closed
    /// and all is taken. With `attached` the caller polls the agent itself, each time before this.
    fn poll_frame(&self, cx: &Context<'_>, attached: bool) -> Poll<Option<Bytes>>;

    /// What is sent after a while of silence; empty where nothing may be sent any more.
    fn keep_alive(&self) -> Bytes;

    /// The agent panicked.
    fn panicked(&self);

    /// The agent was dropped, if it was not done.
    fn dropped(&self);

    /// The body is gone. With `drain` the run goes on, and what it says is thrown away.
    fn detach(&self, drain: bool);
}

impl<P: Protocol> Frames for Channel<P> {
    fn check_out(self: Arc<Self>, attached: bool) -> OnDesk {
        let mut state = self.lock();
        if attached {
            drop(state.take_reader());
        }
        state.on_desk = true;
        let out = mem::take(&mut state.out);
        let first = state.next_frame();
        self.overflow.store(false, Ordering::Release);
        let frame = P::text_frame(&state.session);
        drop(state);
        let id = self.id();
        let desk = Desk {
            id,
            out,
            frame,
            first,
        };
        desk::lay(desk, self)
    }

    fn check_in(&self, mut out: Vec<u8>) {
        let mut state = self.lock();
        out.append(&mut state.out);
        if !matches!(state.reader, Reader::Attached(_)) {
            out = Vec::new();
        }
        let news = !out.is_empty() || state.turn == Turn::Closed;
        let reader = if news { state.take_reader() } else { None };
        state.out = out;
        state.on_desk = false;
        drop(state);
        wake(reader);
    }

    fn poll_frame(&self, cx: &Context<'_>, attached: bool) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        if !state.out.is_empty() {
            let frame = mem::take(&mut state.out);
            state.frame = frame.len();
            let writers = mem::take(&mut state.writers);
            drop(state);
            // A body is polled for the next frame in any case, and its agent with it.
            let polled = |writer: &Waker| attached && writer.will_wake(cx.waker());
            for writer in writers.into_iter().filter(|writer| !polled(writer)) {
                writer.wake();
            }
            return Poll::Ready(Some(Bytes::from(frame)));
        }
        if state.turn == Turn::Closed && !state.on_desk {
            return Poll::Ready(None);
        }
        if let Reader::Attached(waker) = &mut state.reader {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn keep_alive(&self) -> Bytes {
        let mut out = Vec::new();
        P::keep_alive(&self.lock().session, &mut out);
        out.into()
    }

    fn panicked(&self) {
        self.settle(Outcome::Panicked);
    }

    fn dropped(&self) {
        self.settle(Outcome::Dropped);
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
