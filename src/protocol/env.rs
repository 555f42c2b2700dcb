//! What a reply needs from the world outside.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use super::Incident;

/// A stream that yields once every so often, for keep-alive.
pub type Ticks = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// Time, randomness, a timer, and somebody to tell of incidents.
///
/// Everything has a default that needs nothing but the standard library; that default has no timer,
/// so streams stay silent while the agent is.
pub trait Environment: Send + Sync {
    /// The time of day.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Fills `bytes` with random ones, good enough for ids. They are not secrets.
    fn random(&self, bytes: &mut [u8]) {
        // Every `RandomState` has keys of its own that go back to the system's random source.
        for chunk in bytes.chunks_mut(8) {
            let word = RandomState::new().build_hasher().finish().to_ne_bytes();
            chunk
                .iter_mut()
                .zip(word)
                .for_each(|(byte, random)| *byte = random);
        }
    }

    /// A stream that yields every `period`, or `None` without a timer.
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        let _ = period;
        None
    }

    /// Hears of what a stream could not tell its reader.
    fn incident(&self, incident: &Incident<'_>) {
        let _ = incident;
    }
}

/// The environment of a router or a body. Cloning it shares it.
#[derive(Clone)]
pub struct Env(Arc<dyn Environment>);

struct Std;

impl Environment for Std {}

impl Env {
    /// Tells the observer. It is foreign code: a panic of its own ends nothing else, and must not
    /// meet one that is on its way.
    pub(crate) fn tell(&self, incident: &Incident<'_>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.incident(incident)));
    }

    /// Wraps an environment.
    #[must_use]
    pub fn new(environment: impl Environment + 'static) -> Self {
        Self(Arc::new(environment))
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn unix_time(&self) -> u64 {
        self.0
            .now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())
    }

    /// A fresh random UUID (version 4) in lower case.
    #[must_use]
    pub fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.0.random(&mut bytes);
        let random = u128::from_be_bytes(bytes);
        let version = (random & !(0xf << 76)) | (4 << 76);
        let id = (version & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            id >> 96,
            (id >> 80) & 0xffff,
            (id >> 64) & 0xffff,
            (id >> 48) & 0xffff,
            id & 0xffff_ffff_ffff
        )
    }
}

impl Default for Env {
    fn default() -> Self {
        Self::new(Std)
    }
}

impl std::ops::Deref for Env {
    type Target = dyn Environment;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Env")
    }
}
