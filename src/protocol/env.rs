//! Time, randomness, a timer, and the observers of turns.

#[cfg(feature = "tokio")]
use std::cell::Cell;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock};
#[cfg(feature = "tokio")]
use std::task::Context;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use super::Turn;

/// A stream that yields in regular intervals.
pub type Ticks = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// The source of time, randomness and timers.
///
/// All methods have defaults: the clock and the randomness of the system and, with the feature `tokio`, the timer of
/// the tokio runtime if there is one. Without a timer a stream sends no keep-alive, and uploads have no deadline.
pub trait Environment: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Fills `bytes` with random bytes, good enough for ids but not for secrets.
    fn random(&self, bytes: &mut [u8]) {
        // Every `RandomState` has its own keys, which derive from the random source of the system.
        for chunk in bytes.chunks_mut(8) {
            let word = RandomState::new().build_hasher().finish().to_ne_bytes();
            chunk
                .iter_mut()
                .zip(word)
                .for_each(|(byte, random)| *byte = random);
        }
    }

    /// Returns a stream that yields every `period`, first after one `period`. `None` if there is no timer. The stream
    /// is polled again after `Pending` only when it has woken its task.
    ///
    /// With the feature `tokio` the default is the timer of the runtime. `#[tokio::main]` enables the timer; a runtime
    /// that is built by hand needs `enable_time`.
    ///
    /// # Runtimes without a timer
    ///
    /// tokio reports a missing timer only by a panic, which is caught: the message is printed on standard error, the
    /// thread never asks for a timer again, and its streams send no keep-alive. With `panic = "abort"` the program ends
    /// instead. So call `enable_time`, or return `None`:
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use copilot_wire::Router;
    /// use copilot_wire::protocol::{Env, Environment, Ticks};
    ///
    /// struct NoTimer;
    ///
    /// impl Environment for NoTimer {
    ///     fn ticks(&self, _: Duration) -> Option<Ticks> {
    ///         None
    ///     }
    /// }
    ///
    /// let router = Router::new().env(Env::new(NoTimer));
    /// # let _ = router;
    /// ```
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        #[cfg(feature = "tokio")]
        return tokio_ticks(period);
        #[cfg(not(feature = "tokio"))]
        {
            let _ = period;
            None
        }
    }
}

#[cfg(feature = "tokio")]
fn tokio_ticks(period: Duration) -> Option<Ticks> {
    use tokio::time::{Instant, MissedTickBehavior, interval_at};

    thread_local! {
        static HAS_TIMER: Cell<bool> = const { Cell::new(true) };
    }

    /// The shortest and the longest period that tokio supports.
    const PERIODS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(1 << 30));

    let period = period.clamp(PERIODS.0, PERIODS.1);
    // Outside a runtime the constructor of the timer panics.
    tokio::runtime::Handle::try_current().ok()?;
    if !HAS_TIMER.get() {
        return None;
    }
    // The runtime may have no timer, which tokio reports by a panic. Ask only once per thread.
    let interval = catch_unwind(|| interval_at(Instant::now() + period, period));
    HAS_TIMER.set(interval.is_ok());
    let mut interval = interval.ok()?;
    // Missed ticks are not made up for: a tick means that the stream was silent, not that time has passed.
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    Some(Box::pin(IntervalTicks(interval)))
}

#[cfg(feature = "tokio")]
struct IntervalTicks(tokio::time::Interval);

#[cfg(feature = "tokio")]
impl Stream for IntervalTicks {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.0.poll_tick(cx).map(|_| Some(()))
    }
}

/// The environment of a router or a body, and the observers of its turns. Clones share the environment.
#[derive(Clone)]
#[must_use]
pub struct Env {
    environment: Arc<dyn Environment>,
    observers: Option<Arc<Observers>>,
}

/// A linked list of observers: the one that was added last, then the others.
struct Observers {
    last: Box<dyn Fn(&Turn<'_>) + Send + Sync>,
    others: Option<Arc<Self>>,
}

struct Std;

impl Environment for Std {}

impl Env {
    /// Wraps an environment.
    pub fn new(environment: impl Environment + 'static) -> Self {
        Self {
            environment: Arc::new(environment),
            observers: None,
        }
    }

