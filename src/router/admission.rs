//! The admission of a request: guards, the body, and a permit for a turn.

use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::request::Parts;
use http::{Extensions, StatusCode};

use super::{Inner, Route, RouteKind};
use crate::agent::{Busy, Running};
use crate::protocol::Refusal;

impl Inner {
    /// Checks a request and reads its body. Copies the extensions that guards have added so far to `seen`, for the
    /// report of a refusal.
    pub(super) async fn admit<B, D, E>(
        &self,
        route: &Route,
        parts: &mut Parts,
        body: B,
        seen: &mut Extensions,
    ) -> Result<(Bytes, Running), Refusal>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let kind = route.endpoint.kind();
        // Where nobody reads the kind, the turn has no extensions to keep because of it.
        if self.env.is_observed() || !self.guards.is_empty() || !route.guards.is_empty() {
            parts.extensions.insert(kind);
        }
        // Guards, then the endpoint, then the body: nothing is read for a caller that is not authorized.
        for guard in self.guards.iter().chain(&route.guards) {
            self.note(parts, seen);
            let (nothing, ()) = http::Request::new(()).into_parts();
            *parts = guard.check(std::mem::replace(parts, nothing)).await?;
        }
        self.note(parts, seen);
        route.endpoint.admit(parts)?;
        let is_turn = kind == RouteKind::Turn && !route.endpoint.begins_turns_itself();
        if is_turn {
            let user = parts.extensions.get();
            let admitted = self
                .turns
                .admits(&self.turn_limits, user, || self.env.now());
            admitted.map_err(busy)?;
        }
        let body = match route.endpoint.has_body() {
            true => {
                let limits = self.limits.at_most(route.endpoint.body_limit());
                let body = limits.read(parts, body, &self.env).await?;
                if let Some(held) = limits.budget.weigh(&body)? {
                    parts.extensions.insert(held);
                }
                body
            }
            false => Bytes::new(),
        };
        // After the body, so that a stalled upload does not occupy a turn.
        let running = self.enter(is_turn, &parts.extensions)?;
        Ok((body, running))
    }

    /// Adds a request. Fails if the request is a turn that cannot begin now.
    pub(super) fn enter(&self, is_turn: bool, extensions: &Extensions) -> Result<Running, Refusal> {
        let entered = match is_turn {
            false => Ok(self.turns.enter()),
            true => {
                let user = extensions.get();
                self.turns
                    .enter_turn(&self.turn_limits, user, || self.env.now())
            }
        };
        entered.map_err(busy)
    }

    fn note(&self, parts: &Parts, seen: &mut Extensions) {
        // A guard that refuses a request drops its extensions, so they are copied before. Only observers read the copy.
        if self.env.is_observed() {
            seen.clone_from(&parts.extensions);
        }
    }
}

/// Returns the refusal of a turn that cannot begin. The client may repeat the request, at this or another server.
pub(super) fn busy(reason: Busy) -> Refusal {
    let (status, code, message, seconds) = match reason {
        Busy::Draining => (503, "overloaded", "the server is shutting down", 5),
        Busy::Full => (503, "overloaded", "too many turns at a time", 5),
        Busy::UserFull => (
            429,
            "rate_limited",
            "too many turns at a time for this user",
            5,
        ),
        Busy::Minute(rest) => (429, "rate_limited", "too many turns in a minute", rest),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    Refusal::new(status, message)
        .code(code)
        .retry_after(Duration::from_secs(seconds))
}
