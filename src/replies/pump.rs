//! The task that runs an agent independently of its readers, and appends its reply to the store.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream as _;

use super::Replies;
use super::local::{BATCH, Local};
use super::store::{ConversationKey, ReplyEnd, ReplyId, ReplyMeta, ReplyState, StoreError};
use crate::agent::{Body, Running};
use crate::protocol::{AgentError, Env, Ticks};

/// The period at which the clock is read, and at which failed calls to the store are repeated.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// The maximum time that the end of a reply waits for an unavailable store during a shutdown.
const DRAIN: Duration = Duration::from_secs(3);

/// The number of frames after which other tasks may run.
const BURST: usize = 16;

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(super) struct Pump {
    replies: Replies,
    id: ReplyId,
    local: Arc<Local>,
    env: Env,
    ticks: Option<Ticks>,
    /// The timer of the pause in which new events gather before the next append.
    pace: Option<Ticks>,
    /// The body; `None` after its last frame.
    body: Option<Body>,
    /// The end that the body has had, or will have.
    end: ReplyEnd,
    log: Log,
    job: Option<Job>,
    /// The call to the store for `job`; `None` while the next attempt waits for a tick.
    work: Option<Work<Result<Duration, StoreError>>>,
    /// The call that waits for a cancellation through the store.
    cancelled: Option<Work<()>>,
    /// The call that looks for readers on other servers.
    look: Option<Work<Result<ReplyState, StoreError>>>,
    /// The size in bytes of the reply, and of its stored part.
    size: usize,
    appended: usize,
    /// After storing has ended, the events before this number are still stored, and then the end is written.
    cut: u64,
    /// The number of ticks since the start, ticks without a reader, and ticks of waiting for the store at the end.
    age: u32,
    idle: u32,
    late: u32,
    /// The request that began the reply, so that a shutdown waits until the end is stored.
    running: Running,
}

/// The state of the log of the reply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Log {
    Open,
    /// The end is written.
    Closed,
    /// Storing has ended without an end in the log: the reply lasts as long as its local readers.
    Refused,
}

/// A call to the store. It is repeated until the store has responded.
#[derive(Clone)]
enum Job {
    /// `true` once an attempt has failed.
    Create(ReplyMeta, bool),
    Append(u64, Bytes, u64),
    Seal(ReplyEnd),
}

impl Pump {
    /// Creates the pump of a body. If `meta` is given, the pump first creates the log.
    pub(super) fn new(
        replies: Replies,
        id: ReplyId,
        local: Arc<Local>,
        body: Body,
        meta: Option<ReplyMeta>,
        env: &Env,
        running: Running,
    ) -> Self {
        let mut pump = Self {
            replies,
            id,
            local,
            env: env.clone(),
            ticks: env.ticks(TICK),
            pace: None,
            body: Some(body),
            end: ReplyEnd::Done,
            log: Log::Open,
            job: None,
            work: None,
            cancelled: None,
            look: None,
            size: 0,
            appended: 0,
            cut: 0,
            age: 0,
            idle: 0,
            late: 0,
            running,
        };
        match meta {
            Some(meta) => pump.begin(Job::Create(meta, false)),
            None => pump.created(),
        }
        pump
    }

    /// Starts a call to the store.
    fn begin(&mut self, job: Job) {
        let (shared, id, call) = (Arc::clone(&self.replies.shared), self.id, job.clone());
        let env = self.env.clone();
        self.job = Some(job);
        self.work = Some(Box::pin(async move {
            let store = &shared.store;
            let work = async {
                match call {
                    Job::Create(meta, _) => {
                        store.create(&id, &meta).await?;
                        Ok(Duration::ZERO)
                    }
                    Job::Append(first, events, next) => {
                        store.append(&id, first..next, events).await
                    }
                    Job::Seal(end) => {
                        store.seal(&id, end).await?;
                        Ok(Duration::ZERO)
                    }
                }
            };
            shared.ask(&env, work).await
        }));
    }

    /// Repeats a job that has failed.
    fn retry(&mut self, mut job: Job) {
        if let Job::Create(meta, _) = &mut job {
            // A later reply of the conversation must remain its latest one.
            let shared = &self.replies.shared;
            let is_latest = |of: &ConversationKey| shared.latest(of) == Some(self.id);
            meta.conversation = meta.conversation.filter(is_latest);
        }
        self.begin(job);
    }

    fn created(&mut self) {
        self.local.set_registered(true);
        if self.log != Log::Open {
            return;
        }
        if let Some(body) = &self.body {
            body.set_unstored(false);
        }
        let (store, id) = (Arc::clone(&self.replies.shared.store), self.id);
        self.cancelled = Some(Box::pin(async move { store.cancelled(&id).await }));
    }

    /// Stops the turn of the body, unless it has ended.
    fn stop(&mut self, end: ReplyEnd, error: Option<AgentError>) {
        if let Some(body) = &self.body {
            // The first reason counts: a cancelled reply remains cancelled during a shutdown.
            if self.end == ReplyEnd::Done {
                self.end = end;
                body.stop(error);
            }
        }
    }

