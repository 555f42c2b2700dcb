//! Time that moves only while everybody waits for it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use crate::protocol::{Environment, Ticks};

/// Virtual time for tests: an hour passes in no time, and the same run gives the same times.
///
/// It starts at zero. [`Stage`](super::Stage) moves it to the end of the next
/// [`sleep`](Self::sleep) when the agent waits for nothing else; it never moves by itself. As an
/// [`Environment`] it gives this time, keep-alive ticks in it, and ids that are the same in every
/// run.
///
/// Clones are the same clock.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    /// Who waits for which time. Ticks wait for the time to pass, and do not make it pass.
    sleeps: BTreeMap<Key, Option<Waker>>,
    ticks: BTreeMap<Key, Option<Waker>>,
    keys: u64,
    ids: u64,
}

/// A time, and a number that tells those who wait for it apart.
type Key = (Duration, u64);

/// 1 January 2026.
const START: Duration = Duration::from_secs(1_767_225_600);

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
        let mut state = self.state();
        let key = state.key(duration);
        state.sleeps.insert(key, None);
        drop(state);
        Sleep {
            clock: self.clone(),
            key,
        }
    }

    /// Moves the clock on.
    pub fn advance(&self, duration: Duration) {
        let to = self.elapsed().saturating_add(duration);
        while self.state().until(to) {}
        self.state().now = to;
    }

    /// Moves the clock to where the next sleep ends, by way of the ticks before. Whether it moved.
    pub(super) fn skip(&self) -> bool {
        let mut state = self.state();
        let next = state.sleeps.keys().next().map(|&(time, _)| time);
        next.is_some_and(|next| state.until(next))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whole at every moment, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn key(&mut self, wait: Duration) -> Key {
        self.keys += 1;
        (self.now.saturating_add(wait), self.keys)
    }

    /// Moves to the first time up to `to` that somebody waits for, and wakes who does.
    fn until(&mut self, to: Duration) -> bool {
        let first = |waiting: &BTreeMap<Key, Option<Waker>>| waiting.keys().next().copied();
        let next = [first(&self.sleeps), first(&self.ticks)]
            .into_iter()
            .flatten()
            .min();
        let Some((time, _)) = next.filter(|&(time, _)| time <= to) else {
            return false;
        };
        self.now = self.now.max(time);
        for waiting in [&mut self.sleeps, &mut self.ticks] {
            let later = waiting.split_off(&(time, u64::MAX));
            let due = std::mem::replace(waiting, later);
            due.into_values().flatten().for_each(Waker::wake);
        }
        true
    }
}

struct Sleep {
    clock: Clock,
    key: Key,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.state();
        match state.sleeps.get_mut(&self.key) {
            Some(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.state().sleeps.remove(&self.key);
    }
}

struct Interval {
    clock: Clock,
    period: Duration,
    key: Key,
}

impl Stream for Interval {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let this = &mut *self;
        let mut state = this.clock.state();
        if let Some(waker) = state.ticks.get_mut(&this.key) {
            *waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        this.key = state.key(this.period);
        state.ticks.insert(this.key, None);
        Poll::Ready(Some(()))
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        self.clock.state().ticks.remove(&self.key);
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
        let mut state = self.state();
        let key = state.key(period);
        state.ticks.insert(key, None);
        drop(state);
        Some(Box::pin(Interval {
            clock: self.clone(),
            period,
            key,
        }))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.elapsed()).finish()
    }
}
