//! The hand-over between a reply and its body: the bytes to be sent, and the state of the turn.
//!
//! The reply writes, the run polls the agent, and the body takes frames. Each may be on a thread of its
//! own, and each may be dropped first.
//!
//! # Who owns the bytes
//!
//! Everything is in [`State`], under one mutex, with one exception: the buffer ([`Staging`]) with what is
//! to be sent. While it is anywhere but in `State::buffer`, what other threads write goes to
//! `State::overflow`. The buffer is
//!
//! * with the body as long as that polls the agent itself: it is staged once, when the body is created,
//!   and returned when the agent is done, detached or stopped;
//! * with a detached run during each of its polls;
//! * in `State::buffer` otherwise.
//!
//! During a poll of the agent it lies in the slot of the polling thread ([`staging::exchange`]), where text
//! is appended without the lock.
//!
//! | step | thread | buffer | `State::overflow` |
//! |---|---|---|---|
//! | [`Frames::stage`] | any | taken from `State::buffer` | empty |
//! | text | the one that polls | appended, if it is not stale | |
//! | any other write | the one that polls | first the overflow, then the write, under the lock | moved to the buffer |
//! | any write | another one | | appended, under the lock; reported |
//! | the body takes a frame, nothing reported | the body's | sent without the lock | not looked at |
//! | [`Frames::poll_frame`] | the body's | first the overflow, then sent | moved to the buffer |
//! | [`Frames::unstage`] | any | put to `State::buffer`, with the overflow behind | moved to the buffer |
//! | any write while it is in `State::buffer` | any | appended, under the lock; reported | empty |
//!
//! So bytes leave in the order in which writes returned: what another thread wrote during a poll is
//! later than what the poll found, or in no certain order with what the poll wrote. For this
//! `poll_frame` sends nothing while a detached run has the buffer.
//!
//! The buffer of an answer that is one document is never staged: nothing of it is sent before its end. Its text is
//! collected in [`Document`], under the lock, and handed to the session before anything else is: text that lay with one
//! thread could not be found by another one that writes a part, or ends the turn.
//!
//! While the head of the response waits for the first output (`State::held`), nothing leaves the buffer. A turn that
//! fails then, with nothing in it but what the session has opened, replaces that by the body of an error response. The
//! failure of a document does the same: nothing of it was sent either.
//!
//! # What another thread can see
//!
//! Under the lock: all of [`State`], but not the bytes in a buffer that is not there, nor the numbers of texts
//! and bytes that it counts; they come with `poll_frame` and `unstage`. Without the lock there are two flags:
//!
//! * `stale`: the buffer does not know the current state, because bytes of another thread wait in
//!   `State::overflow`, or the text frame may have changed. It is written under the lock (`Release`) and
//!   read without it (`Acquire`): text that sees it takes the lock, and so comes behind those bytes and
//!   has the new frame.
//! * the report of [`Task`]: `State` has something for the body, which are bytes, a closed turn, or a
//!   writer that waits for space. It is set after the lock is released, and whoever sets it wakes the body, unless
//!   that polls the agent on this thread just now; the body clears it after it has polled the agent and before it
//!   takes the lock. So a report is never lost: the body looks after it was cleared, or is woken. A
//!   detached run polls on behalf of no body, so it wakes the body at the end of a poll
//!   ([`Frames::wake_body`]).
//!
//! # States and transitions
//!
//! | state | from | to | when |
//! |---|---|---|---|
//! | [`Turn`] | `Open` | `Ended` | an ending or a question was written: [`end`](Channel::end), [`confirm`](Channel::confirm) |
//! | | `Open`, `Ended` | `Closed` | the agent has ended and the reply is dropped, in either order: [`close`](Channel::close) |
//! | | `Open`, `Ended` | `Closed` | the turn is stopped, whatever the agent and the reply do: [`Frames::stop`] |
//! | | `Ended` | `Open` | the question was answered while the stream is open: [`reopen`](Channel::reopen) |
//! | [`Handle`] | `Alive` | `Dropped`, `Panicked` | the reply is dropped, the latter while its thread unwinds: [`release`](Channel::release) |
//! | | `Dropped` | `Alive` | with `Open`: the agent runs again |
//! | `outcome` | `None` | `Some` | the agent returned, panicked or was dropped, whichever is first: [`settle`](Channel::settle) |
//! | `closed` | `None` | `Some` | with `Closed`: `outcome` moves here |
//! | [`Reader`] | `Attached` | `Gone` | the body is dropped, and the run with it: [`Frames::detach`] |
//! | | `Attached` | `Drained` | the body is dropped after [`Body::detach`](super::Body::detach): the run goes on |
//!
//! No state is ever left in another direction. Only `Open` takes writes, and only while the reader is
//! not `Gone`; for a `Drained` one they succeed and their bytes are dropped. The protocol's own closing
//! bytes are written on the way to `Closed`, once: those of a failure if the turn was `Open` and the
//! agent failed or exceeded a limit or the server shuts down, those of a cancelled turn if it was `Open` and was
//! cancelled, else those of an answer. The body ends when the turn is `Closed`, no detached run has the buffer, and nothing is in
//! it or in `State::overflow`. The turn is reported when the last of body, run and reply drops the channel.
//!
//! Every write is all or nothing, on error and on unwind. Wakers are called after the lock is
//! released, because they are foreign code.

