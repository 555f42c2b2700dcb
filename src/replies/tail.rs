//! The reader of a reply: it sends the events from a given number on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use super::Replies;
use super::local::{Found, Local, Reader};
use super::pump::TICK;
use super::store::{LogPage, ReplyEnd, ReplyId, StoreError};
use crate::agent::{Interrupted, Running};
use crate::protocol::{Env, Framing, Protocol, Ticks};

/// The number of ticks for which a store may fail before the reader sends a failure.
const PATIENCE: u32 = 5;

/// The number of silent ticks after which a keep-alive is sent, if the framing has one.
const KEEP_ALIVE: u32 = 15;

/// The number of ticks between two notes of the reader in the store.
const NOTE: u32 = 30;

type Read = Pin<Box<dyn Future<Output = Result<LogPage, StoreError>> + Send>>;

type Frame = Result<Bytes, Interrupted>;

/// The frames of a reply from an event on, from the memory of this process or from the store.
pub(super) struct Tail {
    replies: Replies,
    id: ReplyId,
    local: Option<Reader>,
    /// The function [`Extras::lost`](crate::protocol::Extras::lost).
    lost: fn(&[u8], u64, &mut Vec<u8>),
    framing: Framing,
    /// The number of the next event.
    next: u64,
    /// The first event of the reply; empty until it is known.
    first: Bytes,
    step: Step,
    env: Env,
    ticks: Option<Ticks>,
    silence: u32,
    age: u32,
    /// The number of consecutive reads that have failed.
    failures: u32,
    /// The request that the reader answers.
    running: Running,
}

enum Step {
    /// Looks for events in local memory.
    Look,
    /// Reads events from the store. `true` once the read was pending.
    Read(Read, bool),
    /// Waits for a tick after a failed read.
    Wait,
    /// Reads the first event of the reply, which the failure needs.
    First(Read),
    /// All events were sent.
    End,
}

impl Tail {
    /// Creates the tail of a reply from event `next` on.
    pub(super) fn new<P: Protocol>(
        replies: Replies,
        id: ReplyId,
        next: u64,
        env: &Env,
        running: Running,
    ) -> Self {
        let local = replies.shared.find(&id).map(Local::reader);
        Self {
            replies,
            id,
            local,
            lost: P::EXTRAS.lost,
            framing: P::FRAMING,
            next,
            first: Bytes::new(),
            step: Step::Look,
            env: env.clone(),
            ticks: env.ticks(TICK),
            silence: 0,
            age: 0,
            failures: 0,
            running,
        }
    }

    /// Sets the first event of the reply.
    pub(super) fn behind(mut self, first: Bytes) -> Self {
        self.first = first;
        self
    }

    fn read(&self, from: u64) -> Read {
        let (shared, env, id) = (Arc::clone(&self.replies.shared), self.env.clone(), self.id);
        let framing = self.framing;
        Box::pin(async move { shared.read(&env, &id, from, framing).await })
    }

    /// Records the events that are sent.
    fn take(&mut self, events: Bytes, next: u64) -> Bytes {
        // The first event is stored, because a failure needs the ids in it.
        if self.next == 0 {
            self.first = events.slice(..self.framing.skip(&events, 1));
        }
        (self.next, self.silence, self.failures) = (next, 0, 0);
        events
    }

    /// Begins to send the failure of a reply whose server died.
    fn lose(&mut self) {
        self.step = match self.first.is_empty() && self.next > 0 {
            // A reader that resumed in the middle has not read the first event.
            true => Step::First(self.read(0)),
            false => Step::First(Box::pin(async { Err(StoreError::Gone) })),
        };
    }

    /// Writes the failure.
    fn failure(&mut self, page: Result<LogPage, StoreError>) -> Bytes {
        if let Ok(page) = page {
            self.first = page.events.slice(..self.framing.skip(&page.events, 1));
        }
        let mut out = Vec::new();
        (self.lost)(&self.first, self.next, &mut out);
        self.step = Step::End;
        out.into()
    }

    /// Handles the result of a read. `waited` is `true` if the read was pending. Returns the events, if there are any.
    fn answered(&mut self, result: Result<LogPage, StoreError>, waited: bool) -> Option<Bytes> {
        self.step = Step::Look;
        match result {
            // Waits for a tick, because a store that returns immediately would be read in a loop.
            Ok(page) if page.events.is_empty() && page.end.is_none() && !waited => {
                self.answered(Err(StoreError::Unavailable("no events".into())), true)
            }
            Ok(page) => {
                self.failures = 0;
                match page.end {
                    // The failure is sent after the events of this page.
                    Some(ReplyEnd::Lost) if page.events.is_empty() => self.lose(),
                    Some(ReplyEnd::Lost) | None => {}
                    Some(_) => self.step = Step::End,
                }
                let events = (page.events, page.next);
                (!events.0.is_empty()).then(|| self.take(events.0, events.1))
            }
            // Without ticks the wait would never end.
            Err(StoreError::Unavailable(_)) if self.failures < PATIENCE && self.ticks.is_some() => {
                self.step = Step::Wait;
                None
            }
            Err(_) => {
                self.lose();
                None
            }
        }
    }

