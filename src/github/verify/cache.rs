use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use http::{HeaderValue, Uri, header::InvalidHeaderValue};

use super::{
    FetchKeys, KeyError, KeyErrorKind, KeyId, KeySet, KeySource,
    fetch::{Endpoint, Fetched, fetch},
    flight::{Flight, Wait},
};

/// A cache of keys that are fetched on demand.
///
/// | situation | action |
/// |---|---|
/// | the identifier is known, the keys are younger than [`max_age`](Self::max_age) | answered from memory |
/// | the identifier is known, the keys are older | one conditional fetch; meanwhile others are answered from memory |
/// | the identifier is unknown | one conditional fetch, on which all callers wait |
/// | a fetch was started less than [`min_interval`](Self::min_interval) ago | no fetch: answered from its outcome |
/// | a fetch failed, the identifier is known | answered from memory, until the keys are `max_age` + [`max_stale`](Self::max_stale) old |
/// | a fetch failed, the identifier is unknown | [`KeyError`], which is a 503 |
///
/// The endpoint gets at most one request per `min_interval`, for any number of requests,
/// identifiers and cancellations. The price: a key that is published after a fetch is unknown until
/// the interval is over.
///
/// A response with status 200 replaces the keys, 304 confirms them, and any other is a failure that
/// leaves them unchanged. Keys that are no longer listed are removed with the next fetch.
///
/// There is no task and no timer: the requests that wait for a fetch poll it. A fetch without a
/// timeout can therefore block those requests forever.
#[must_use]
pub struct CachedKeys<F> {
    fetch: Arc<F>,
    endpoint: Endpoint,
    limits: Limits,
    current_only: bool,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    state: Mutex<State>,
}

impl<F: FetchKeys + 'static> CachedKeys<F> {
    /// Creates a cache of GitHub's keys, from
    /// `https://api.github.com/meta/public_keys/copilot_api`, without a token.
    ///
    /// The maximum age is one hour, the stale period one day, and the minimum interval one minute,
    /// the endpoint's rate limit for addresses without a token (60 per hour).
    pub fn new(fetch: F) -> Self {
        // The clock starts at first use, so that a platform without a monotonic clock can set its
        // own before.
        let start = OnceLock::new();
        Self {
            fetch: Arc::new(fetch),
            endpoint: Endpoint::github(),
            limits: Limits {
                // The age matters for withdrawn keys only: an unknown identifier causes a fetch in
                // any case.
                max_age: Duration::from_secs(60 * 60),
                max_stale: Duration::from_secs(24 * 60 * 60),
                min_interval: Duration::from_secs(60),
            },
            current_only: false,
            clock: Box::new(move || start.get_or_init(Instant::now).elapsed()),
            state: Mutex::default(),
        }
    }

    /// Sets the URL of another endpoint: a local key server, or GitHub Enterprise.
    pub fn url(mut self, url: Uri) -> Self {
        self.endpoint.url = url;
        self
    }

    /// Sets a token for a higher rate limit. It is sent as `authorization: token …` and marked as
    /// sensitive.
    ///
    /// # Errors
    ///
    /// If the token has characters that are not valid in a header.
    pub fn token(mut self, token: &str) -> Result<Self, InvalidHeaderValue> {
        let mut value = HeaderValue::try_from(format!("token {token}"))?;
        value.set_sensitive(true);
        self.endpoint.authorization = Some(value);
        Ok(self)
    }

    /// Sets the `user-agent`, by default the name and version of this crate. GitHub refuses
    /// requests without one.
    pub fn user_agent(mut self, user_agent: HeaderValue) -> Self {
        self.endpoint.user_agent = user_agent;
        self
    }

    /// Sets the age at which keys are fetched again. A withdrawn key is accepted for at most this
    /// time while the endpoint is available.
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.limits.max_age = max_age;
        self
    }

    /// Sets the time after [`max_age`](Self::max_age) during which keys are still accepted while
    /// the endpoint fails.
    pub fn max_stale(mut self, max_stale: Duration) -> Self {
        self.limits.max_stale = max_stale;
        self
    }

    /// Sets the minimum time between the starts of two fetches.
    pub fn min_interval(mut self, min_interval: Duration) -> Self {
        self.limits.min_interval = min_interval;
        self
    }

    /// Accepts only keys that are marked as current. Requests signed just before a rotation are
    /// then refused, which is why this is off by default.
    pub fn current_only(mut self) -> Self {
        self.current_only = true;
        self
    }

    /// Sets the clock: the time since any fixed moment, never decreasing.
    #[doc(hidden)]
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Decides on the action for one request, under the lock and without waiting.
    fn plan(&self, wanted: &KeyId) -> Plan {
        let now = (self.clock)();
        // Dropped without the lock, because dropping a fetch runs foreign code.
        let abandoned = self.lock().abandoned(now, &self.limits);
        drop(abandoned);
        let mut state = self.lock();
        if let Some(keys) = state.known(wanted, now, self.limits.max_age) {
            return Plan::Answer(Ok(keys));
        }
        if let Some(under_way) = &state.flight {
            // A fetch is in progress elsewhere, so a known key is returned without waiting.
            let known = state.known(wanted, now, self.limits.bound());
            return match known.filter(|_| under_way.flight.has_waiters()) {
                Some(keys) => Plan::Answer(Ok(keys)),
                None => Plan::Wait(under_way.flight.wait()),
            };
        }
        // The rate limit: the start of a fetch counts, also of one that failed or was dropped.
        if state
            .attempted
            .is_some_and(|then| now.saturating_sub(then) < self.limits.min_interval)
        {
            return Plan::Answer(state.answer(wanted, now, &self.limits));
        }
        let request = self.endpoint.request(
            state
                .cached
                .as_ref()
                .and_then(|cached| cached.etag.as_ref()),
        );
        // Nothing runs yet: the future is first polled by a waiter, after this lock is released.
        let flight = Flight::new(fetch(Arc::clone(&self.fetch), request, self.current_only));
        let wait = flight.wait();
        state.attempted = Some(now);
        state.flight = Some(UnderWay { flight, begun: now });
        Plan::Wait(wait)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No foreign code runs under the lock, and the state is valid after every statement, so a
        // poisoned lock is harmless.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<F: FetchKeys + 'static> KeySource for CachedKeys<F> {
    /// Returns the keys, after a fetch if one is due.
    ///
    /// # Cancel safety
    ///
    /// A fetch is shared: if the future that polls it is dropped, another waiter continues to poll
    /// it. Without waiters it pauses until the next call, and is dropped once `min_interval` is
    /// over.
    async fn keys(&self, wanted: &KeyId) -> Result<KeySet, KeyError> {
        match self.plan(wanted) {
            Plan::Answer(answer) => answer,
            Plan::Wait(mut wait) => {
                let outcome = (&mut wait).await;
                let now = (self.clock)();
                let mut state = self.lock();
                // All waiters get here; the first one records, the others find the fetch gone.
                state.record(&wait.flight(), outcome);
                state.answer(wanted, now, &self.limits)
            }
        }
    }
}

