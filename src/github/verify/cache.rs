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

/// Keys that are fetched when they are needed, and kept.
///
/// | situation | what happens |
/// |---|---|
/// | the identifier is known, the keys are younger than [`max_age`](Self::max_age) | answered from memory |
/// | the identifier is known, the keys are older | one conditional fetch; meanwhile others are answered from memory |
/// | the identifier is unknown | one conditional fetch, which all who ask wait for |
/// | a fetch was begun less than [`min_interval`](Self::min_interval) ago | no fetch: answered from its outcome |
/// | a fetch failed, the identifier is known | answered from memory, until the keys are `max_age` + [`max_stale`](Self::max_stale) old |
/// | a fetch failed, the identifier is unknown | [`KeyError`], which is a 503 |
///
/// However many requests come, with whatever identifiers, and however many of them are cancelled,
/// the endpoint sees at most one request in each `min_interval`. The price: a key that is published
/// within that time after a fetch is unknown until it is over.
///
/// Answers: 200 replaces the keys, 304 confirms them, anything else is a failure and leaves them as
/// they are. Keys that are no longer listed are gone with the next fetch.
///
/// There is no task and no timer: fetches are driven by the requests that wait for them. A fetch
/// without a timeout of its own can therefore keep those requests waiting for ever.
pub struct CachedKeys<F> {
    fetch: Arc<F>,
    endpoint: Endpoint,
    limits: Limits,
    current_only: bool,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    state: Mutex<State>,
}

