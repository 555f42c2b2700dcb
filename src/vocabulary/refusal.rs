//! The rejection of a request, before the first byte of a stream.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::json::{self, Escape, Json, JsonError, Kind, List, Members};

/// The rejection of a request: an HTTP status, a message, and the place of the fault.
///
/// ```
/// # use copilot_wire::protocol::Refusal;
/// # use http::StatusCode;
/// let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "must not be empty").at("messages");
/// assert_eq!(refusal.to_string(), "messages: must not be empty");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Refusal {
    status: StatusCode,
    code: Cow<'static, str>,
    path: Box<str>,
    message: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The maximum number of headers that an agent or a refusal adds to a response. A [`http::HeaderMap`] panics at its own.
pub(crate) const MAX_HEADERS: usize = 100;

/// The header by which the official clients of language models decide whether to retry.
const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

impl Refusal {
    /// The code of a refusal because the request is too long for the model.
    pub(crate) const TOO_LONG: &'static str = "context_length_exceeded";

    /// The time after which clients may repeat a request if no other is known.
    pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(5);

    /// Creates a refusal with a status and a message.
    pub fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code: Cow::Borrowed("invalid_request"),
            path: Box::default(),
            message: message.into(),
            headers: Vec::new(),
        }
    }

    /// Sets the place of the fault in the body, such as `messages[3].role`.
    pub fn at(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = path.into();
        self
    }

    /// Creates a refusal with status 422 for a member that is missing or empty, or that was not read because it is no
    /// `wanted`: then it is one of the members without a field.
    ///
    /// ```
    /// # use copilot_wire::json::{Kind, Members, Wire};
    /// # use copilot_wire::protocol::Refusal;
    /// #[derive(Default, PartialEq, Wire)]
    /// struct Page {
    ///     text: String,
    ///     unknown: Members,
    /// }
    ///
    /// let page = Page::from_json(r#"{"text":7}"#)?;
    /// let refusal = Refusal::required("text", Kind::String, &page.unknown);
    /// assert_eq!(refusal.to_string(), "text: must be a string");
    /// # Ok::<(), copilot_wire::json::JsonError>(())
    /// ```
    pub fn required(name: &str, wanted: Kind, unknown: &Members) -> Self {
        let message: Cow<'static, str> = match unknown.get(name).map(Json::kind) {
            None => "is missing or empty".into(),
            Some(kind) if kind == wanted => "must not be empty".into(),
            Some(_) => format!("must be {}", wanted.with_article()).into(),
        };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message).at(name)
    }

    /// Sets the place to a list, or to its first element if no element of the list could be read.
    #[allow(dead_code, reason = "not every protocol has a list")]
    pub(crate) fn at_list<T>(self, name: &str, list: &List<T>) -> Self {
        let is_empty = list.is_empty() && list.invalid().next().is_none();
        if is_empty {
            return self.at(name);
        }
        let message = Cow::Borrowed("must be an object of a known form");
        Self { message, ..self }.at(format!("{name}[0]"))
    }

    /// Sets a short name for the kind of refusal, for programs to read.
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Adds a header of the response, such as `www-authenticate`, at most 100. The header `retry-after` makes the refusal
    /// [retryable](Self::retryable).
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if self.headers.len() < MAX_HEADERS {
            self.headers.push((name, value));
        }
        self
    }

    /// Allows clients to repeat the request after `delay`: sets the header `retry-after`, in whole seconds and at least
    /// one.
    pub fn retry_after(mut self, delay: Duration) -> Self {
        let seconds = delay.as_millis().div_ceil(1000).max(1);
        let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
        self.headers.retain(|(name, _)| name != RETRY_AFTER);
        self.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Allows clients to repeat the request, after a few seconds. By default the response has the header
    /// `x-should-retry: false`, without which clients of models repeat requests after the statuses 401, 408, 429
    /// and those from 500 on.
    pub fn retryable(self) -> Self {
        self.retry_after(Self::RETRY_AFTER)
    }

    /// Returns `true` if clients may repeat the request.
    pub fn is_retryable(&self) -> bool {
        self.headers.iter().any(|(name, _)| name == RETRY_AFTER)
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the short name for the kind of refusal.
    pub fn kind(&self) -> &str {
        &self.code
    }

    /// Returns the place of the fault in the body; empty if it is not in the body.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the message, without the place of the fault.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the response: the status, the content type, the headers and the body. The refusal itself
    /// is among the response's extensions, for middleware.
    pub fn to_response(
        &self,
        content_type: HeaderValue,
        body: impl Into<Bytes>,
    ) -> Response<Bytes> {
        let mut response = Response::new(body.into());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        if !self.is_retryable() {
            headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        for (name, value) in &self.headers {
            // Appended: a header such as `www-authenticate` may occur more than once.
            headers.append(name, value.clone());
        }
        response.extensions_mut().insert(self.clone());
        response
    }

    /// Serializes the refusal as `{"error":{"code":…,"message":…,"path":…}}`.
    pub fn to_json(&self) -> Bytes {
        let error = Detail {
            code: &self.code,
            message: &self.message,
            path: (!self.path.is_empty()).then_some(&self.path),
        };
        let mut out = Vec::with_capacity(128);
        // Three strings always serialise.
        let _ = json::write(&Body { error }, Escape::JsonAndSeparators, &mut out);
        out.into()
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: Detail<'a>,
}

#[derive(Serialize)]
struct Detail<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
}

impl From<JsonError> for Refusal {
    /// Creates a refusal with status 400 and the place of the fault.
    fn from(error: JsonError) -> Self {
        let message = if error.is_truncated() {
            format!("the body ends where {} is expected", error.expected())
        } else {
            format!("expected {} (byte {})", error.expected(), error.offset())
        };
        Self::new(StatusCode::BAD_REQUEST, message)
            .code("malformed_json")
            .at(error.path())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
