//! The hand-over between a reply and its body: the bytes to be sent, and the state of the turn.
//!
//! The reply writes, the run polls the agent, and the body takes frames. Each of the three may be on its own thread,
//! and each may be dropped first.
//!
//! # Who owns the bytes
//!
//! All data is in [`State`], under one mutex, except the buffer of unsent bytes ([`Staging`]). While the buffer is not
//! in `State::buffer`, other threads write to `State::overflow`. The buffer is
//!
//! - with the body while the body polls the agent itself: it is staged once, when the body is created, and returned
//!   when the agent has ended, is detached or is stopped;
//! * with a detached run during each of its polls;
//! * in `State::buffer` otherwise.
//!
//! During a poll of the agent the buffer is in the slot of the polling thread ([`staging::exchange`]), where text is
//! appended without the lock.
//!
//! | step | thread | buffer | `State::overflow` |
//! |---|---|---|---|
//! | [`Frames::stage`] | any | taken from `State::buffer` | empty |
//! | text | the polling thread | appended, if it is not stale | |
//! | any other write | the polling thread | first the overflow, then the write, under the lock | moved to the buffer |
//! | any write | another thread | | appended, under the lock; reported |
//! | the body takes a frame, nothing was reported | the body's | sent without the lock | not read |
//! | [`Frames::poll_frame`] | the body's | first the overflow, then sent | moved to the buffer |
//! | [`Frames::unstage`] | any | put into `State::buffer`, then the overflow | moved to the buffer |
//! | any write while the buffer is in `State::buffer` | any | appended, under the lock; reported | empty |
//!
//! So bytes are sent in the order in which the writes returned: bytes that another thread wrote during a poll are later
//! than the bytes before the poll, and unordered relative to the bytes of the poll. For this order `poll_frame` sends
//! nothing while a detached run has the buffer.
//!
//! The buffer of an answer that is one document is never staged, because nothing is sent before the document ends. Its
//! text is collected in [`Document`], under the lock, and passed to the session before anything else is written. If the
//! text were in the slot of a thread, another thread that writes a part or ends the turn could not find it.
//!
//! While the head of the response waits for the first output (`State::held`), no bytes are sent. If a turn fails then,
//! and the buffer contains only the bytes that open the reply (`State::opening`), the body of an error response
//! replaces these bytes. The same happens if a document fails, because nothing of it was sent either.
//!
//! In a protocol whose head waits, the first write opens the reply, or the first keep-alive. Until then the answer of
//! another server can become the reply ([`Passthrough`]): its frames are written as they came, those before the first
//! output count as opening bytes, and the session only follows them, so that it can end them as a failure.
//!
//! # What another thread can see
//!
//! With the lock: all of [`State`], except the bytes in a buffer that is not in `State::buffer`, and the numbers of
//! texts and bytes that this buffer counts; `poll_frame` and `unstage` add them to the state. Without the lock there
//! are two flags:
//!
//! - `stale`: the buffer does not have the current state, because bytes of another thread are in `State::overflow`, or
//!   the text frame may have changed. It is written under the lock (`Release`) and read without it (`Acquire`). A text
//!   write that reads `true` takes the lock, so its text follows those bytes and has the new frame.
//! - the report of [`Task`]: `State` has something for the body, which is bytes, a closed turn, or a writer that waits
//!   for space. It is set after the lock is released. The thread that sets it wakes the body, unless the body is
//!   polling the agent on this thread. The body clears it after it has polled the agent and before it takes the lock.
//!   So a report is never lost: either the body sees it after clearing, or the body is woken. A detached run is not
//!   polled by the body, so it wakes the body at the end of a poll ([`Frames::wake_body`]).
//!
//! # States and transitions
//!
//! | state | from | to | when |
//! |---|---|---|---|
//! | [`Turn`] | `Open` | `Ended` | an ending or a question was written: [`end`](Channel::end), [`confirm`](Channel::confirm), or the end of a [`Passthrough`] |
//! | | `Open`, `Ended` | `Closed` | the agent has ended and the reply is dropped, in either order: [`close`](Channel::close) |
//! | | `Open`, `Ended` | `Closed` | the turn is stopped, whether or not the agent and the reply have ended: [`Frames::stop`] |
//! | | `Ended` | `Open` | the question was answered while the stream is open: [`reopen`](Channel::reopen) |
//! | [`Handle`] | `Alive` | `Dropped`, `Panicked` | the reply is dropped, the latter while its thread unwinds: [`release`](Channel::release) |
//! | | `Dropped` | `Alive` | with `Open`: the agent runs again |
//! | `outcome` | `None` | `Some` | the agent returned, panicked or was dropped, whichever is first: [`settle`](Channel::settle) |
//! | `closed` | `None` | `Some` | with `Closed`: `outcome` moves here |
//! | [`Passthrough`] | `Off` | `Begun` | the agent passes on an answer, and nothing was written: [`begin_passthrough`](Channel::begin_passthrough) |
//! | | `Begun` | `Running` | the first frame of the other server was written: [`poll_pass`](Channel::poll_pass) |
//! | | `Begun`, `Running` | `Ended` | its end was written: [`end_pass`](Channel::end_pass), [`pass_document`](Channel::pass_document) |
//! | [`Reader`] | `Attached` | `Gone` | the body is dropped, and the run with it: [`Frames::detach`] |
//! | | `Attached` | `Drained` | the body is dropped after [`Body::detach`](super::Body::detach): the run goes on |
//!
//! There are no other transitions. Writes succeed only in `Open`, and only while the reader is not `Gone`; with a
//! `Drained` reader their bytes are discarded. The closing bytes of the protocol are written once, at the transition to
//! `Closed`: those of a failure if the turn was `Open` and the agent failed, exceeded a limit, or the server shuts
//! down; those of a cancelled turn if it was `Open` and was cancelled; otherwise those of an answer. The body ends when
//! the turn is `Closed`, no detached run has the buffer, and both the buffer and `State::overflow` are empty. The turn
//! is reported when the last of body, run and reply drops the channel.
//!
//! Every write is all or nothing, on error and on unwind. Wakers are called after the lock is
//! released, because they are foreign code.