    /// Counts the ticks. Returns a keep-alive after a silence, or the error that makes the client resume.
    fn poll_ticks(&mut self, cx: &mut Context<'_>) -> Option<Frame> {
        while let Some(ticks) = &mut self.ticks {
            match ticks.as_mut().poll_next(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) => {
                    self.ticks = None;
                    return None;
                }
                Poll::Pending => return None,
            }
            self.age = self.age.wrapping_add(1);
            self.silence += 1;
            if self.is_interrupted() {
                self.step = Step::End;
                return Some(Err(Interrupted));
            }
            if let Step::Wait = self.step {
                self.failures += 1;
                self.step = Step::Look;
            }
            // The reply itself counts local readers. The first note is sent at the first tick, because the reply may be
            // about to be cancelled for lack of readers.
            if self.local.is_none() && self.age % NOTE == 1 {
                self.replies.shared.note_reader(self.id, &self.env);
            }
            if self.silence >= KEEP_ALIVE && !self.framing.keep_alive().is_empty() {
                self.silence = 0;
                return Some(Ok(Bytes::from_static(self.framing.keep_alive())));
            }
        }
        None
    }

    /// Returns `true` if the client must resume the reply on another connection.
    fn is_interrupted(&self) -> bool {
        let is_over = |time| TICK * self.age >= time || self.running.is_draining();
        let local = self.local.as_ref();
        self.replies.limits.reconnect.is_some_and(is_over)
            && !matches!(self.step, Step::First(_) | Step::End)
            && local.is_none_or(Reader::is_resumable)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.poll_step(cx) {
            Poll::Pending if self.is_shut_down(cx) => {
                self.lose();
                self.poll_step(cx)
            }
            polled => polled,
        }
    }

    /// Returns `true` if this server shuts down and another server runs the reply. A reply that runs here fails by
    /// itself at a shutdown, and the tail sends its failure.
    fn is_shut_down(&self, cx: &Context<'_>) -> bool {
        let waits = matches!(self.step, Step::Read(..) | Step::Wait);
        waits && self.local.is_none() && self.running.poll_stopped(cx).is_ready()
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match &mut self.step {
                Step::Look => match self.local.as_mut().map(|it| it.poll(self.next, cx)) {
                    Some(Poll::Ready(Found::Events(events, next))) => {
                        return Poll::Ready(Some(self.take(events, next)));
                    }
                    Some(Poll::Ready(Found::End(ReplyEnd::Lost))) => self.lose(),
                    Some(Poll::Ready(Found::End(_))) => self.step = Step::End,
                    Some(Poll::Pending) => return Poll::Pending,
                    Some(Poll::Ready(Found::Dropped)) | None => {
                        self.step = Step::Read(self.read(self.next), false);
                    }
                },
                Step::Read(read, waited) => match read.as_mut().poll(cx) {
                    Poll::Ready(result) => {
                        let waited = *waited;
                        if let Some(events) = self.answered(result, waited) {
                            return Poll::Ready(Some(events));
                        }
                    }
                    Poll::Pending => {
                        *waited = true;
                        return Poll::Pending;
                    }
                },
                Step::Wait => return Poll::Pending,
                Step::First(read) => match read.as_mut().poll(cx) {
                    Poll::Ready(page) => {
                        let failure = self.failure(page);
                        if !failure.is_empty() {
                            return Poll::Ready(Some(failure));
                        }
                    }
                    Poll::Pending => return Poll::Pending,
                },
                Step::End => return Poll::Ready(None),
            }
        }
    }
}

impl Stream for Tail {
    type Item = Frame;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        let tail = &mut *self;
        if tail.replies.limits.reconnect.is_some() {
            // Polled here too, because a reply that always has events never reaches the ticks below.
            if let Some(frame) = tail.poll_ticks(cx) {
                return Poll::Ready(Some(frame));
            }
        }
        if let Poll::Ready(frame) = tail.poll(cx) {
            return Poll::Ready(frame.map(Ok));
        }
        let waits = matches!(tail.step, Step::Wait);
        match tail.poll_ticks(cx) {
            Some(frame) => Poll::Ready(Some(frame)),
            // A tick may have ended the wait.
            None if waits => tail.poll(cx).map(|frame| frame.map(Ok)),
            None => Poll::Pending,
        }
    }
}
