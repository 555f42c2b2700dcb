//! Error responses of models' servers.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use super::Upstream;
use super::relay::error_of;
use crate::json::Json;
use crate::protocol::{AgentError, ModelFault, Refusal};

/// The maximum time before a request is repeated.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Returns the time to wait before a request to a model's server is repeated; `None` if it must not be repeated.
///
/// A request may be repeated after status 429, 503 and 529, with which the server has not begun to answer, and after
/// status 408 and any other from 500 on if the server allows it by `retry-after` or `x-should-retry: true`. The time is
/// that of `retry-after-ms` or `retry-after`; if it is more than a minute, the request is not repeated, nor if
/// `x-should-retry` forbids it. Without these headers it is half a second, doubled with each attempt up to 8 seconds.
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
    let own = Duration::from_millis(500).saturating_mul(1 << attempt.min(4));
    wait(status, headers, own)
}

/// Returns the time to wait, which is `own` if the server names none.
fn wait(status: StatusCode, headers: &HeaderMap, own: Duration) -> Option<Duration> {
    let header = |name| headers.get(name)?.to_str().ok();
    let number = |name| header(name)?.trim().parse().ok();
    let time = number("retry-after-ms").map(Duration::from_millis);
    let time = time.or_else(|| number("retry-after").map(Duration::from_secs));
    let may_retry = match (header("x-should-retry"), status.as_u16()) {
        (Some("false"), _) => false,
        (_, 429 | 503 | 529) => true,
        (says, 408 | 500..) => says == Some("true") || time.is_some(),
        _ => false,
    };
    let time = time.unwrap_or(own);
    (may_retry && time <= LONGEST_WAIT).then_some(time)
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

/// Converts the response of a model's server with a status other than 200 into the failure of the turn, with a sentence
/// for the user.
///
/// A refusal that would repeat itself, such as one of the key, the model or the request, or because of a used up quota,
/// has the status of a [failure](AgentError::status) that no client repeats. What is [transient](retry_after) has status
/// 429 or 503, and the server's `retry-after` or a default. The server's own status is not shown: a client would take 401
/// for a refusal of its own key.
///
/// The cause contains the status and the code of the error, but not its message, which may contain keys.
#[must_use]
#[track_caller]
pub fn refused<U: Upstream>(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> AgentError {
    let error = error_of::<U>(body);
    let is_too_large = status == StatusCode::PAYLOAD_TOO_LARGE;
    if is_too_large || error.as_ref().is_some_and(|error| error.too_long) {
        return AgentError::too_long();
    }
    let has_quota = !Json::parse(body.to_vec()).is_ok_and(|body| is_quota(&body));
    let fault = match status.as_u16() {
        402 => ModelFault::Quota,
        401 | 403 => ModelFault::Key,
        404 => ModelFault::UnknownModel,
        429 if !has_quota => ModelFault::Quota,
        429 | 503 | 529 => ModelFault::Busy,
        408 | 504 => ModelFault::NoAnswer,
        400..=499 => ModelFault::Refused,
        500.. => ModelFault::Failed,
        _ => ModelFault::NotAnAnswer,
    };
    let failure = AgentError::from(Refused {
        status,
        error: error.and_then(|error| error.code),
        fault,
    });
    let shown = match status {
        StatusCode::TOO_MANY_REQUESTS => status,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    match wait(status, headers, Refusal::RETRY_AFTER).filter(|_| has_quota) {
        Some(time) => failure.retry_after(time).status(shown),
        None => failure,
    }
}

/// Returns `true` if an error says that the quota of the key is used up, as some servers do with status 429.
fn is_quota(body: &Json) -> bool {
    let error = body.get("error").unwrap_or_default();
    let mut codes = ["code", "type"]
        .into_iter()
        .filter_map(|name| error.get(name));
    codes.any(|code| {
        code.string()
            .is_some_and(|code| code == "insufficient_quota")
    })
}