impl<F> fmt::Debug for CachedKeys<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedKeys")
            .field("max_age", &self.limits.max_age)
            .field("max_stale", &self.limits.max_stale)
            .field("min_interval", &self.limits.min_interval)
            .field("current_only", &self.current_only)
            .finish_non_exhaustive()
    }
}

type Outcome = Result<Fetched, KeyError>;

enum Plan {
    Answer(Result<KeySet, KeyError>),
    Wait(Wait<Outcome>),
}

struct Limits {
    max_age: Duration,
    max_stale: Duration,
    min_interval: Duration,
}

impl Limits {
    /// Returns the age at which keys are no longer accepted in any case.
    fn bound(&self) -> Duration {
        self.max_age.saturating_add(self.max_stale)
    }
}

#[derive(Default)]
struct State {
    cached: Option<Cached>,
    /// The error of the last fetch, if it failed.
    failure: Option<KeyError>,
    /// The start of the last fetch.
    attempted: Option<Duration>,
    flight: Option<UnderWay>,
}

struct Cached {
    keys: KeySet,
    etag: Option<HeaderValue>,
    /// The start of the fetch that returned or confirmed the keys.
    confirmed: Duration,
}

struct UnderWay {
    flight: Arc<Flight<Outcome>>,
    begun: Duration,
}

impl State {
    /// Returns the keys if `wanted` is among them and they are not older than `age`.
    fn known(&self, wanted: &KeyId, now: Duration, age: Duration) -> Option<KeySet> {
        let cached = self.cached.as_ref()?;
        let young = now.saturating_sub(cached.confirmed) < age;
        (young && cached.keys.get(wanted).is_some()).then(|| cached.keys.clone())
    }

    /// Returns the result without a fetch: the outcome of the last one.
    fn answer(&self, wanted: &KeyId, now: Duration, limits: &Limits) -> Result<KeySet, KeyError> {
        match (&self.failure, &self.cached) {
            (None, Some(cached)) => Ok(cached.keys.clone()),
            (None, None) => Err(KeyError::new(KeyErrorKind::Transport)),
            // Keys that are stale, but not beyond the bound, are better than refusing everybody
            // while GitHub's endpoint is down.
            (Some(failure), _) => self
                .known(wanted, now, limits.bound())
                .ok_or_else(|| failure.clone()),
        }
    }

    /// Removes a fetch that is old and has no waiters.
    ///
    /// The caller must drop it after releasing the lock, because dropping it runs foreign code.
    fn abandoned(&mut self, now: Duration, limits: &Limits) -> Option<UnderWay> {
        self.flight.take_if(|under_way| {
            let old = now.saturating_sub(under_way.begun) >= limits.min_interval;
            old && !under_way.flight.has_waiters()
        })
    }

    /// Records the outcome of a fetch, once. A fetch that panicked has no outcome.
    fn record(&mut self, flight: &Arc<Flight<Outcome>>, outcome: Option<Outcome>) {
        let same = |under_way: &mut UnderWay| Arc::ptr_eq(&under_way.flight, flight);
        let Some(under_way) = self.flight.take_if(same) else {
            return;
        };
        match outcome.unwrap_or_else(|| Err(KeyError::new(KeyErrorKind::Transport))) {
            Ok(fetched) => {
                self.failure = None;
                match (fetched, &mut self.cached) {
                    (Fetched::New { keys, etag }, cached) => {
                        *cached = Some(Cached {
                            keys,
                            etag,
                            // The start of the fetch counts, not its end, because the response may be that old.
                            confirmed: under_way.begun,
                        });
                    }
                    (Fetched::Same, Some(cached)) => cached.confirmed = under_way.begun,
                    // Not reached: an entity tag is sent only with cached keys, and these are never
                    // removed.
                    (Fetched::Same, None) => {}
                }
            }
            Err(failure) => self.failure = Some(failure),
        }
    }
}
