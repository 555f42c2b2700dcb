//! The order in which the upstreams of a model are asked.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use copilot_wire::protocol::AgentError;
use tokio::time::Instant;

/// The time for which an upstream that has failed is asked last.
const PAUSE: Duration = Duration::from_secs(30);

/// The upstreams of a model: the first that is healthy is asked, the others in their order if it does not accept the
/// request.
pub(super) struct Upstreams<T> {
    all: Vec<Upstream<T>>,
    /// The number of turns, by which the first one is chosen if there are weights.
    turns: AtomicU64,
}

struct Upstream<T> {
    upstream: T,
    /// The share of turns that begin with it; zero for a strict order.
    weight: u64,
    failures: AtomicU64,
    /// The time until which it is asked last.
    until: Mutex<Option<Instant>>,
}

impl<T> Upstreams<T> {
    pub(super) fn new(all: impl IntoIterator<Item = (T, Option<NonZeroU32>)>) -> Self {
        let all = all.into_iter().map(|(upstream, weight)| Upstream {
            upstream,
            weight: weight.map_or(0, |weight| weight.get().into()),
            failures: AtomicU64::new(0),
            until: Mutex::new(None),
        });
        Self {
            all: all.collect(),
            turns: AtomicU64::new(0),
        }
    }

    /// Returns the first upstream.
    pub(super) fn first(&self) -> Option<&T> {
        self.all.first().map(|it| &it.upstream)
    }

    /// Returns the upstreams in the order in which this turn asks them, with their numbers.
    pub(super) fn order(&self) -> impl Iterator<Item = (usize, &T)> {
        let sum: u64 = self.all.iter().map(|it| it.weight).sum();
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        let mut rest = turn.checked_rem(sum).unwrap_or_default();
        let first = self.all.iter().position(|it| {
            let is_it = rest < it.weight;
            rest = rest.saturating_sub(it.weight);
            is_it
        });
        let now = Instant::now();
        let mut order: Vec<_> = self.all.iter().enumerate().collect();
        order.sort_by_key(|(at, it)| (it.is_paused(now), Some(*at) != first));
        order.into_iter().map(|(at, it)| (at, &it.upstream))
    }

    /// Notes the failure of an upstream. Returns `true` if it is transient, so that the next one may be asked.
    pub(super) fn failed(&self, at: usize, error: &AgentError) -> bool {
        let is_transient = matches!(error.class(), "busy" | "failed" | "no_answer");
        if let (true, Some(it)) = (is_transient, self.all.get(at)) {
            it.failures.fetch_add(1, Ordering::Relaxed);
            let until = Instant::now() + error.delay().unwrap_or(PAUSE).min(PAUSE);
            *it.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
        is_transient
    }

    /// Returns the number of failures of each upstream, and `true` if it is not asked last because of one.
    pub(super) fn health(&self) -> impl Iterator<Item = (u64, bool)> {
        let now = Instant::now();
        let health =
            move |it: &Upstream<T>| (it.failures.load(Ordering::Relaxed), !it.is_paused(now));
        self.all.iter().map(health)
    }
}

impl<T> Upstream<T> {
    fn is_paused(&self, now: Instant) -> bool {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }
}
