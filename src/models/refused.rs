//! Error responses of models' servers.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use super::Upstream;
use super::relay::error_of;
use crate::protocol::{AgentError, ModelFault};

/// The maximum time before a request is repeated.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Returns the time to wait before a request to a model's server is repeated; `None` if it must not be repeated.
///
/// A request may be repeated after status 429, 503 and 529, with which the server has not begun to answer, unless
/// `x-should-retry` forbids it. The time is that of `retry-after-ms` or `retry-after`; if it is more than a minute, the
/// request is not repeated. Without these headers it is half a second, doubled with each attempt up to 8 seconds.
/// `attempt` is the number of requests that were sent before. The status precedes all output, so no output is repeated.
///
/// ```
/// use std::time::Duration;
///
/// use copilot_wire::models::retry_after;
/// use http::{HeaderMap, StatusCode};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(retry_after(StatusCode::OK, &headers, 0), None);
/// let busy = StatusCode::TOO_MANY_REQUESTS;
/// assert_eq!(retry_after(busy, &headers, 1), Some(Duration::from_secs(1)));
/// headers.insert("retry-after", "7".parse().unwrap());
/// assert_eq!(retry_after(busy, &headers, 0), Some(Duration::from_secs(7)));
/// ```
#[must_use]
pub fn retry_after(status: StatusCode, headers: &HeaderMap, attempt: u32) -> Option<Duration> {
    let header = |name| headers.get(name)?.to_str().ok();
    let is_forbidden = header("x-should-retry") == Some("false");
    if !matches!(status.as_u16(), 429 | 503 | 529) || is_forbidden {
        return None;
    }
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse().ok());
    let seconds = header("retry-after").and_then(|text| text.trim().parse().ok());
    let wanted = milliseconds
        .map(Duration::from_millis)
        .or_else(|| seconds.map(Duration::from_secs));
    let own = || Duration::from_millis(500).saturating_mul(1 << attempt.min(4));
    let wait = wanted.unwrap_or_else(own);
    (wait <= LONGEST_WAIT).then_some(wait)
}

/// The cause of a refused request, for observers.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    /// The code of the error, without its message.
    error: Option<String>,
    fault: ModelFault,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream: status {}", self.status.as_u16())?;
        match &self.error {
            Some(error) => write!(f, ": {error}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// Converts the response of a model's server with a status other than 200 into the failure of the turn: with a sentence
/// for the user and a status for the client. A status about the server's API key becomes 502, because the client would
/// think that its own key is meant. If the server is busy, the failure is retryable, because the server has not begun
/// to answer.
///
/// The cause contains the status and the code of the error, but not its message, which may contain keys.
#[must_use]
#[track_caller]
pub fn refused<U: Upstream>(status: StatusCode, body: &[u8]) -> AgentError {
    let error = error_of::<U>(body);
    if error.as_ref().is_some_and(|error| error.too_long) {
        return AgentError::too_long();
    }
    let (fault, shown) = match status.as_u16() {
        401..=403 => (ModelFault::Key, StatusCode::BAD_GATEWAY),
        404 => (ModelFault::UnknownModel, StatusCode::BAD_GATEWAY),
        429 => (ModelFault::Busy, StatusCode::TOO_MANY_REQUESTS),
        503 | 529 => (ModelFault::Busy, StatusCode::SERVICE_UNAVAILABLE),
        408 | 504 => (ModelFault::NoAnswer, StatusCode::GATEWAY_TIMEOUT),
        400..=499 => (ModelFault::Refused, StatusCode::BAD_REQUEST),
        500.. => (ModelFault::Failed, StatusCode::BAD_GATEWAY),
        _ => (ModelFault::NotAnAnswer, StatusCode::BAD_GATEWAY),
    };
    let failure = AgentError::from(Refused {
        status,
        error: error.and_then(|error| error.code),
        fault,
    });
    match fault {
        ModelFault::Busy => failure.retryable().status(shown),
        _ => failure.status(shown),
    }
}
