//! The settings of a router: everything but its routes.

use std::time::Duration;

use http::header::{HOST, ORIGIN};
use http::{Extensions, HeaderMap, HeaderValue, StatusCode};

use super::cors::Cors;
use super::guard::Guard;
use super::hosts::Hosts;
use super::intake::Limits;
use super::path::BasePath;
use super::refusals::busy;
use crate::agent::{Running, TurnLimits, Turns};
use crate::consent::Consent;
use crate::conversations::{Connections, Conversations};
use crate::protocol::{Env, Refusal};
#[cfg(feature = "resumable")]
use crate::replies::Replies;

/// The default time that the head of a response waits for the first output.
const FIRST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of a router, which endpoints know too.
#[derive(Clone, Default)]
pub(super) struct Settings {
    /// The turns that are stored for the lifetime of a connection.
    pub(super) connections: Connections,
    pub(super) cors: Cors,
    pub(super) hosts: Hosts,
    pub(super) base: BasePath,
    pub(super) guards: Vec<Guard>,
    pub(super) limits: Limits,
    pub(super) env: Env,
    pub(super) consent: Consent,
    pub(super) turns: Turns,
    pub(super) turn_limits: TurnLimits,
    /// The counts of tokens, with the same limits as turns.
    pub(super) counts: Turns,
    /// `None` for [`FIRST_OUTPUT_TIMEOUT`].
    pub(super) first_output_timeout: Option<Duration>,
    #[cfg(feature = "resumable")]
    pub(super) replies: Option<Replies>,
    pub(super) conversations: Option<Conversations>,
    /// The state that mounts share, by type.
    pub(super) shared: Extensions,
    /// The origins of the mounted front ends.
    pub(super) origins: Vec<HeaderValue>,
    /// The protocol and the path of each route that answers chat clients.
    #[cfg(feature = "playground")]
    pub(super) fronts: Vec<(&'static str, String)>,
}

impl Settings {
    /// Returns the time that the head of a response waits for the first output.
    pub(super) fn first_output_timeout(&self) -> Duration {
        self.first_output_timeout.unwrap_or(FIRST_OUTPUT_TIMEOUT)
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

    /// Adds a count of tokens. `None` at a limit.
    pub(super) fn enter_count(&self, extensions: &Extensions) -> Option<Running> {
        let (limits, user) = (&self.turn_limits, extensions.get());
        let entered = self.counts.enter_turn(limits, user, || self.env.now());
        entered.ok()
    }

    /// Refuses pages of origins that may not open a WebSocket.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if has_own_origin(headers) || self.cors.origin(headers, &self.origins).is_some() {
            return Ok(());
        }
        let message = "this origin is not allowed";
        Err(Refusal::new(StatusCode::FORBIDDEN, message))
    }
}

/// Returns `true` if a request comes from a page of this server, or from no page.
pub(super) fn has_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let host = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"));
    let own = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|(_, host)| own.is_some_and(|own| own.eq_ignore_ascii_case(host)))
}
