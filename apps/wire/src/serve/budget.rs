//! The budget of tokens that each user has for a day.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{Outcome, Refusal, Turn, User};
use copilot_wire::router::RouteKind;
use http::StatusCode;
use http::request::Parts;

/// A day of UTC in seconds.
const DAY: u64 = 24 * 3600;

/// The bytes of a stream that count as a token where its server does not tell the usage.
const BYTES: u64 = 4;

/// The tokens that users have spent today, in memory. It stays when the settings are read again.
#[derive(Default)]
pub(super) struct Budget(Mutex<Spent>);

#[derive(Default)]
struct Spent {
    /// The number of the day since 1970.
    day: u64,
    tokens: HashMap<String, u64>,
    /// The number of requests that were refused.
    refused: u64,
}

impl Budget {
    /// Counts the tokens of a turn. Servers tell them in the last event: who leaves before it is charged by the length of
    /// what was sent, as is a turn of a server that tells nothing.
    pub(super) fn add(&self, turn: &Turn<'_>) {
        let sent = turn.first_output.map_or(0, |_| turn.bytes / BYTES);
        let told = turn
            .usage
            .map(|it| it.input_tokens.saturating_add(it.output_tokens));
        let tokens = match turn.outcome {
            Outcome::Refused(_) => return,
            Outcome::Answered => told.unwrap_or(sent),
            _ => told.unwrap_or_default().max(sent),
        };
        if let Some(user) = turn.user {
            let mut spent = self.today().0;
            let sum = spent.tokens.entry(user.to_owned()).or_default();
            *sum = sum.saturating_add(tokens);
        }
    }

    /// Refuses a turn of a user who has spent `limit` tokens today. A turn that has begun goes on.
    pub(super) fn check(&self, parts: &Parts, limit: u64) -> Result<(), Refusal> {
        let user = parts.extensions.get::<User>();
        if parts.extensions.get() != Some(&RouteKind::Turn) {
            return Ok(());
        }
        let (mut spent, rest) = self.today();
        let tokens = user.and_then(|user| spent.tokens.get(&*user.id));
        if tokens.copied().unwrap_or_default() < limit {
            return Ok(());
        }
        spent.refused += 1;
        let hours = rest.as_secs().div_ceil(3600);
        let message =
            format!("the budget of {limit} tokens for today is spent: {hours} hours remain");
        Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message).code("insufficient_quota"))
    }

    /// Returns what was spent today, and the rest of the day.
    fn today(&self) -> (MutexGuard<'_, Spent>, Duration) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.day != now / DAY {
            spent.day = now / DAY;
            spent.tokens.clear();
        }
        (spent, Duration::from_secs(DAY - now % DAY))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (spent, _) = self.today();
        writeln!(f, "# TYPE agent_budget_refusals_total counter")?;
        writeln!(f, "agent_budget_refusals_total {}", spent.refused)?;
        writeln!(f, "# TYPE agent_budget_tokens_today gauge")?;
        writeln!(
            f,
            "agent_budget_tokens_today {}",
            spent.tokens.values().sum::<u64>()
        )
    }
}
