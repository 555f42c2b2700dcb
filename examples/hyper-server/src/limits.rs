//! A limit of the turns that a user may begin in a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use copilot_wire::protocol::{Refusal, User};
use copilot_wire::router::RouteKind;
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

/// A limit of the turns that a user may begin in a minute. A guard of a [`Router`](copilot_wire::Router), behind the
/// one that adds the [`User`].
#[derive(Debug)]
pub struct PerMinute {
    limit: u32,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// The minute that is counted, since 1970.
    minute: u64,
    of_users: HashMap<Arc<str>, u32>,
}

impl PerMinute {
    /// Creates a limit.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        let counts = Mutex::default();
        Self { limit, counts }
    }

    /// Counts a request if it begins a turn.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with status 429 beyond the limit.
    pub fn check(&self, parts: Parts) -> Result<Parts, Refusal> {
        // Documents, stops and resumed replies are not turns.
        let is_turn = parts.extensions.get() == Some(&RouteKind::Turn);
        let Some(User { id: user, .. }) = parts.extensions.get().filter(|_| is_turn) else {
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
