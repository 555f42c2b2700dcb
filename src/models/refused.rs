//! Error responses of models' servers.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::rate_limit::is_rate_limit;
use super::{RelayError, Upstream};
use crate::json::Json;
use crate::protocol::{
    AgentError, Completion, CompletionError, ContextTooLong, Delta, EventDecoder, Failure,
    ModelFault, Refusal,
};

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
    error: Option<CompletionError>,
    fault: ModelFault,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream: status {}", self.status.as_u16())?;
        // Only the code: the message may contain anything.
        match self.error.as_ref().and_then(|error| error.code.as_ref()) {
            Some(code) => write!(f, ": {code}"),
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
/// 429 or 503, and the server's `retry-after` or a default, and its headers of rate limits. The server's own status is not shown: a client would take 401
/// for a refusal of its own key.
///
/// The cause contains the status and the code of the error, but not its message, which may contain keys.
#[track_caller]
pub fn refused<U: Upstream>(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> AgentError {
    let error = error_of::<U>(body).or_else(|| bare_error(body));
    let is_too_large = status == StatusCode::PAYLOAD_TOO_LARGE;
    if is_too_large || error.as_ref().is_some_and(|error| error.too_long) {
        return AgentError::too_long();
    }
    let reported = error.as_ref().and_then(CompletionError::fault);
    let fault = match (status.as_u16(), reported) {
        (400..=499, Some(ModelFault::Quota)) => ModelFault::Quota,
        // The status says it.
        (status @ (401..=404 | 408 | 429 | 500..), _) => fault_of(status),
        (400..=499, Some(fault)) => fault,
        (status, _) => fault_of(status),
    };
    let has_quota = fault != ModelFault::Quota;
    let mut failure = AgentError::from(Refused {
        status,
        error,
        fault,
    });
    let limits = headers.iter();
    for (name, value) in limits.filter(|(name, _)| is_rate_limit(name)) {
        failure = failure.header(name.clone(), value.clone());
    }
    let shown = match status {
        StatusCode::TOO_MANY_REQUESTS => status,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    match wait(status, headers, Refusal::RETRY_AFTER).filter(|_| has_quota) {
        Some(time) => failure.retry_after(time).status(shown),
        None => failure,
    }
}

/// Returns the fault of a status.
fn fault_of(status: u16) -> ModelFault {
    match status {
        402 => ModelFault::Quota,
        401 | 403 => ModelFault::Key,
        404 => ModelFault::UnknownModel,
        429 | 503 | 529 => ModelFault::Busy,
        408 | 504 => ModelFault::NoAnswer,
        400..=499 => ModelFault::Refused,
        500.. => ModelFault::Failed,
        _ => ModelFault::NotAnAnswer,
    }
}

/// Returns an error without the member `error` of the dialects, as some servers and proxies send it.
fn bare_error(body: &[u8]) -> Option<CompletionError> {
    let body = Json::parse(body.to_vec()).ok()?;
    let text = |json: &Json, name| Some(json.get(name)?.string()?.into_owned());
    let nested = body.get("message").and_then(|it| text(&it, "detail"));
    let names = ["message", "detail", "error"].iter();
    let message = nested.or_else(|| names.clone().find_map(|name| text(&body, name)))?;
    let code = ["code", "type"].iter().find_map(|name| text(&body, name));
    let mut completion = Completion::without_items();
    let failure = Failure {
        too_long: ContextTooLong::is_reported(code.as_deref(), &message),
        code: code.as_deref(),
        ..Failure::new(&message)
    };
    completion.push(&Delta::Failed(failure)).ok()?;
    completion.error().cloned()
}

impl CompletionError {
    /// Returns the fault that the error reports.
    pub(super) fn fault(&self) -> Option<ModelFault> {
        ModelFault::reported(self.code.as_deref(), &self.message)
    }
}

/// The maximum number of characters of a server's sentence in a log.
const LONGEST_SENTENCE: usize = 300;

/// The maximum number of characters of a word in a log. Keys are longer.
const LONGEST_WORD: usize = 30;

/// Returns what the server of a model said, of which a failed turn has only the kind: for the log of an operator who
/// has enabled it, because the sentence may repeat words of users. It is one line of at most 300 characters, and the
/// server's `key` and other words longer than 30 characters are left out.
pub fn server_message(error: &AgentError, key: Option<&str>) -> Option<String> {
    let first: &(dyn std::error::Error + 'static) = error.cause()?;
    let mut causes = std::iter::successors(Some(first), |cause| (*cause).source());
    let said = causes.find_map(|cause| {
        let refused = cause.downcast_ref::<Refused>();
        let refused = refused.and_then(|refused| refused.error.as_ref());
        refused.or_else(|| match cause.downcast_ref()? {
            RelayError::Upstream(error) => Some(error),
            _ => None,
        })
    })?;
    let message = match key {
        Some(key) if !key.is_empty() => said.message.replace(key, "[...]"),
        _ => said.message.clone(),
    };
    let words = message.split_whitespace().map(|word| {
        let is_long = word.chars().nth(LONGEST_WORD).is_some();
        if is_long { "[...]" } else { word }
    });
    let words: Vec<_> = words.collect();
    Some(words.join(" ").chars().take(LONGEST_SENTENCE).collect())
}

/// Returns the first element of a JSON list.
fn list_head(list: &[u8]) -> Option<Bytes> {
    let list = Json::parse(list.to_vec()).ok()?;
    let first = list.elements().next()?;
    Some(first.as_bytes().clone())
}

/// Returns the error in a JSON document that a server sent in place of a stream: the same as in the data of an event.
pub(super) fn error_of<U: Upstream>(document: &[u8]) -> Option<CompletionError> {
    // Some servers send a list with the error.
    let document = match document.trim_ascii_start().starts_with(b"[") {
        true => &*list_head(document)?,
        false => document,
    };
    let mut frame = b"data: ".to_vec();
    // JSON has line ends only between its tokens.
    let is_line_end = |byte: u8| matches!(byte, b'\r' | b'\n');
    frame.extend(
        document
            .iter()
            .map(|byte| if is_line_end(*byte) { b' ' } else { *byte }),
    );
    frame.extend_from_slice(b"\n\n");
    let (mut decoder, mut completion) = (EventDecoder::<U>::new(), Completion::without_items());
    let event = decoder.next(&mut &*frame).ok()??;
    completion.push_event::<U>(event).ok()?;
    completion.error().cloned()
}