mod frames;
mod state;

pub(super) use frames::Frames;
pub(super) use state::Outcome;
use state::{Document, Handle, Reader, State, Turn};

use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use http::StatusCode;

use super::staging::{self, HIGH_WATER, Staging};
use super::wakeup::Task;
use crate::json::rollback::Rollback;
use crate::json::short::Token;
use crate::protocol::consent::Asking;
use crate::protocol::{
    self, AgentError, Confirmation, Failure, Part, Progress, Protocol, Question, Record, Refusal,
    SendError, Session, Usage,
};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};

pub(super) struct Channel<P: Protocol> {
    state: Mutex<State<P>>,
    stale: AtomicBool,
    /// The body's task.
    task: Arc<Task>,
    record: Record,
    asking: Asking,
}

impl<P: Protocol> Channel<P> {
    pub(super) fn new(
        mut session: P::Session,
        record: Record,
        asking: Asking,
        is_stream: bool,
        task: Arc<Task>,
    ) -> Self {
        let mut out = Vec::new();
        session.open(&mut out);
        let untimed = record.is_timed();
        let state = State {
            session,
            opening: out.len(),
            held: false,
            headers: None,
            buffer: Some(Box::new(Staging::new(out))),
            overflow: Vec::new(),
            document: (!is_stream).then(|| Document {
                unyielded: if untimed { HIGH_WATER } else { 0 },
                ..Document::default()
            }),
            turn: Turn::Open,
            reader: Reader::Attached,
            outcome: None,
            closed: None,
            unread: false,
            progress: Progress::default(),
            untimed,
            too_large: None,
            status: StatusCode::OK,
            reply: Handle::Alive,
            run: None,
            waiting: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            stale: AtomicBool::new(true),
            task,
            record,
            asking,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A write that panics is rolled back, so the state is whole after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an id that no other channel has while this one is alive.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Writes a piece of text: into the staging buffer in the agent's own poll. Empty text writes
    /// nothing.
    ///
    /// Generic, so that the way of a token becomes part of the agent's own code where it can: that
    /// is worth 30 instructions of 230.
    #[inline(always)]
    pub(super) fn poll_text<T: AsRef<str>>(
        &self,
        cx: &Context<'_>,
        text: &T,
    ) -> Poll<Result<(), SendError>> {
        let text = text.as_ref();
        if text.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let written = staging::with(self.id(), |staging| {
            // One comparison stands for two conditions: the limit is beyond neither the spare capacity nor
            // the high-water mark.
            if staging.out.len() < staging.token_limit && !self.stale.load(Ordering::Acquire) {
                if let (Some(frame), Some(token)) = (&staging.frame, Token::new(text)) {
                    frame.write_token(token, &mut staging.out);
                    staging.events += 1;
                    return true;
                }
            }
            self.write_staged(staging, text)
        });
        if written == Some(true) {
            return Poll::Ready(Ok(()));
        }
        self.poll_text_locked(cx, text)
    }

    /// Writes any text into the staging buffer. Returns `false` if it does not belong there.
    #[inline(never)]
    fn write_staged(&self, staging: &mut Staging, text: &str) -> bool {
        // The locked way decides what a full buffer means: it waits, or returns the error of a
        // closed turn.
        let waits = staging.frame.is_none() || staging.out.len() >= HIGH_WATER;
        if waits || self.stale.load(Ordering::Acquire) {
            return false;
        }
        staging.reserve();
        let Some(frame) = &staging.frame else {
            return false;
        };
        match Token::new(text).or_else(|| Token::escaped(text)) {
            Some(token) => frame.write_token(token, &mut staging.out),
            None => frame.write(text, &mut staging.out),
        }
        staging.events += 1;
        staging.limit_tokens();
        true
    }

    /// Writes a piece of text under the lock. Not inlined, so that the way without the lock is short
    /// enough to become part of the agent's own code.
    #[inline(never)]
    fn poll_text_locked(&self, cx: &Context<'_>, text: &str) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.is_open() && state.collect(text) {
            state.progress.events += 1;
            return Poll::Ready(Ok(()));
        }
        self.poll_write_to(state, cx, (text.len(), true), |session, out| {
            session.text(text, out)
        })
    }

    /// Writes all of what `render` appends, or nothing; waits while too much is waiting already. `is_output` is `true`
    /// for a part of the answer.
    pub(super) fn poll_write(
        &self,
        cx: &Context<'_>,
        is_output: bool,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        // A part that is not text is as much work as some text.
        self.poll_write_to(self.lock(), cx, (64, is_output), render)
    }

    fn poll_write_to(
        &self,
        mut state: MutexGuard<'_, State<P>>,
        cx: &Context<'_>,
        (size, is_output): (usize, bool),
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        if !state.is_open() {
            // The body of a turn that was shut down drops the agent. An agent that ignores the error would
            // not return from this poll.
            if state.is_shut_down() && matches!(state.reader, Reader::Attached) {
                self.wait(state, cx);
                return Poll::Pending;
            }
            return Poll::Ready(Err(SendError::Closed));
        }
        // Woken at once, so that the agent goes on in its next poll. In between other tasks run,
        // and a body that was dropped is noticed.
        if state.must_yield(size) {
            drop(state);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.hand_over(&mut state)?;
        // Both halves count: bytes of other threads, and those of this poll in the staging buffer.
        let staged = staging::with(self.id(), |staging| staging.out.len()).unwrap_or(0);
        let full = state.unstaged().len() + staged >= HIGH_WATER;
        // Without a reader nobody would ever make space.
        if full && matches!(state.reader, Reader::Attached) {
            self.wait(state, cx);
            return Poll::Pending;
        }
        Poll::Ready(self.append(state, Turn::Open, is_output, render))
    }

    /// Waits until the body is gone.
    pub(super) fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        let state = self.lock();
        if let Reader::Attached = state.reader {
            self.wait(state, cx);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Writes an ending, past the high-water mark if need be: it is the last thing that is written.
    pub(super) fn end(
        &self,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut state = self.lock();
        if !state.is_open() {
            return Err(SendError::Closed);
        }
        self.hand_over(&mut state)?;
        self.append(state, Turn::Ended, true, render)
    }

    /// Writes a question, which ends the turn.
    pub(super) fn confirm(&self, confirmation: &Confirmation) -> Result<(), SendError> {
        let ask = |confirmation: &Confirmation| self.asking.ask(confirmation, self.record.env());
        self.end(|session, out| {
            session.part(Part::Confirm(&Question::new(confirmation, &ask)), out)
        })
    }

    /// Returns `true` if an ending or a question was written, and the turn is not closed.
    pub(super) fn is_ended(&self) -> bool {
        self.lock().turn == Turn::Ended
    }

    /// Opens a turn again whose agent waits for the answer to its question: for a new [`Reply`](super::Reply), which the
    /// caller creates. Returns `false` if the turn is not [ended](Self::is_ended), or nobody reads.
    pub(super) fn reopen(&self) -> bool {
        let mut state = self.lock();
        // What ends a turn has consumed the reply, so there is no other one.
        let is_open = state.turn == Turn::Ended && !matches!(state.reader, Reader::Gone);
        if is_open {
            state.turn = Turn::Open;
            state.reply = Handle::Alive;
        }
        is_open
    }

    fn append(
        &self,
        mut state: MutexGuard<'_, State<P>>,
        turn: Turn,
        is_output: bool,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let untimed = state.untimed && is_output;
        let length = if untimed { self.length(&mut state) } else { 0 };
        let written = self.write(&mut state, render);
        if let Err(SendError::TooLarge(limit)) = written {
            // Remembered although the agent gets the error too: it may ignore it, and the answer
            // would lack its middle.
            state.too_large = Some(limit);
        }
        written?;
        state.turn = turn;
        state.progress.events += 1;
        // An event that a session drops or only remembers is no output. All of a document is written at its end.
        if untimed && (state.document.is_some() || self.length(&mut state) > length) {
            self.time_output(&mut state);
        }
        // The session still writes: it keeps its own state, and only bytes are dropped.
        if let Reader::Drained = state.reader {
            state.unstaged().clear();
            staging::with(self.id(), |staging| staging.out.clear());
        }
        self.wake_reader(state);
        Ok(())
    }

    /// Hands the collected text of a document to the session.
    fn hand_over(&self, state: &mut State<P>) -> Result<(), SendError> {
        let Some(document) = &mut state.document else {
            return Ok(());
        };
        if document.text.is_empty() {
            return Ok(());
        }
        let text = mem::take(&mut document.text);
        let written = self.write(state, |session, out| session.text(&text, out));
        if let Err(SendError::TooLarge(limit)) = written {
            state.too_large = Some(limit);
        }
        written
    }

    /// Appends all of what `render` writes, or nothing, behind everything written before.
    fn write(
        &self,
        state: &mut State<P>,
        render: impl FnOnce(&mut P::Session, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        // Called in one of two places. That they exclude each other is not known to the compiler.
        let mut render = Some(render);
        let mut all_or_nothing = |session: &mut P::Session, out: &mut Vec<u8>| {
            let Some(render) = render.take() else {
                return Ok(());
            };
            let rollback = Rollback::new(out);
            render(session, rollback.out)?;
            rollback.keep();
            Ok(())
        };
        let staged = staging::with(self.id(), |staging| {
            // Bytes of other threads are later than those in the staging buffer, or unordered.
            staging.out.append(&mut state.overflow);
            // Should this panic, the frame may be an old one: text then takes the lock.
            self.stale.store(true, Ordering::Release);
            let written = all_or_nothing(&mut state.session, &mut staging.out);
            state.refresh(staging);
            self.stale.store(false, Ordering::Release);
            written
        });
        staged.unwrap_or_else(|| {
            let out = match &mut state.buffer {
                Some(buffer) => &mut buffer.out,
                None => &mut state.overflow,
            };
            let written = all_or_nothing(&mut state.session, out);
            self.stale.store(true, Ordering::Release);
            written
        })
    }

    /// Records the time of the first output. Once a turn, and never without an observer.
    #[cold]
    #[inline(never)]
    fn time_output(&self, state: &mut State<P>) {
        state.set_first_output(self.record.elapsed());
        staging::with(self.id(), |staging| state.refresh(staging));
    }

    /// Returns the number of bytes that wait for the body.
    #[cold]
    #[inline(never)]
    fn length(&self, state: &mut State<P>) -> usize {
        let staged = staging::with(self.id(), |staging| staging.out.len());
        state.unstaged().len() + staged.unwrap_or(0)
    }

    /// Adds to the usage of the answer, and returns the sum.
    pub(super) fn spend(&self, usage: Usage) -> Usage {
        let mut state = self.lock();
        let sum = state.progress.usage.get_or_insert_default();
        *sum += usage;
        *sum
    }

    /// Records that the reply was dropped.
    pub(super) fn release(&self) {
        let mut state = self.lock();
        // A panic in a task to which the agent has moved its reply is caught by that task's
        // runtime, and shows only here.
        state.reply = if std::thread::panicking() {
            Handle::Panicked
        } else {
            Handle::Dropped
        };
        self.close(state);
    }

    /// Records the outcome of the agent. Only the first call counts.
    pub(super) fn settle(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.outcome.is_none() {
            state.outcome = Some(outcome);
            self.close(state);
        }
    }

    /// Closes the turn when the agent has ended and its reply is gone.
    fn close(&self, mut state: MutexGuard<'_, State<P>>) {
        // Both are needed, since either may come first: an agent may return while a task of its own
        // still writes, and may drop its reply and go on working.
        if state.reply == Handle::Alive || state.turn == Turn::Closed {
            return;
        }
        // An error counts as `too_large`.
        let _ = self.hand_over(&mut state);
        let outcome = match (state.outcome.take(), state.reply, state.too_large) {
            (None, ..) => return,
            (Some(Outcome::Answered), Handle::Panicked, _) => Outcome::Panicked,
            // An agent that ignored the limit says that it has answered. The front end has to learn
            // that something is missing.
            (Some(Outcome::Answered), _, Some(limit)) => {
                Outcome::Failed(SendError::from(limit).into())
            }
            (Some(outcome), ..) => outcome,
        };
        self.close_with(state, outcome);
    }

    fn close_with(&self, mut state: MutexGuard<'_, State<P>>, outcome: Outcome) {
        let failure = match &outcome {
            Outcome::Answered | Outcome::Cancelled => None,
            Outcome::Failed(error) => Some(error.failure()),
            Outcome::Panicked | Outcome::Dropped => Some(Failure::new(AgentError::DEFAULT)),
            Outcome::ShutDown => Some(Failure::new(AgentError::SHUT_DOWN)),
        };
        let open = state.turn == Turn::Open;
        // Behind an ending nothing may be written any more, so a later failure is only reported.
        let failure = failure.filter(|_| open);
        let sent = failure.is_some() && matches!(state.reader, Reader::Attached);
        state.turn = Turn::Closed;
        let is_document = state.document.is_some();
        state.status = match (&failure, &outcome) {
            (Some(_), Outcome::Failed(error)) => error.status_code(),
            (Some(_), Outcome::ShutDown) => StatusCode::SERVICE_UNAVAILABLE,
            (Some(_), _) => StatusCode::BAD_REQUEST,
            (None, _) => StatusCode::OK,
        };
        // The response, where nothing was sent yet.
        let early = is_document || (state.held && !self.has_staged_output(&mut state));
        let whole = failure.filter(|_| early).map(|failure| {
            let response = P::refuse(&failure.to_refusal(state.status));
            let (head, body) = response.into_parts();
            (state.status, state.headers) = (head.status, Some(Box::new(head.headers)));
            body
        });
        // Closing writes cannot fail: they are the protocol's own code on plain text.
        let _ = self.write(&mut state, |session, out| {
            match (&failure, &whole) {
                (_, Some(whole)) => {
                    // What the session has opened.
                    out.clear();
                    out.extend_from_slice(whole);
                }
                (Some(failure), None) => session.fail(failure, out),
                (None, _) if open && matches!(outcome, Outcome::Cancelled) => {
                    session.cancelled(out);
                }
                (None, _) => session.finish(out),
            }
            Ok(())
        });
        if failure.is_none() && state.session.is_failed() {
            state.status = StatusCode::BAD_REQUEST;
            if is_document {
                // The document is the agent's own: only the head is that of a failure.
                let response = P::refuse(&Refusal::new(state.status, ""));
                state.headers = Some(Box::new(response.into_parts().0.headers));
            }
        }
        state.closed = Some((outcome, sent));
        self.wake_reader(state);
    }

    /// Returns `true` if there is output, see [`State::has_output`].
    fn has_staged_output(&self, state: &mut State<P>) -> bool {
        let staged = staging::with(self.id(), |staging| staging.out.len());
        state.has_output(staged.unwrap_or(0))
    }

    /// Remembers to wake the task with the next frame, or when the body is gone.
    fn wait(&self, mut state: MutexGuard<'_, State<P>>, cx: &Context<'_>) {
        // A task that polls again without being woken is listed once.
        let known = |waker: &Waker| waker.will_wake(cx.waker());
        if !state.waiting.iter().any(known) {
            state.waiting.push(cx.waker().clone());
            self.wake_reader(state);
        }
    }

    /// Tells the body that there is something for it, and wakes it unless it polls the agent just now.
    fn wake_reader(&self, state: MutexGuard<'_, State<P>>) {
        drop(state);
        let is_polling = staging::with(self.id(), |_| ()).is_some();
        if self.task.report() && !is_polling {
            self.task.wake_reader();
        }
    }
}

/// Body, run and reply are gone: the turn is over.
impl<P: Protocol> Drop for Channel<P> {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let outcome = match &state.closed {
            Some((Outcome::Failed(error), sent)) => {
                protocol::Outcome::Failed { error, sent: *sent }
            }
            Some((Outcome::Panicked, sent)) => protocol::Outcome::Panicked { sent: *sent },
            Some((Outcome::Cancelled, _)) => protocol::Outcome::Cancelled,
            Some((Outcome::ShutDown, _)) => protocol::Outcome::ShutDown,
            // An answer that nobody read to its end counts as a client that left, whatever the
            // agent returned.
            Some((Outcome::Answered, _)) if !state.unread => protocol::Outcome::Answered,
            Some((Outcome::Answered | Outcome::Dropped, _)) | None => protocol::Outcome::ClientLeft,
        };
        self.record.finish(outcome, state.progress);
    }
}