impl<F: FetchKeys + 'static> CachedKeys<F> {
    /// Keys of GitHub: from `https://api.github.com/meta/public_keys/copilot_api`, without a token.
    ///
    /// An hour of age, a day of grace, and at most one fetch a minute, which is what the endpoint
    /// grants to an address that sends no token (60 an hour).
    pub fn new(fetch: F) -> Self {
        // Begun at first use: a platform without a monotonic clock can then bring its own.
        let start = OnceLock::new();
        Self {
            fetch: Arc::new(fetch),
            endpoint: Endpoint::github(),
            limits: Limits {
                max_age: Duration::from_secs(60 * 60),
                max_stale: Duration::from_secs(24 * 60 * 60),
                min_interval: Duration::from_secs(60),
            },
            current_only: false,
            clock: Box::new(move || start.get_or_init(Instant::now).elapsed()),
            state: Mutex::default(),
        }
    }

    /// Another endpoint: a local key server, or GitHub Enterprise.
    #[must_use]
    pub fn url(mut self, url: Uri) -> Self {
        self.endpoint.url = url;
        self
    }

    /// A token for a higher rate limit, sent as `authorization: token …` and marked as sensitive.
    ///
    /// # Errors
    ///
    /// When the token has characters that no header can carry.
    pub fn token(mut self, token: &str) -> Result<Self, InvalidHeaderValue> {
        let mut value = HeaderValue::try_from(format!("token {token}"))?;
        value.set_sensitive(true);
        self.endpoint.authorization = Some(value);
        Ok(self)
    }

    /// Another `user-agent` than the name and version of this crate. GitHub refuses requests
    /// without one.
    #[must_use]
    pub fn user_agent(mut self, user_agent: HeaderValue) -> Self {
        self.endpoint.user_agent = user_agent;
        self
    }

    /// How old keys may be before they are fetched again. So long can a key be in use after it was
    /// withdrawn.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.limits.max_age = max_age;
        self
    }

    /// How much older than [`max_age`](Self::max_age) keys may become while the endpoint fails.
    #[must_use]
    pub fn max_stale(mut self, max_stale: Duration) -> Self {
        self.limits.max_stale = max_stale;
        self
    }

    /// The least time between the beginnings of two fetches.
    #[must_use]
    pub fn min_interval(mut self, min_interval: Duration) -> Self {
        self.limits.min_interval = min_interval;
        self
    }

    /// Only accepts keys that are marked as current. Requests signed just before a rotation are
    /// then refused, which is why this is off by default.
    #[must_use]
    pub fn current_only(mut self) -> Self {
        self.current_only = true;
        self
    }

    /// Another clock: the time since any fixed moment, never going back.
    #[doc(hidden)]
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// What to do for one request, decided under the lock and without waiting.
    fn plan(&self, wanted: &KeyId) -> Plan {
        let now = (self.clock)();
        let abandoned = self.lock().abandoned(now, &self.limits);
        drop(abandoned);
        let mut state = self.lock();
        if let Some(keys) = state.known(wanted, now, self.limits.max_age) {
            return Plan::Answer(Ok(keys));
        }
        if let Some(under_way) = &state.flight {
            // Somebody else is at it, so a key that is known need not wait.
            let known = state.known(wanted, now, self.limits.bound());
            return match known.filter(|_| under_way.flight.has_waiters()) {
                Some(keys) => Plan::Answer(Ok(keys)),
                None => Plan::Wait(under_way.flight.wait()),
            };
        }
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
        let flight = Flight::new(fetch(Arc::clone(&self.fetch), request, self.current_only));
        let wait = flight.wait();
        state.attempted = Some(now);
        state.flight = Some(UnderWay { flight, begun: now });
        Plan::Wait(wait)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No foreign code changes the state, and it is valid after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<F: FetchKeys + 'static> KeySource for CachedKeys<F> {
    /// # Cancel safety
    ///
    /// A fetch is shared: when the future that drives it is dropped, another that waits goes on
    /// with it. When nobody waits, it stands still until somebody asks, and is given up once
    /// `min_interval` is over.
    async fn keys(&self, wanted: &KeyId) -> Result<KeySet, KeyError> {
        match self.plan(wanted) {
            Plan::Answer(answer) => answer,
            Plan::Wait(mut wait) => {
                let outcome = (&mut wait).await;
                let now = (self.clock)();
                let mut state = self.lock();
                state.settle(&wait.flight(), outcome);
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
    /// The age at which keys are of no use whatever happens.
    fn bound(&self) -> Duration {
        self.max_age.saturating_add(self.max_stale)
    }
}

#[derive(Default)]
struct State {
    cached: Option<Cached>,
    /// How the last fetch failed, if it did.
    failure: Option<KeyError>,
    /// When the last fetch began.
    attempted: Option<Duration>,
    flight: Option<UnderWay>,
}

struct Cached {
    keys: KeySet,
    etag: Option<HeaderValue>,
    /// When the fetch began that brought or confirmed them.
    confirmed: Duration,
}

struct UnderWay {
    flight: Arc<Flight<Outcome>>,
    begun: Duration,
}

impl State {
    /// The keys, if `wanted` is among them and they are not older than `age`.
    fn known(&self, wanted: &KeyId, now: Duration, age: Duration) -> Option<KeySet> {
        let cached = self.cached.as_ref()?;
        let young = now.saturating_sub(cached.confirmed) < age;
        (young && cached.keys.get(wanted).is_some()).then(|| cached.keys.clone())
    }

    /// The answer when nothing is fetched any more: what the last fetch left behind.
    fn answer(&self, wanted: &KeyId, now: Duration, limits: &Limits) -> Result<KeySet, KeyError> {
        match (&self.failure, &self.cached) {
            (None, Some(cached)) => Ok(cached.keys.clone()),
            (None, None) => Err(KeyError::new(KeyErrorKind::Transport)),
            (Some(failure), _) => self
                .known(wanted, now, limits.bound())
                .ok_or_else(|| failure.clone()),
        }
    }

    /// Takes out a fetch that is old and that nobody waits for.
    ///
    /// It is to be dropped without the lock, since that runs foreign code.
    fn abandoned(&mut self, now: Duration, limits: &Limits) -> Option<UnderWay> {
        self.flight.take_if(|under_way| {
            let old = now.saturating_sub(under_way.begun) >= limits.min_interval;
            old && !under_way.flight.has_waiters()
        })
    }

    /// Writes down how a fetch ended, once. One that panicked has no outcome.
    fn settle(&mut self, flight: &Arc<Flight<Outcome>>, outcome: Option<Outcome>) {
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
                            confirmed: under_way.begun,
                        });
                    }
                    (Fetched::Same, Some(cached)) => cached.confirmed = under_way.begun,
                    (Fetched::Same, None) => {}
                }
            }
            Err(failure) => self.failure = Some(failure),
        }
    }
}