    fn fail(&mut self, message: &str) {
        self.stop(ReplyEnd::Failed, Some(AgentError::new(message)));
    }

    /// Handles a tick of the clock.
    fn tick(&mut self) {
        let limits = &self.replies.limits;
        let (lifetime, abandoned) = (limits.lifetime, limits.abandoned);
        self.age = self.age.saturating_add(1);
        self.idle = match self.local.has_readers() {
            true => 0,
            false => self.idle.saturating_add(1),
        };
        if TICK * self.age >= lifetime {
            self.fail("The answer took too long.");
        }
        if TICK * self.idle >= abandoned && self.look.is_none() && self.body.is_some() {
            let (shared, id) = (Arc::clone(&self.replies.shared), self.id);
            let env = self.env.clone();
            self.look = Some(Box::pin(async move {
                shared.ask(&env, shared.store.state(&id)).await
            }));
        }
        if self.body.is_none() {
            self.late = self.late.saturating_add(1);
        }
        // The only place where a failed job is repeated: once per tick, so that an unavailable store is not called
        // without a pause.
        if self.work.is_none() {
            if let Some(job) = self.job.take() {
                self.retry(job);
            }
        }
    }

    fn poll_ticks(&mut self, cx: &mut Context<'_>) {
        while let Some(ticks) = &mut self.ticks {
            match ticks.as_mut().poll_next(cx) {
                Poll::Ready(Some(())) => self.tick(),
                Poll::Ready(None) => self.ticks = None,
                Poll::Pending => return,
            }
        }
    }

    /// Stops the body if it was cancelled, or if it has no reader.
    fn poll_orders(&mut self, cx: &mut Context<'_>) {
        if self.local.poll_cancelled(cx) {
            self.stop(ReplyEnd::Cancelled, None);
        }
        if let Some(cancelled) = &mut self.cancelled {
            if cancelled.as_mut().poll(cx).is_ready() {
                self.cancelled = None;
                self.stop(ReplyEnd::Cancelled, None);
            }
        }
        if let Some(look) = &mut self.look {
            if let Poll::Ready(state) = look.as_mut().poll(cx) {
                self.look = None;
                match state {
                    Ok(state) if state.attended => self.idle = 0,
                    // There may be readers on other servers: the next tick looks again.
                    Err(StoreError::Unavailable(_)) => {}
                    _ if self.local.has_readers() => self.idle = 0,
                    _ => self.stop(ReplyEnd::Cancelled, None),
                }
            }
        }
        if self.log == Log::Refused && !self.local.has_readers() {
            // The agent is dropped, as for an ordinary body whose client disconnects.
            self.body = None;
            self.running.end_turn();
            self.local.end(ReplyEnd::Lost);
        }
    }