    /// Adds an observer, which is called once for every turn, when the turn is over. An observer should return quickly,
    /// because it runs on the task that ends the turn. A panic of an observer is caught.
    ///
    /// Without observers, a failed turn is reported as one line on standard error. With the feature `tracing` every
    /// turn is an event of `tracing` instead, with and without observers.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use copilot_wire::protocol::Env;
    ///
    /// let failures = Arc::new(AtomicU64::new(0));
    /// let counter = Arc::clone(&failures);
    /// let env = Env::default().observe(move |turn| {
    ///     if turn.outcome.is_fault() {
    ///         counter.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// });
    /// # let _ = (env, failures);
    /// ```
    pub fn observe(mut self, observer: impl Fn(&Turn<'_>) + Send + Sync + 'static) -> Self {
        self.observers = Some(Arc::new(Observers {
            last: Box::new(observer),
            others: self.observers.take(),
        }));
        self
    }

    /// Sets the observers to those of `other`, unless this environment has observers.
    pub(crate) fn with_observers_of(mut self, other: &Self) -> Self {
        if self.observers.is_none() {
            self.observers.clone_from(&other.observers);
        }
        self
    }

    /// Returns `true` if successful turns are reported too.
    pub(crate) fn is_observed(&self) -> bool {
        cfg!(feature = "tracing") || self.observers.is_some()
    }

    /// Calls the observers. A panic of an observer is caught, because this function may run while another panic
    /// unwinds, when a second panic would abort the process.
    pub(crate) fn report(&self, turn: &Turn<'_>) {
        let mut observers = self.observers.as_deref();
        if !self.is_observed() && turn.outcome.is_fault() {
            // Standard error may be closed; there is no other place to report that.
            let _ = writeln!(io::stderr(), "copilot-wire: {turn}");
        }
        while let Some(Observers { last, others }) = observers {
            let _ = catch_unwind(AssertUnwindSafe(|| last(turn)));
            observers = others.as_deref();
        }
    }

    /// Returns the output of `work`, or `None` if it takes longer than `time`. Without a timer there is no limit.
    pub(crate) async fn within<T>(
        &self,
        time: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        let mut ticks = None;
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            // The timer is created at the first `Pending`: work with a store in memory completes at once.
            match ticks.get_or_insert_with(|| self.ticks(time)) {
                Some(ticks) => ticks.as_mut().poll_next(cx).map(|_| None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Returns the minutes since the Unix epoch.
    pub(crate) fn minute(&self) -> u64 {
        self.unix_time() / 60
    }

    /// Returns the seconds since the Unix epoch.
    pub fn unix_time(&self) -> u64 {
        self.environment
            .now()
            .duration_since(UNIX_EPOCH)
            // A clock before 1970 is not set: 0 is as good as any other time.
            .map_or(0, |since| since.as_secs())
    }

    /// Returns a new random id: the prefix, an underscore and the 32 hexadecimal digits of a UUID.
    pub fn new_id(&self, prefix: &str) -> String {
        self.hex_id([prefix, "_"])
    }

    /// Returns the 32 hexadecimal digits of a new UUID, after a prefix.
    pub(crate) fn hex_id(&self, prefix: [&str; 2]) -> String {
        let mut digits = [0; 32];
        let id = self.random_id().to_be_bytes();
        for (pair, byte) in digits.chunks_exact_mut(2).zip(id) {
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| match digit {
                0..=9 => b'0' + digit,
                _ => b'a' - 10 + digit,
            }));
        }
        // With space for the hyphens of a UUID.
        let mut id = String::with_capacity(prefix.map(str::len).iter().sum::<usize>() + 36);
        id.extend(prefix);
        id.push_str(std::str::from_utf8(&digits).unwrap_or_default());
        id
    }

    /// Returns a new random UUID (version 4) in lower case.
    pub fn uuid(&self) -> String {
        let mut uuid = self.hex_id([""; 2]);
        // The ends of the first four groups, with the hyphens before them.
        for at in [8, 13, 18, 23] {
            uuid.insert(at, '-');
        }
        uuid
    }

    /// Returns the bits of a new random UUID (version 4).
    fn random_id(&self) -> u128 {
        let mut bytes = [0; 16];
        self.environment.random(&mut bytes);
        let random = u128::from_be_bytes(bytes);
        // RFC 9562, section 5.4: four bits of version, two bits of variant, and 122 random bits.
        let version = (random & !(0xf << 76)) | (4 << 76);
        (version & !(0b11 << 62)) | (0b10 << 62)
    }
}

impl Default for Env {
    fn default() -> Self {
        static STD: LazyLock<Env> = LazyLock::new(|| Env::new(Std));
        STD.clone()
    }
}

impl std::ops::Deref for Env {
    type Target = dyn Environment;

    fn deref(&self) -> &Self::Target {
        &*self.environment
    }
}

opaque_debug!(Env);

/// Formats a time in seconds since 1970 as in RFC 3339: `2026-11-23T00:00:00Z`.
pub fn date_time(unix_time: u64) -> String {
    // The last second of the year 9999: later years have more than four digits.
    let seconds = unix_time.min(253_402_300_799);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since the first of March of the year 0, in the calendar of 400-year cycles.
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month < 10 {
        true => (cycle * 400 + year, month + 3),
        false => (cycle * 400 + year + 1, month - 9),
    };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
