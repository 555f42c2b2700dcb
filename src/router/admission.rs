//! The admission of a request: guards, the body, and a permit for a turn.

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::Extensions;
use http::request::Parts;

use super::RouteKind;
use super::refusals::busy;
use super::routes::Route;
use super::upload::Upload;
use super::version::Version;
use crate::agent::Running;
use crate::protocol::Refusal;

impl Version {
    /// Checks a request and reads its body. Copies the extensions that guards have added so far to `seen`, for the
    /// report of a refusal.
    pub(super) async fn admit<B, D, E>(
        &self,
        route: &Route,
        parts: &mut Parts,
        body: &mut Upload<'_, B>,
        seen: &mut Extensions,
    ) -> Result<(Bytes, Running), Refusal>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        let settings = &*self.settings;
        let kind = route.endpoint.kind();
        // Where nobody reads the kind, the turn has no extensions to keep because of it.
        if settings.env.is_observed() || !settings.guards.is_empty() || !route.guards.is_empty() {
            parts.extensions.insert(kind);
        }
        // Guards, then the endpoint, then the body: nothing is read for a caller that is not authorized.
        for guard in settings.guards.iter().chain(&route.guards) {
            self.note(parts, seen);
            let (nothing, ()) = http::Request::new(()).into_parts();
            *parts = guard.check(std::mem::replace(parts, nothing)).await?;
        }
        self.note(parts, seen);
        route.endpoint.admit(parts)?;
        let is_turn = kind == RouteKind::Turn && !route.endpoint.begins_turns_itself();
        if is_turn {
            let user = parts.extensions.get();
            let limits = &settings.turn_limits;
            let admitted = settings.turns.admits(limits, user, || settings.env.now());
            admitted.map_err(busy)?;
        }
        let body = match route.endpoint.has_body() {
            true => {
                let limits = settings.limits.at_most(route.endpoint.body_limit());
                let body = limits.read(parts, body, &settings.env).await?;
                if let Some(held) = limits.budget.weigh(&body)? {
                    parts.extensions.insert(held);
                }
                body
            }
            false => Bytes::new(),
        };
        // After the body, so that a stalled upload does not occupy a turn.
        let running = settings.enter(is_turn, &parts.extensions)?;
        Ok((body, running))
    }

    fn note(&self, parts: &Parts, seen: &mut Extensions) {
        // A guard that refuses a request drops its extensions, so they are copied before. Only observers read the copy.
        if self.settings.env.is_observed() {
            seen.clone_from(&parts.extensions);
        }
    }
}
