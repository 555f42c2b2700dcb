//! A future shared by several waiters.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError},
    task::{Context, Poll, Wake, Waker},
};

/// A shared future that any of its waiters polls, so that it continues if one of them is dropped.
///
/// No runtime is needed: the waker of the future wakes all waiters, and the first one polls it for
/// all.
pub(super) struct Flight<T> {
    /// The future; `None` once it is complete. The lock is poisoned if it panicked.
    future: Mutex<Option<Pin<Box<dyn Future<Output = T> + Send>>>>,
    outcome: OnceLock<T>,
    waiters: Arc<Waiters>,
}

impl<T: Clone> Flight<T> {
    pub(super) fn new(future: impl Future<Output = T> + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            future: Mutex::new(Some(Box::pin(future))),
            outcome: OnceLock::new(),
            waiters: Arc::default(),
        })
    }

    /// Waits for the outcome; `None` if the future panicked.
    pub(super) fn wait(self: &Arc<Self>) -> Wait<T> {
        Wait {
            id: self.waiters.join(),
            flight: Arc::clone(self),
        }
    }

    pub(super) fn has_waiters(&self) -> bool {
        !self.waiters.lock().wakers.is_empty()
    }
}

pub(super) struct Wait<T> {
    flight: Arc<Flight<T>>,
    id: u64,
}

impl<T> Wait<T> {
    pub(super) fn flight(&self) -> Arc<Flight<T>> {
        Arc::clone(&self.flight)
    }
}

impl<T: Clone> Future for Wait<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let flight = &self.flight;
        // Registration must precede the check of the outcome. The waiter that completes the future
        // wakes all others afterwards, so a waiter that is registered may safely wait while another
        // one polls, but only if the future was not complete before.
        flight.waiters.register(self.id, cx.waker());
        if let Some(outcome) = flight.outcome.get() {
            return Poll::Ready(Some(outcome.clone()));
        }
        let mut slot = match flight.future.try_lock() {
            Ok(slot) => slot,
            // Another waiter polls. It wakes this one when the future is complete, and a wake-up of
            // the future reaches all waiters.
            Err(TryLockError::WouldBlock) => return Poll::Pending,
            // A future that panicked must not be polled again.
            Err(TryLockError::Poisoned(_)) => return Poll::Ready(None),
        };
        let Some(future) = slot.as_mut() else {
            // Completed between the check above and the lock.
            return Poll::Ready(flight.outcome.get().cloned());
        };
        // Before the poll: a wake-up that comes during it sets this again.
        flight.waiters.lock().woken = false;
        let waker = Waker::from(Arc::clone(&flight.waiters));
        let Poll::Ready(outcome) = future.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return Poll::Pending;
        };
        // Set while the slot is locked, so that whoever finds the slot empty finds the outcome.
        let outcome = flight.outcome.get_or_init(|| outcome).clone();
        let done = slot.take();
        drop(slot);
        flight.waiters.wake_by_ref();
        // Last: dropping the future runs foreign code, which must not delay the other waiters.
        drop(done);
        Poll::Ready(Some(outcome))
    }
}

impl<T> Drop for Wait<T> {
    /// Wakes another waiter: a wake-up that no waiter has handled may have been meant for this one,
    /// and a waiter whose poll panicked has woken nobody.
    fn drop(&mut self) {
        let flight = &self.flight;
        let woken = flight.waiters.leave(self.id);
        if flight.outcome.get().is_none() && (woken || flight.future.is_poisoned()) {
            flight.waiters.wake_by_ref();
        }
    }
}

#[derive(Default)]
struct Waiters(Mutex<List>);

#[derive(Default)]
struct List {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
    /// Set if there was a wake-up since the last poll of the future.
    woken: bool,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, List> {
        // The lock is never held while foreign code runs, and the list is valid after every
        // statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self) -> u64 {
        let mut list = self.lock();
        let id = list.next;
        list.next += 1;
        // Counted from now on, although it is polled later: a fetch without waiters may be dropped.
        list.wakers.insert(id, Waker::noop().clone());
        id
    }

    fn register(&self, id: u64, waker: &Waker) {
        // Cloning and dropping a waker is foreign code, so both are done without the lock.
        let waker = waker.clone();
        let old = self.lock().wakers.insert(id, waker);
        drop(old);
    }

    /// Removes a waiter; returns `true` if there was a wake-up since the last poll.
    fn leave(&self, id: u64) -> bool {
        let mut list = self.lock();
        let (old, woken) = (list.wakers.remove(&id), list.woken);
        drop(list);
        drop(old);
        woken
    }
}

impl Wake for Waiters {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut list = self.lock();
        list.woken = true;
        // All, because this cannot know which of them is still polled. The first one to run polls
        // the future, the others wait on.
        let wakers: Vec<Waker> = list.wakers.values().cloned().collect();
        drop(list);
        wakers.into_iter().for_each(Waker::wake);
    }
}
