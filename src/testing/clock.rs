//! Time that moves only while everybody waits for it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use crate::protocol::{Environment, Ticks};

/// Virtual time for tests: an hour passes in no time, and the same run gives the same times.
///
/// It starts at zero. [`Stage`](super::Stage) moves it to the end of the next
/// [`sleep`](Self::sleep) when nothing else wakes the agent; it never moves by itself. As an
/// [`Environment`] it gives this time, keep-alive ticks in it, and ids that are the same in every
/// run.
///
/// It stops after ten years: what ends later, such as a sleep of [`Duration::MAX`], never ends.
///
/// Clones are the same clock.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    waiting: BTreeMap<Key, Waiter>,
    keys: u64,
    ids: u64,
}

/// A time, and a number that tells those who wait for it apart.
type Key = (Duration, u64);

struct Waiter {
    kind: Kind,
    waker: Option<Waker>,
}

#[derive(PartialEq)]
enum Kind {
    Sleep,
    /// Waits for the time to pass, and does not make it pass.
    Tick,
}

/// 1 January 2026.
const START: Duration = Duration::from_secs(1_767_225_600);

/// Ten years. Programs that mean for ever say thirty, and keep-alive ticks on the way there.
const END: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

impl Clock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How much time has passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Waits until `duration` has passed on this clock.
    ///
    /// # Cancel safety
    ///
    /// A sleep that is dropped is no longer waited for.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + use<> {
        Sleep {
            key: self.wait(Kind::Sleep, duration),
            clock: self.clone(),
        }
    }

    /// Moves the clock on.
    pub fn advance(&self, duration: Duration) {
        let to = self.elapsed().saturating_add(duration).min(END);
        while self.until(to) {}
        let mut state = self.state();
        // Who was woken on the way may have moved it further.
        state.now = state.now.max(to);
    }

    /// Moves the clock to where the next sleep ends, by way of the ticks before. Whether it moved.
    pub(super) fn skip(&self) -> bool {
        let state = self.state();
        let mut waiting = state.waiting.iter();
        let sleep = waiting.find(|(_, waiter)| waiter.kind == Kind::Sleep);
        let time = sleep.map(|(&(time, _), _)| time);
        drop(state);
        time.is_some_and(|time| self.until(time))
    }

    /// Moves to the first time up to `to` that somebody waits for, and wakes who does.
    fn until(&self, to: Duration) -> bool {
        let mut state = self.state();
        let first = state.waiting.keys().next().copied();
        let Some((time, _)) = first.filter(|&(time, _)| time <= to) else {
            return false;
        };
        state.now = state.now.max(time);
        let later = state.waiting.split_off(&(time, u64::MAX));
        let due = mem::replace(&mut state.waiting, later);
        // What is woken may come back to this clock.
        drop(state);
        let wakers = due.into_values().filter_map(|waiter| waiter.waker);
        wakers.for_each(Waker::wake);
        true
    }

    /// Begins to wait. `None` where the time never comes.
    fn wait(&self, kind: Kind, wait: Duration) -> Option<Key> {
        let mut state = self.state();
        let time = state.now.checked_add(wait).filter(|time| *time <= END)?;
        state.keys += 1;
        let key = (time, state.keys);
        state.waiting.insert(key, Waiter { kind, waker: None });
        Some(key)
    }

    /// Waits on.
    fn poll(&self, key: Option<Key>, cx: &Context<'_>) -> Poll<()> {
        let Some(key) = key else {
            return Poll::Pending;
        };
        // The waker that is replaced goes after the lock: its drop may come back to this clock.
        let mut waker = Some(cx.waker().clone());
        let mut state = self.state();
        match state.waiting.get_mut(&key) {
            Some(waiter) => {
                mem::swap(&mut waiter.waker, &mut waker);
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// Waits no longer.
    fn leave(&self, key: Option<Key>) {
        let waiter = key.and_then(|key| self.state().waiting.remove(&key));
        // After the lock, as in `poll`.
        drop(waiter);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whole at every moment, so a panic elsewhere leaves nothing half done.
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
    clock: Clock,
    period: Duration,
    key: Option<Key>,
}

impl Stream for Interval {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        ready!(self.clock.poll(self.key, cx));
        self.key = self.clock.wait(Kind::Tick, self.period);
        Poll::Ready(Some(()))
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        self.clock.leave(self.key);
    }
}

impl Environment for Clock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + START + self.elapsed()
    }

    fn random(&self, bytes: &mut [u8]) {
        let mut state = self.state();
        state.ids += 1;
        bytes.fill(0);
        let count = state.ids.to_be_bytes();
        bytes
            .iter_mut()
            .rev()
            .zip(count.iter().rev())
            .for_each(|(byte, count)| *byte = *count);
    }

    fn ticks(&self, period: Duration) -> Option<Ticks> {
        Some(Box::pin(Interval {
            key: self.wait(Kind::Tick, period),
            clock: self.clone(),
            period,
        }))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.elapsed()).finish()
    }
}
