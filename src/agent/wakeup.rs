//! The wakers with which a body polls its agent and its timer.

use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Wake, Waker};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The task that reads a body, and flags that record why it was woken.
///
/// A reader polls a body again after every frame. The body then polls the agent and the timer only if they were woken.
/// This works because each of them has stored its waker with the source of its next event, and that waker never
/// changes.
pub(super) struct Task {
    agent: AtomicBool,
    timer: AtomicBool,
    channel: AtomicBool,
    /// `true` once the turn was stopped: the agent is not polled any more.
    stopped: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// The wakers for the agent and the timer of a body. Each waker wakes the reader, and records which of the two must be
/// polled.
pub(super) struct Wakeup {
    task: Arc<Task>,
    /// The waker of the last poll by the reader.
    known: Option<Waker>,
    agent: Waker,
    timer: Option<Waker>,
}

struct Timer(Arc<Task>);

impl Wakeup {
    /// Creates the wakers of an agent and a timer that have not been polled yet.
    pub(super) fn new() -> Self {
        let task = Arc::new(Task {
            // Initially set: a future must be polled once before it can store a waker.
            agent: AtomicBool::new(true),
            timer: AtomicBool::new(true),
            channel: AtomicBool::new(true),
            stopped: AtomicBool::new(false),
            waker: Mutex::new(None),
        });
        Self {
            known: None,
            agent: Waker::from(Arc::clone(&task)),
            timer: None,
            task,
        }
    }

    /// Returns the task that reads the body.
    pub(super) fn task(&self) -> Arc<Task> {
        Arc::clone(&self.task)
    }

    /// Sets the task that reads the body.
    ///
    /// Call it first in every poll, so that wakes from then on use the current waker of the reader.
    pub(super) fn set_reader(&mut self, reader: &Context<'_>) {
        let is_known = |known: &Waker| known.will_wake(reader.waker());
        if !self.known.as_ref().is_some_and(is_known) {
            self.known = Some(reader.waker().clone());
            let before = mem::replace(&mut *self.task.lock(), self.known.clone());
            // Dropped without the lock, because a waker is foreign code.
            drop(before);
        }
    }

    /// Drops the waker of the reader, so that a longer-lived waker of the body does not keep the reader's task alive.
    pub(super) fn forget_reader(&self) {
        let before = self.task.lock().take();
        drop(before);
    }

    /// Returns the agent's waker if the agent was woken since the last call.
    pub(super) fn agent(&self) -> Option<&Waker> {
        // Cleared before the agent is polled, not after: a wake during the poll causes another poll.
        take(&self.task.agent).then_some(&self.agent)
    }

    /// Returns the timer's waker if the timer was woken since the last call.
    pub(super) fn timer(&mut self) -> Option<&Waker> {
        let create = || Waker::from(Arc::new(Timer(Arc::clone(&self.task))));
        take(&self.task.timer).then(|| &*self.timer.get_or_insert_with(create))
    }

    /// Returns `true` if the turn was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.task.is_stopped()
    }

    /// Returns `true` if the channel has reported a change since the last call.
    pub(super) fn channel(&self) -> bool {
        take(&self.task.channel)
    }

    /// Marks the timer as woken, so that the next poll of the body polls the timer too.
    pub(super) fn poll_timer_again(&self) {
        self.task.timer.store(true, Ordering::Release);
    }

    /// Marks the agent as woken if `waker` is the agent's waker, without waking the reader, because the reader polls
    /// again in any case. Returns `false` for any other waker.
    pub(super) fn absorb(&self, waker: &Waker) -> bool {
        let is_ours = waker.will_wake(&self.agent);
        if is_ours {
            self.task.agent.store(true, Ordering::Release);
        }
        is_ours
    }
}

/// Clears a flag. Returns `true` if it was set.
fn take(flag: &AtomicBool) -> bool {
    // Most flags are not set at most polls, and a load is much cheaper than a swap. A flag that is set after this load
    // is seen by the next poll, because the thread that sets it then wakes the reader.
    flag.load(Ordering::Acquire) && flag.swap(false, Ordering::AcqRel)
}

impl Task {
    /// Records that the turn was stopped.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Returns `true` if the turn was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Records that the channel has something for the body. Returns `false` if that was already recorded.
    pub(super) fn report(&self) -> bool {
        !self.channel.swap(true, Ordering::AcqRel)
    }

    /// Returns `true` if there is a report that the body has not cleared yet.
    pub(super) fn is_reported(&self) -> bool {
        self.channel.load(Ordering::Acquire)
    }

    /// Wakes the reader.
    pub(super) fn wake_reader(&self) {
        // The waker is called without the lock, because it is foreign code.
        let waker = self.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The agent's waker.
impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.agent.store(true, Ordering::Release);
        self.wake_reader();
    }
}

impl Wake for Timer {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.timer.store(true, Ordering::Release);
        self.0.wake_reader();
    }
}

opaque_debug!(Wakeup);
