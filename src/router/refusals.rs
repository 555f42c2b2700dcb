//! Refusals of requests before an endpoint has them.

use std::time::Duration;

use http::{HeaderValue, Response, StatusCode};

use crate::agent::{Body, Busy};
use crate::protocol::Refusal;

/// Returns the response that refuses a request for which no endpoint is known.
pub(super) fn refuse(refusal: &Refusal) -> Response<Body> {
    let json = HeaderValue::from_static("application/json");
    refusal.to_response(json, refusal.to_json()).map(Body::full)
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
