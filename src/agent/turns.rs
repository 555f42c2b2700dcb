//! The requests that a router is answering, so that a shutdown can wait for them and end them.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use super::channel::{Frames, Outcome};
use super::wakers::{Key, Wakers};
use crate::protocol::{Ticks, User};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The requests that a router is answering. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<State>>);

/// The reason why a new turn cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// The server shuts down.
    Draining,
    /// The maximum number of turns is running.
    Full,
    /// The maximum number of turns of this user is running.
    UserFull,
    /// The user has begun the maximum number of turns of this minute, which has this many seconds left.
    Minute(u64),
}

/// The limits of turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLimits {
    /// The maximum number of running turns.
    pub(crate) turns: usize,
    /// The maximum number of running turns of a user.
    pub(crate) of_user: usize,
    /// The maximum number of turns that a user may begin in a minute.
    pub(crate) of_minute: u32,
}

impl Default for TurnLimits {
    /// Returns no limits.
    fn default() -> Self {
        Self {
            turns: usize::MAX,
            of_user: usize::MAX,
            of_minute: u32::MAX,
        }
    }
}

#[derive(Default)]
struct State {
    running: BTreeMap<u64, Stop>,
    /// The number of requests that are turns.
    turns: usize,
    /// The number of these turns of each user.
    of_users: HashMap<User, usize>,
    /// The minute that is counted, since 1970, and the number of turns that each user has begun in it.
    minute: (u64, HashMap<User, u32>),
    /// The key of the newest entry.
    last: u64,
    /// `true` if no new turns may begin.
    draining: bool,
    /// `true` once the running turns were ended.
    stopped: bool,
    /// The wakers of tasks that wait until there are no requests.
    waiting: Wakers,
}

/// The means to end the answer to a request.
#[derive(Default)]
struct Stop {
    /// The channel of an agent's turn.
    frames: Option<Weak<dyn Frames>>,
    /// The reader of a reply whose agent another server runs.
    #[cfg(feature = "resumable")]
    reader: Option<Waker>,
    /// The task of a connection that is between two turns.
    idle: Option<Waker>,
}

/// A request that is being answered. It ends when the last clone is dropped: the response body has a clone, and so has
/// every task that works for the request.
pub(crate) struct Running {
    entry: Arc<Request>,
    /// `true` if this clone has a permit: the request counts as one running turn as long as any clone has.
    is_turn: bool,
}

struct Request {
    turns: Turns,
    key: u64,
    /// The number of clones with a permit.
    permits: AtomicUsize,
    /// The user whose turns are counted.
    user: Option<User>,
}

impl Clone for Running {
    fn clone(&self) -> Self {
        let (entry, is_turn) = (Arc::clone(&self.entry), self.is_turn);
        // Relaxed, as in `Arc`: the last permit is not released while this clone has one.
        entry.permits.fetch_add(is_turn.into(), Ordering::Relaxed);
        Self { entry, is_turn }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_turn();
    }
}

impl State {
    fn admits(
        &mut self,
        limits: &TurnLimits,
        user: Option<&User>,
        now: impl FnOnce() -> SystemTime,
    ) -> Result<(), Busy> {
        if self.draining {
            return Err(Busy::Draining);
        }
        if self.turns >= limits.turns {
            return Err(Busy::Full);
        }
        let Some(user) = user else {
            return Ok(());
        };
        let running = self.of_users.get(user).copied().unwrap_or_default();
        if running >= limits.of_user {
            return Err(Busy::UserFull);
        }
        if limits.of_minute == u32::MAX {
            return Ok(());
        }
        let seconds = now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |it| it.as_secs());
        if self.minute.0 != seconds / 60 {
            self.minute = (seconds / 60, HashMap::new());
        }
        match self.minute.1.get(user) {
            Some(begun) if *begun >= limits.of_minute => Err(Busy::Minute(60 - seconds % 60)),
            _ => Ok(()),
        }
    }
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code under it panics in the middle of a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that a new turn of a user could begin.
    pub(crate) fn admits(
        &self,
        limits: &TurnLimits,
        user: Option<&User>,
        now: impl FnOnce() -> SystemTime,
    ) -> Result<(), Busy> {
        self.lock().admits(limits, user, now)
    }

    /// Adds a request that is not a turn.
    pub(crate) fn enter(&self) -> Running {
        self.add(self.lock(), false, None)
    }

    /// Adds a turn of a user.
    pub(crate) fn enter_turn(
        &self,
        limits: &TurnLimits,
        user: Option<&User>,
        now: impl FnOnce() -> SystemTime,
    ) -> Result<Running, Busy> {
        let mut state = self.lock();
        state.admits(limits, user, now)?;
        state.turns += 1;
        let user = user.filter(|_| limits.of_user < usize::MAX || limits.of_minute < u32::MAX);
        if let Some(user) = user {
            *state.of_users.entry(user.clone()).or_default() += 1;
            if limits.of_minute < u32::MAX {
                *state.minute.1.entry(user.clone()).or_default() += 1;
            }
        }
        let user = user.cloned();
        Ok(self.add(state, true, user))
    }

    fn add(&self, mut state: MutexGuard<'_, State>, is_turn: bool, user: Option<User>) -> Running {
        state.last += 1;
        let key = state.last;
        state.running.insert(key, Stop::default());
        drop(state);
        let entry = Request {
            turns: self.clone(),
            key,
            permits: AtomicUsize::new(is_turn.into()),
            user,
        };
        let entry = Arc::new(entry);
        Running { entry, is_turn }
    }

    /// Rejects new turns, and waits for the running requests. When `patience` is ready, ends the remaining turns, and
    /// waits until their bodies are dropped or `limit` yields its first tick.
    pub(crate) async fn drain(
        &self,
        patience: impl Future<Output = ()>,
        limit: impl FnOnce() -> Option<Ticks>,
    ) {
        // Before the number of turns is first read: from here on it can only fall.
        self.close();
        let mut waiter = Waiter(self, None);
        let mut patience = pin!(patience);
        let is_empty = poll_fn(|cx| match waiter.poll_empty(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => patience.as_mut().poll(cx).map(|()| false),
        });
        if is_empty.await {
            return;
        }
        self.stop();
        let mut limit = limit();
        poll_fn(|cx| match (waiter.poll_empty(cx), &mut limit) {
            (Poll::Pending, Some(ticks)) => ticks.as_mut().poll_next(cx).map(drop),
            (Poll::Ready(()), _) | (_, None) => Poll::Ready(()),
        })
        .await;
    }

    /// Rejects new turns from now on.
    fn close(&self) {
        let mut state = self.lock();
        state.draining = true;
        let stops = state.running.values_mut();
        let idle: Vec<_> = stops.filter_map(|stop| stop.idle.take()).collect();
        drop(state);
        idle.into_iter().for_each(Waker::wake);
    }

    /// Ends all turns.
    fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let stops: Vec<_> = state.running.values_mut().map(std::mem::take).collect();
        drop(state);
        // Without the lock: wakers are foreign code, and so are the destructors that the end of a turn runs.
        stops.into_iter().for_each(Stop::stop);
    }
}

