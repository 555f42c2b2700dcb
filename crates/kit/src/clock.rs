//! Virtual time, which advances only while every task waits for it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use copilot_wire::protocol::{Environment, Ticks};

/// A virtual clock for tests: sleeps take no real time, and every run has the same times.
///
/// The clock starts at zero. [`Harness`](super::Harness) advances it to the end of the next [`sleep`](Self::sleep)
/// when nothing else wakes the agent; the clock never advances by itself. As an [`Environment`], it provides this
/// time, keep-alive ticks, and ids that are the same in every run.
///
/// The clock stops after ten years: a longer sleep, such as one of [`Duration::MAX`], never ends.
///
/// Clones share one clock.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    waiting: BTreeMap<Key, Waiter>,
    keys: u64,
    ids: u64,
}

/// The end of a wait, and a number that distinguishes waits with the same end.
type Key = (Duration, u64);

struct Waiter {
    kind: Kind,
    waker: Option<Waker>,
}

#[derive(PartialEq)]
enum Kind {
    Sleep,
    /// A keep-alive tick: the clock does not advance because of it.
    Tick,
}

/// The start, since the Unix epoch: 1 January 2026.
const START: Duration = Duration::from_secs(1_767_225_600);

/// The last time of a clock: ten years. Programs use thirty years for "never", and the clock would tick all that time.
const END: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

impl Clock {
    /// Creates a clock at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Waits until `duration` has passed on this clock.
    ///
    /// # Cancel safety
    ///
    /// A dropped sleep no longer advances the clock.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + use<> {
        Sleep {
            key: self.wait(Kind::Sleep, duration),
            clock: self.clone(),
        }
    }

    /// Advances the clock by `duration` and wakes the tasks that are due.
    pub fn advance(&self, duration: Duration) {
        let to = self.elapsed().saturating_add(duration).min(END);
        while self.until(to) {}
        let mut state = self.state();
        // A woken task may have advanced the clock further.
        state.now = state.now.max(to);
    }

    /// Advances the clock to the next tick or the end of a sleep, if there is a sleep. Returns `true` if there was
    /// one.
    pub(super) fn skip(&self) -> bool {
        let state = self.state();
        let mut waiting = state.waiting.iter();
        let sleep = waiting.find(|(_, waiter)| waiter.kind == Kind::Sleep);
        let time = sleep.map(|(&(time, _), _)| time);
        drop(state);
        time.is_some_and(|time| self.until(time))
    }

    /// Advances to the first awaited time up to `to`, and wakes its tasks. Returns `false` if there is none.
    fn until(&self, to: Duration) -> bool {
        let mut state = self.state();
        let first = state.waiting.keys().next().copied();
        let Some((time, _)) = first.filter(|&(time, _)| time <= to) else {
            return false;
        };
        state.now = state.now.max(time);
        // Key numbers never reach `u64::MAX`, so the split removes all waits that end at `time`: tasks that are due
        // together are woken before the clock advances.
        let later = state.waiting.split_off(&(time, u64::MAX));
        let due = mem::replace(&mut state.waiting, later);
        // A waker may call this clock, so the lock is released first.
        drop(state);
        let wakers = due.into_values().filter_map(|waiter| waiter.waker);
        wakers.for_each(Waker::wake);
        true
    }

    /// Registers a wait. `None` if the time is never reached.
    fn wait(&self, kind: Kind, wait: Duration) -> Option<Key> {
        let mut state = self.state();
        // A wait beyond the end stays pending for ever, as a real "never" does.
        let time = state.now.checked_add(wait).filter(|time| *time <= END)?;
        // The number distinguishes two waits with the same end, and orders them by their registration.
        state.keys += 1;
        let key = (time, state.keys);
        state.waiting.insert(key, Waiter { kind, waker: None });
        Some(key)
    }

    /// Polls a wait. A wait without a key never ends.
    fn poll(&self, key: Option<Key>, cx: &Context<'_>) -> Poll<()> {
        let Some(key) = key else {
            return Poll::Pending;
        };
        // The old waker is dropped after the lock is released: its drop may call this clock.
        let mut waker = Some(cx.waker().clone());
        let mut state = self.state();
        match state.waiting.get_mut(&key) {
            Some(waiter) => {
                mem::swap(&mut waiter.waker, &mut waker);
                Poll::Pending
            }
            // Due waits are removed when they are woken, so a missing key means that the wait is over.
            None => Poll::Ready(()),
        }
    }

    /// Removes the wait.
    fn leave(&self, key: Option<Key>) {
        let waiter = key.and_then(|key| self.state().waiting.remove(&key));
        // Dropped after the lock is released, as in `poll`.
        drop(waiter);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement, so a poisoned lock is usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Sleep {
    clock: Clock,
    key: Option<Key>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.clock.poll(self.key, cx)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.leave(self.key);
    }
}

struct Interval {
    tick: Sleep,
    period: Duration,
}

impl Stream for Interval {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        ready!(self.tick.clock.poll(self.tick.key, cx));
        // The next period starts now: ticks that were missed while nobody polled are skipped.
        self.tick.key = self.tick.clock.wait(Kind::Tick, self.period);
        Poll::Ready(Some(()))
    }
}

impl Environment for Clock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + START + self.elapsed()
    }

    fn random(&self, bytes: &mut [u8]) {
        let mut state = self.state();
        state.ids += 1;
        // A counter in place of randomness: ids differ within a run and are the same in every run,
        // so transcripts can be compared.
        bytes.fill(0);
        let count = state.ids.to_be_bytes();
        for (byte, count) in bytes.iter_mut().rev().zip(count.iter().rev()) {
            *byte = *count;
        }
    }

    fn ticks(&self, period: Duration) -> Option<Ticks> {
        let tick = Sleep {
            key: self.wait(Kind::Tick, period),
            clock: self.clone(),
        };
        Some(Box::pin(Interval { tick, period }))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.elapsed()).finish()
    }
}