mod frames;
mod passthrough;
mod question;
mod report;
mod state;

pub(super) use frames::Frames;
pub(super) use state::Outcome;
use state::{Document, Handle, Passthrough, Reader, State, Turn};

use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use http::StatusCode;

use super::staging::{self, HIGH_WATER, Staging};
use super::wakeup::Task;
use crate::consent::Asking;
use crate::json::rollback::Rollback;
use crate::json::short::Token;
use crate::protocol::{
    AgentError, Failure, LONGEST_PIECE, Progress, Protocol, Record, Refusal, SendError, Session,
};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};

pub(crate) struct Channel<P: Protocol> {
    state: Mutex<State<P>>,
    stale: AtomicBool,
    /// The body's task.
    task: Arc<Task>,
    record: Record,
    asking: Asking,
}

impl<P: Protocol> Channel<P> {
    pub(super) fn new(
        mut session: Session<P::Blocks>,
        record: Record,
        asking: Asking,
        (is_stream, opens): (bool, bool),
        task: Arc<Task>,
    ) -> Arc<Self> {
        let mut out = Vec::new();
        if opens {
            session.open(&mut out);
        }
        let untimed = record.is_timed();
        // In one expression, so that the state, hundreds of bytes, is not moved from one variable to the next.
        Arc::new(Self {
            state: Mutex::new(State {
                session,
                is_opened: opens,
                opening: out.len(),
                passthrough: Passthrough::Off,
                held: false,
                headers: None,
                is_refused: false,
                buffer: Some(Box::new(Staging::new(out))),
                overflow: Vec::new(),
                document: (!is_stream).then(Document::default),
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
            }),
            stale: AtomicBool::new(true),
            task,
            record,
            asking,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A poisoned lock is usable: a write that panics is rolled back, so the state is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an id that is unique among the channels that exist at the same time.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Writes a piece of text. In the agent's own poll the text is appended to the staging buffer. Empty text writes
    /// nothing.
    ///
    /// Generic, so that this path can be inlined into the agent's code, which saves 30 of 230 instructions per token.
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
            // One comparison checks two conditions: the limit exceeds neither the spare capacity nor the high-water
            // mark.
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

    /// Writes text into the staging buffer. Returns `false` if the text must be written under the lock.
    #[inline(never)]
    fn write_staged(&self, staging: &mut Staging, text: &str) -> bool {
        // A full buffer is handled under the lock: the write waits, or returns the error of a closed turn.
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
            // The session splits it.
            None if text.len() > LONGEST_PIECE => return false,
            None => frame.write(text, &mut staging.out),
        }
        staging.events += 1;
        staging.limit_tokens();
        true
    }

    /// Writes a piece of text under the lock. Not inlined, so that the path without the lock is short enough to be
    /// inlined into the agent's code.
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

    /// Writes all bytes that `render` appends, or none. Waits while the high-water mark is reached. `is_output` is
    /// `true` for a part of the answer.
    pub(super) fn poll_write(
        &self,
        cx: &Context<'_>,
        is_output: bool,
        render: impl FnOnce(&mut Session<P::Blocks>, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        // Any part counts as 64 bytes of text in `must_yield`.
        self.poll_write_to(self.lock(), cx, (64, is_output), render)
    }

    fn poll_write_to(
        &self,
        state: MutexGuard<'_, State<P>>,
        cx: &Context<'_>,
        (size, is_output): (usize, bool),
        render: impl FnOnce(&mut Session<P::Blocks>, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Poll<Result<(), SendError>> {
        self.poll_space(state, cx, size)
            .map(|state| self.append(state?, Turn::Open, is_output, render))
    }

    /// Waits until the turn accepts a write of about `size` bytes.
    fn poll_space<'a>(
        &self,
        mut state: MutexGuard<'a, State<P>>,
        cx: &Context<'_>,
        size: usize,
    ) -> Poll<Result<MutexGuard<'a, State<P>>, SendError>> {
        if !state.is_open() {
            // After a shutdown the body drops the agent. The write never completes, because an agent that ignores
            // errors would not return from this poll.
            if state.is_shut_down() && matches!(state.reader, Reader::Attached) {
                self.wait(state, cx);
                return Poll::Pending;
            }
            return Poll::Ready(Err(SendError::Closed));
        }
        // The task wakes itself, so the agent continues in its next poll. In between other tasks run, and a body that
        // was dropped is noticed.
        if state.must_yield(size) {
            drop(state);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if state.document.is_some() {
            self.hand_over(&mut state)?;
        }
        // Both count: the bytes in the state, and the bytes of this poll in the staging buffer.
        let staged = staging::with(self.id(), |staging| staging.out.len()).unwrap_or(0);
        let full = state.unstaged().len() + staged >= HIGH_WATER;
        // Without a reader the buffer would never be emptied.
        if full && matches!(state.reader, Reader::Attached) {
            self.wait(state, cx);
            return Poll::Pending;
        }
        Poll::Ready(Ok(state))
    }

    /// Waits until the body is dropped.
    pub(super) fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        let state = self.lock();
        if let Reader::Attached = state.reader {
            self.wait(state, cx);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Writes an ending, which is that of another server's answer if it `is_passed`. It may exceed the high-water mark,
    /// because it is the last write.
    pub(super) fn end(
        &self,
        is_passed: bool,
        render: impl FnOnce(&mut Session<P::Blocks>, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut state = self.lock();
        if !state.is_open() {
            return Err(SendError::Closed);
        }
        self.hand_over(&mut state)?;
        if is_passed {
            (state.is_opened, state.passthrough) = (true, Passthrough::Ended);
        }
        self.append(state, Turn::Ended, true, render)
    }

    fn append(
        &self,
        mut state: MutexGuard<'_, State<P>>,
        turn: Turn,
        is_output: bool,
        render: impl FnOnce(&mut Session<P::Blocks>, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let untimed = state.untimed && is_output;
        let length = if untimed { self.length(&mut state) } else { 0 };
        let opening = state.opening;
        let written = self.write(&mut state, render);
        if let Err(SendError::TooLarge(limit)) = written {
            // Recorded although the agent receives the error: it may ignore the error, and a part of the answer would
            // be missing.
            state.too_large = Some(limit);
        }
        written?;
        state.turn = turn;
        state.progress.events += 1;
        // An event that the session drops or only records is no output. The session of a document writes everything at
        // the end.
        if untimed
            && (state.document.is_some()
                || self.length(&mut state) > length + (state.opening - opening))
        {
            self.time_output(&mut state);
        }
        // The session has written, because it must update its own state; only the bytes are discarded.
        if let Reader::Drained = state.reader {
            state.unstaged().clear();
            staging::with(self.id(), |staging| staging.out.clear());
        }
        self.wake_reader(state);
        Ok(())
    }

    /// Passes the collected text of a document to the session.
    fn hand_over(&self, state: &mut State<P>) -> Result<(), SendError> {
        let text = match &mut state.document {
            Some(document) if !document.text.is_empty() => mem::take(&mut document.text),
            _ => return Ok(()),
        };
        let written = self.write(state, |session, out| session.text(&text, out));
        if let Err(SendError::TooLarge(limit)) = written {
            state.too_large = Some(limit);
        }
        written
    }

    /// Appends all bytes that `render` writes, or none, after all earlier bytes.
    fn write(
        &self,
        state: &mut State<P>,
        render: impl FnOnce(&mut Session<P::Blocks>, &mut Vec<u8>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        // `render` is called in one of two closures; the compiler cannot see that only one of them runs.
        let mut render = Some(render);
        let (opens, mut opening) = (!mem::replace(&mut state.is_opened, true), 0);
        let mut all_or_nothing = |session: &mut Session<P::Blocks>, out: &mut Vec<u8>| {
            let Some(render) = render.take() else {
                return Ok(());
            };
            if opens {
                let before = out.len();
                session.open(out);
                opening = out.len() - before;
            }
            let rollback = Rollback::new(out);
            render(session, rollback.out)?;
            rollback.keep();
            Ok(())
        };
        let staged = staging::with(self.id(), |staging| {
            // Bytes of other threads are later than those in the staging buffer, or unordered.
            if !state.overflow.is_empty() {
                staging.out.append(&mut state.overflow);
            }
            staging.reserve();
            // If `render` panics, the text frame may be outdated; `stale` then makes text writes take the lock.
            self.stale.store(true, Ordering::Release);
            let written = all_or_nothing(&mut state.session, &mut staging.out);
            state.refresh(staging);
            self.stale.store(false, Ordering::Release);
            written
        });
        let written = staged.unwrap_or_else(|| {
            let out = match &mut state.buffer {
                Some(buffer) => &mut buffer.out,
                None => &mut state.overflow,
            };
            let written = all_or_nothing(&mut state.session, out);
            self.stale.store(true, Ordering::Release);
            written
        });
        state.opening += opening;
        written
    }

    /// Records the time of the first output. Called once per turn, and only with an observer.
    #[cold]
    #[inline(never)]
    fn time_output(&self, state: &mut State<P>) {
        state.set_first_output(self.record.elapsed());
        staging::with(self.id(), |staging| state.refresh(staging));
    }

    /// Returns the number of bytes that the body has not sent yet.
    #[cold]
    #[inline(never)]
    fn length(&self, state: &mut State<P>) -> usize {
        let staged = staging::with(self.id(), |staging| staging.out.len());
        state.unstaged().len() + staged.unwrap_or(0)
    }

    /// Records that the reply was dropped.
    pub(super) fn release(&self) {
        let mut state = self.lock();
        // The runtime catches a panic in a task to which the agent has moved its reply, so it is visible only here.
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

    /// Closes the turn if both the agent has ended and its reply is dropped.
    fn close(&self, mut state: MutexGuard<'_, State<P>>) {
        // Either can come first: an agent may return while its tasks still write, or drop its reply and go on.
        if state.reply == Handle::Alive || state.turn == Turn::Closed {
            return;
        }
        // An error has been recorded in `too_large`.
        let _ = self.hand_over(&mut state);
        let outcome = match (state.outcome.take(), state.reply, state.too_large) {
            (None, ..) => return,
            (Some(Outcome::Answered), Handle::Panicked, _) => Outcome::Panicked,
            // The rest of the other server's answer is missing.
            (Some(Outcome::Answered), ..) if state.passthrough == Passthrough::Running => {
                Outcome::Dropped
            }
            // The agent has ignored the limit and answered; the front end must learn that a part of the answer is
            // missing.
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
        // Nothing may be written after an ending, so a later failure is only reported.
        let failure = failure.filter(|_| open);
        let sent = failure.is_some() && matches!(state.reader, Reader::Attached);
        state.turn = Turn::Closed;
        let is_document = state.document.is_some();
        let is_passed = state.passthrough == Passthrough::Ended;
        state.status = match (&failure, &outcome) {
            (Some(_), Outcome::Failed(error)) => error.status_code(),
            (Some(_), Outcome::ShutDown) => StatusCode::SERVICE_UNAVAILABLE,
            (Some(_), _) => StatusCode::BAD_REQUEST,
            (None, _) => StatusCode::OK,
        };
        // If nothing was sent yet, the failure is the whole response.
        let early = is_document || (state.held && !self.has_staged_output(&mut state));
        let whole = failure.filter(|_| early).map(|failure| {
            let error = match &outcome {
                Outcome::Failed(error) => Some(error),
                _ => None,
            };
            let delay = error.and_then(|error| error.delay());
            let response = P::refuse(&failure.to_refusal(state.status, delay));
            let (mut head, body) = response.into_parts();
            let headers = error.into_iter().flat_map(AgentError::headers);
            head.headers.extend(headers.cloned());
            (state.status, state.headers) = (head.status, Some(Box::new(head.headers)));
            state.is_refused = true;
            body
        });
        // Closing writes do not fail: they only run code of the protocol, without data of the agent.
        let _ = self.write(&mut state, |session, out| {
            match (&failure, &whole) {
                (_, Some(whole)) => {
                    // Removes what the session wrote to open the reply.
                    out.clear();
                    out.extend_from_slice(whole);
                }
                (Some(failure), None) => session.fail(failure, out),
                (None, _) if open && matches!(outcome, Outcome::Cancelled) => {
                    session.cancelled(out);
                }
                (None, _) if is_passed => {}
                (None, _) => session.finish(out),
            }
            Ok(())
        });
        if failure.is_none() && state.session.is_failed() {
            state.status = StatusCode::BAD_REQUEST;
            if is_document {
                // The agent's own event is the document, so only the head of the response is that of a failure.
                let response = P::refuse(&Refusal::new(state.status, ""));
                state.headers = Some(Box::new(response.into_parts().0.headers));
            }
        }
        state.closed = Some((outcome, sent));
        self.wake_reader(state);
    }

    /// Returns `true` if there is output; see [`State::has_output`].
    fn has_staged_output(&self, state: &mut State<P>) -> bool {
        let staged = staging::with(self.id(), |staging| staging.out.len());
        state.has_output(staged.unwrap_or(0))
    }

    /// Registers the task to be woken at the next frame, or when the body is dropped.
    fn wait(&self, mut state: MutexGuard<'_, State<P>>, cx: &Context<'_>) {
        // A task that is registered already is not added again.
        let known = |waker: &Waker| waker.will_wake(cx.waker());
        if !state.waiting.iter().any(known) {
            state.waiting.push(cx.waker().clone());
            self.wake_reader(state);
        }
    }

    /// Reports to the body that the state has changed, and wakes the body unless it is polling the agent on this
    /// thread.
    fn wake_reader(&self, state: MutexGuard<'_, State<P>>) {
        drop(state);
        if self.task.report() && staging::with(self.id(), |_| ()).is_none() {
            self.task.wake_reader();
        }
    }
}