    /// Polls the body for frames. Returns `true` if there may be more.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> bool {
        let limits = (self.replies.limits.bytes, self.replies.limits.events);
        for _ in 0..BURST {
            // While paced, a reader that takes frames wakes this task. A turn that was stopped does not wait for
            // readers.
            let is_paced = self.log == Log::Refused && self.end == ReplyEnd::Done;
            if is_paced && self.local.is_full() {
                return false;
            }
            let Some(body) = &mut self.body else {
                return false;
            };
            match Pin::new(&mut *body).poll_next(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.size += frame.len();
                    let events = self.local.push(frame);
                    if self.size > limits.0 || events > limits.1 {
                        self.exceeded(events);
                    }
                }
                // The body of an agent never fails, so an error counts as its end.
                Poll::Ready(None | Some(Err(_))) => {
                    if self.end == ReplyEnd::Done && !body.status().is_success() {
                        self.end = ReplyEnd::Failed;
                    }
                    self.body = None;
                    self.running.end_turn();
                    self.local.end(self.end);
                    return false;
                }
                Poll::Pending => return false,
            }
        }
        true
    }

    /// Handles a reply that exceeds its limits. `events` is the number of its events so far.
    fn exceeded(&mut self, events: u64) {
        if self.log != Log::Open || self.end != ReplyEnd::Done {
            return;
        }
        if self.local.has_readers() {
            self.cut = events;
            return self.refused();
        }
        // The last frame was pushed before, so the failure follows it.
        self.fail("The answer became too large.");
    }

    /// Appends new events to the store.
    pub(super) fn poll_store(&mut self, cx: &mut Context<'_>) {
        loop {
            if let Some(work) = &mut self.work {
                let Poll::Ready(result) = work.as_mut().poll(cx) else {
                    return;
                };
                self.work = None;
                self.answered(result);
            }
            let is_over = match self.log {
                Log::Open => false,
                Log::Closed => true,
                Log::Refused => self.cut == 0,
            };
            if self.work.is_some() {
                // `answered` has begun another call, which must be polled so that it can wake this task.
                continue;
            }
            if self.job.is_some() || is_over {
                // The job waits for a tick, or there is nothing to do.
                return;
            }
            let is_open = self.log == Log::Open;
            if is_open && self.gathers(cx) {
                return;
            }
            let is_stored = |unstored: &(u64, _, _)| is_open || unstored.0 < self.cut;
            match self.local.unstored().filter(is_stored) {
                Some((first, events, next)) => self.begin(Job::Append(first, events, next)),
                None if !is_open => self.give_up(),
                // Only once all events are stored, because nothing can be appended after the end.
                None if self.body.is_none() => self.begin(Job::Seal(self.end)),
                None => return,
            }
        }
    }

    /// Returns `true` while new events gather. Local readers already have them, and the end of the reply does not wait.
    fn gathers(&mut self, cx: &mut Context<'_>) -> bool {
        let waits = self.body.is_some() && self.size - self.appended < BATCH;
        let pace = self.pace.as_mut().filter(|_| waits);
        let gathers = pace.is_some_and(|pace| pace.as_mut().poll_next(cx).is_pending());
        if !gathers {
            self.pace = None;
        }
        gathers
    }

    /// Handles a result of the store.
    fn answered(&mut self, result: Result<Duration, StoreError>) {
        match (self.job.take(), result) {
            (Some(Job::Create(..)), Ok(_))
            // An earlier attempt succeeded although its response was lost.
            | (Some(Job::Create(_, true)), Err(StoreError::Exists)) => self.created(),
            (Some(Job::Append(_, events, next)), Ok(time)) => {
                self.local.stored(next);
                self.appended += events.len();
                if !time.is_zero() {
                    self.pace = self.env.ticks(time.min(TICK));
                }
            }
            (Some(job), Err(StoreError::Unavailable(_) | StoreError::Full))
                if self.ticks.is_some() =>
            {
                self.wait(job);
            }
            (Some(Job::Seal(_)), _) | (None, _) => {
                if self.log == Log::Open {
                    self.log = Log::Closed;
                }
            }
            // The log belongs to another reply, or another server has declared this one dead and sent the failure to
            // its readers.
            (Some(_), Err(StoreError::Exists | StoreError::Sealed(_))) => {
                self.cut = 0;
                self.refused();
            }
            (Some(_), Err(_)) => self.give_up(),
        }
    }

    /// Keeps a job until the next tick repeats it.
    fn wait(&mut self, job: Job) {
        self.job = Some(match job {
            Job::Create(meta, _) => {
                // So that the head of the response does not wait for the store.
                self.local.set_registered(false);
                if let Some(body) = &self.body {
                    body.set_unstored(true);
                }
                Job::Create(meta, true)
            }
            job => job,
        });
    }

    /// Ends the log, although it is not complete.
    fn give_up(&mut self) {
        self.cut = 0;
        // Otherwise readers on other servers would wait until the log expires, if it exists.
        self.begin(Job::Seal(ReplyEnd::Lost));
        self.refused();
    }

    /// Continues without the store.
    fn refused(&mut self) {
        if self.log == Log::Refused {
            return;
        }
        self.log = Log::Refused;
        if !self.local.is_stored() {
            self.local.set_registered(false);
        }
        self.local.pace();
        self.cancelled = None;
        self.replies.shared.health.add_unstored();
        if let Some(body) = &self.body {
            body.set_unstored(true);
        }
    }

    fn is_done(&self) -> bool {
        let patience = match self.running.is_draining() {
            true => DRAIN,
            false => self.replies.limits.keep,
        };
        let given_up = TICK * self.late > patience;
        let idle = self.job.is_none() && self.log != Log::Open;
        self.body.is_none() && (idle || (given_up && self.work.is_none()))
    }
}

impl Future for Pump {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let pump = &mut *self;
        // The order matters: a tick may begin a call, an order may end the body, and the body's frames may be stored,
        // all within one poll.
        pump.poll_ticks(cx);
        pump.poll_orders(cx);
        let more = pump.poll_body(cx);
        let can_be_cancelled = pump.cancelled.is_some();
        pump.poll_store(cx);
        if pump.cancelled.is_some() && !can_be_cancelled {
            // The new call must be polled once, so that it can wake this task.
            cx.waker().wake_by_ref();
        }
        if pump.is_done() {
            return Poll::Ready(());
        }
        if more {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        // The agent and the last append are dropped first, so that neither can add anything after the end.
        let is_whole = self.body.take().is_none();
        self.work = None;
        let is_open = self.log == Log::Open;
        if is_open {
            self.replies.shared.health.add_unstored();
        }
        if is_open || self.job.is_some() {
            // A panic, or the end of the runtime: without an end, readers on other servers would wait for the lease to
            // expire.
            let end = match is_open && is_whole && self.local.unstored().is_none() {
                true => self.end,
                false => ReplyEnd::Lost,
            };
            self.replies.shared.seal(self.id, end);
        }
        self.local.end(ReplyEnd::Lost);
        self.replies.shared.leave(&self.id);
    }
}
