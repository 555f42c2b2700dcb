//! Limits: requests of a user in a minute, and turns at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use copilot_wire::protocol::{Refusal, User};
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tokio::sync::Semaphore;

/// Limits how many requests a user may send in a minute.
pub(crate) struct PerMinute {
    limit: u32,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// The minute that is counted, since 1970.
    minute: u64,
    of_users: HashMap<Arc<str>, u32>,
}

impl PerMinute {
    pub(crate) fn new(limit: u32) -> Self {
        let counts = Mutex::default();
        Self { limit, counts }
    }

    pub(crate) fn check(&self, parts: Parts) -> Result<Parts, Refusal> {
        // Documents are not turns.
        let Some(User { id: user, .. }) = parts.extensions.get().filter(|_| parts.method == "POST")
        else {
            return Ok(parts);
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs());
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.minute != now / 60 {
            counts.minute = now / 60;
            counts.of_users.clear();
        }
        let count = counts.of_users.entry(Arc::clone(user)).or_default();
        *count = count.saturating_add(1);
        if *count <= self.limit {
            return Ok(parts);
        }
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        let refusal = refusal.code("rate_limited");
        Err(refusal.header(RETRY_AFTER, HeaderValue::from(60 - now % 60)))
    }
}

/// Limits how many turns there are at a time.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

impl Turns {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Semaphore::new(limit)))
    }

    /// Leaves a permit in the extensions, which are dropped when the turn is over.
    pub(crate) fn check(&self, mut parts: Parts) -> Result<Parts, Refusal> {
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many turns at a time")
                .code("overloaded")
                .header(RETRY_AFTER, HeaderValue::from_static("5"))
        })?;
        parts.extensions.insert(Arc::new(permit));
        Ok(parts)
    }
}