impl Stop {
    fn stop(self) {
        if let Some(frames) = self.frames.and_then(|frames| frames.upgrade()) {
            frames.stop(Outcome::ShutDown);
        }
        #[cfg(feature = "resumable")]
        if let Some(reader) = self.reader {
            reader.wake();
        }
    }
}

impl Running {
    /// Registers the turn that a body sends. If all turns were ended, this turn ends at once.
    pub(super) fn attach(&self, frames: &Arc<dyn Frames>) {
        let mut state = self.entry.turns.lock();
        if state.stopped {
            drop(state);
            frames.stop(Outcome::ShutDown);
        } else if let Some(stop) = state.running.get_mut(&self.entry.key) {
            stop.frames = Some(Arc::downgrade(frames));
        }
    }

    /// Releases this clone's permit: the remaining work for the request is not part of a turn.
    pub(crate) fn end_turn(&mut self) {
        let had_permit = std::mem::take(&mut self.is_turn);
        // Only one clone finds that it has the last permit, and the lock orders what follows.
        if !had_permit || self.entry.permits.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        let mut state = self.entry.turns.lock();
        state.turns -= 1;
        if let Some(user) = &self.entry.user {
            if let Some(turns) = state.of_users.get_mut(user) {
                *turns -= 1;
                if *turns == 0 {
                    state.of_users.remove(user);
                }
            }
        }
    }

    /// Returns `true` once new turns are rejected.
    #[cfg(feature = "resumable")]
    pub(crate) fn is_draining(&self) -> bool {
        self.entry.turns.lock().draining
    }

    /// Waits until new turns are rejected. Only the task that polled last is woken.
    pub(crate) fn poll_draining(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.entry.turns.lock();
        if state.draining {
            return Poll::Ready(());
        }
        if let Some(stop) = state.running.get_mut(&self.entry.key) {
            match &mut stop.idle {
                Some(idle) => idle.clone_from(cx.waker()),
                idle => *idle = Some(cx.waker().clone()),
            }
        }
        Poll::Pending
    }

    /// Waits until the running turns are ended. Only the task that polled last is woken.
    #[cfg(feature = "resumable")]
    pub(crate) fn poll_stopped(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.entry.turns.lock();
        if state.stopped {
            return Poll::Ready(());
        }
        if let Some(stop) = state.running.get_mut(&self.entry.key) {
            match &mut stop.reader {
                Some(reader) => reader.clone_from(cx.waker()),
                reader => *reader = Some(cx.waker().clone()),
            }
        }
        Poll::Pending
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        let stop = state.running.remove(&self.key);
        let waiting = state.running.is_empty().then(|| state.waiting.take());
        drop(state);
        drop(stop);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}

/// A future that waits until there are no requests.
struct Waiter<'a>(&'a Turns, Key);

impl Waiter<'_> {
    fn poll_empty(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.running.is_empty() {
            return Poll::Ready(());
        }
        state.waiting.wait(&mut self.1, cx);
        Poll::Pending
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting.remove(self.1);
    }
}

opaque_debug!(Turns);

opaque_debug!(Running);
