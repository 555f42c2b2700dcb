//! Calls to the store: their timeout, and the report of the store's health.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::store::StoreError;
use crate::protocol::Env;

/// The timeout of a call to the store. A store should have a shorter timeout of its own.
const ANSWER: Duration = Duration::from_secs(5);

/// The health of the store of replies, as one server sees it, and counters since its start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreHealth {
    /// `false` if the last call ended with [`StoreError::Unavailable`] or a timeout.
    pub reachable: bool,
    /// The time of the last change of `reachable`; `None` while the store has always been reachable.
    pub since: Option<SystemTime>,
    /// The text of the last error that counts as a failure. It remains when the store is reachable again.
    pub error: Option<String>,
    /// The number of calls that have ended.
    pub calls: u64,
    /// The number of calls that ended with [`StoreError::Unavailable`] or [`StoreError::Full`].
    pub failures: u64,
    /// The number of replies that run in this process, including those whose ends are not stored yet.
    pub running: usize,
    /// The number of replies that were not stored, or not completely.
    pub unstored: u64,
}

/// The state behind a [`StoreHealth`].
#[derive(Default)]
pub(super) struct Health {
    calls: AtomicU64,
    failures: AtomicU64,
    unstored: AtomicU64,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    away: bool,
    since: Option<SystemTime>,
    error: Option<String>,
}

impl Health {
    /// Waits for a call to the store, until its timeout if there is a timer, and counts it.
    ///
    /// # Cancel safety
    ///
    /// The same as for the call. A call that is dropped is not counted.
    pub(super) async fn call<T>(
        &self,
        env: &Env,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = env.within(ANSWER, call).await;
        let answer = answer.unwrap_or_else(|| Err(StoreError::Unavailable("no answer".into())));
        self.calls.fetch_add(1, Ordering::Relaxed);
        match &answer {
            Err(error @ StoreError::Unavailable(_)) => self.failed(env, error, true),
            Err(error @ StoreError::Full) => self.failed(env, error, false),
            _ => self.set_reachable(env),
        }
        answer
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, env: &Env, error: &StoreError, away: bool) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut last = self.last();
        last.error = Some(error.to_string());
        if away && !last.away {
            (last.away, last.since) = (true, Some(env.now()));
            drop(last);
            #[cfg(feature = "tracing")]
            tracing::error!(target: "copilot_wire", %error, "the store of replies is unreachable");
        }
    }

    fn set_reachable(&self, env: &Env) {
        let mut last = self.last();
        if last.away {
            (last.away, last.since) = (false, Some(env.now()));
            drop(last);
            #[cfg(feature = "tracing")]
            tracing::info!(target: "copilot_wire", "the store of replies is reachable again");
        }
    }

    /// Counts a reply that is not stored, or not completely.
    pub(super) fn add_unstored(&self) {
        self.unstored.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the report, with the number of replies that run.
    pub(super) fn report(&self, running: usize) -> StoreHealth {
        let last = self.last();
        StoreHealth {
            reachable: !last.away,
            since: last.since,
            error: last.error.clone(),
            calls: self.calls.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            running,
            unstored: self.unstored.load(Ordering::Relaxed),
        }
    }
}
