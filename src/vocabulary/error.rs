//! Errors between an agent and its front end.

use std::error::Error;
use std::fmt;
use std::iter;
use std::panic::Location;
use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};

use super::{MAX_HEADERS, Refusal};
use crate::json::{JsonError, WriteError};
use crate::sse::TooLarge;

/// An error of sending an event to the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The client disconnected, or the turn has ended. Nothing more can be sent.
    #[error("the reply is closed")]
    Closed,
    /// The value could not be serialized. Nothing was written, and the turn may continue.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The front end does not support the part or the call. Nothing was written, and the turn may continue.
    #[error("not supported by this front end: {0}")]
    Unsupported(&'static str),
    /// The value breaks a rule of the protocol. Nothing was written, and the turn may continue.
    #[error("not valid in this protocol: {0}")]
    Invalid(String),
    /// The reply exceeds the limit of a protocol that repeats the reply at the end, or sends it as one document. The
    /// turn fails.
    #[error("the reply is {0}")]
    TooLarge(#[from] TooLarge),
}

/// An error of decoding an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The stream cannot be decoded any further.
    #[error("the event is {0}")]
    Stream(#[from] TooLarge),
    /// The data is not the JSON that an event of this name must have.
    #[error("event data: {0}")]
    Data(#[from] JsonError),
    /// A required member of the data is missing or has another type.
    #[error("event data: {0}")]
    Invalid(&'static str),
    /// The stream ended before the answer was complete.
    #[error("{0}")]
    Truncated(&'static str),
}

/// The error of a conversation that exceeds the context of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("the conversation is too long for the model")]
#[non_exhaustive]
pub struct ContextTooLong;

/// The codes and classes with which servers report that a conversation is too long.
const TOO_LONG_CODES: [&str; 6] = [
    "context_length_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "request_too_large",
    "prompt_too_long",
];

/// The words of servers without such a code, in lower case. Each is recorded or from the source of a server.
const TOO_LONG_WORDS: [&str; 13] = [
    "prompt is too long",
    "prompt too long",
    "exceed context limit",
    "maximum context length",
    "exceeds the maximum number of tokens allowed",
    "exceeds the available context size",
    "exceeds the context window",
    "exceeds the context length",
    "longer than the model's context length",
    "context length exceeded",
    "exceeded model token limit",
    "reduce the length of the messages",
    "is loaded with context length of only",
];

impl ContextTooLong {
    /// Returns `true` if an error of a model's server, of any dialect, says that the conversation is too long, by one
    /// of its codes or in its message.
    pub fn is_reported<'a>(codes: impl IntoIterator<Item = &'a str>, message: &str) -> bool {
        let mut codes = codes.into_iter();
        if codes.any(|code| TOO_LONG_CODES.contains(&code)) {
            return true;
        }
        let message = message.to_lowercase();
        TOO_LONG_WORDS.iter().any(|words| message.contains(words))
    }
}

/// The kind of failure of a model's server, with a sentence for the user.
///
/// An [`AgentError`] with a `ModelFault` among its sources has this sentence as its message. The errors of a
/// [`Relay`](crate::models::Relay) have such a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFault {
    /// The server could not be reached, or did not answer in time.
    #[error("The model's server did not answer.")]
    NoAnswer,
    /// The server refused the request.
    #[error("The model's server refused the request.")]
    Refused,
    /// The server did not accept the API key.
    #[error("The model's server did not accept the key of this server.")]
    Key,
    /// The server does not know the model.
    #[error("The model's server does not know the model.")]
    UnknownModel,
    /// The quota of the API key is used up.
    #[error("The quota of this server at the model's server is used up.")]
    Quota,
    /// The server has too many requests at the moment.
    #[error("The model's server is busy.")]
    Busy,
    /// The server reported a failure of its own.
    #[error("The model's server failed.")]
    Failed,
    /// The answer ended before it was complete.
    #[error("The model's answer broke off.")]
    Truncated,
    /// The answer does not follow the dialect of the model.
    #[error("The model's server sent something that is not an answer.")]
    NotAnAnswer,
    /// A call of the answer is cut off, or its arguments are not an object.
    #[error("The model made a call that is not complete.")]
    BadCall,
    /// The model called a tool that the front end does not offer, or with arguments that the tool does not accept.
    #[error("The model made a call that is not possible here.")]
    ImpossibleCall,
    /// The answer exceeds the limit.
    #[error("The model's answer is too long.")]
    TooLarge,
}

/// The codes and classes with which servers report a fault, and words of their messages in lower case. Each is
/// recorded, or from the documentation or the source of a server.
const REPORTS: [(ModelFault, &[&str], &[&str]); 4] = [
    (
        ModelFault::Quota,
        &[
            "402",
            "billing_error",
            "billing_hard_limit_reached",
            "exceeded_current_quota_error",
            "insufficient_quota",
        ],
        &[
            "credit balance is too low",
            "insufficient balance",
            "insufficient credits",
            "requires more credits",
        ],
    ),
    (
        ModelFault::Key,
        &[
            "401",
            "authentication_error",
            "incorrect_api_key_error",
            "invalid_api_key",
            "invalid_authentication_error",
            "UNAUTHENTICATED",
        ],
        &["api key not valid", "incorrect api key", "invalid api key"],
    ),
    (
        ModelFault::UnknownModel,
        &[
            "invalid_model",
            "model_not_found",
            "not_found_error",
            "resource_not_found_error",
        ],
        &[
            "does not exist or you do not have access",
            "invalid model: ",
            "is not a valid model",
            "model not exist",
            "not found, try pulling it first",
        ],
    ),
    (
        ModelFault::Busy,
        &[
            "429",
            "503",
            "529",
            "RESOURCE_EXHAUSTED",
            "UNAVAILABLE",
            "engine_overloaded_error",
            "overloaded",
            "overloaded_error",
            "rate_limit_error",
            "rate_limit_exceeded",
            "rate_limit_reached_error",
            "rate_limited",
            "server_overloaded",
            "service_tier_capacity_exceeded",
            "slow_down",
            "unavailable_error",
        ],
        &[
            "is overloaded",
            "loading model",
            "rate limit",
            "server busy",
            "server is busy",
            "too many requests",
        ],
    ),
];

impl ModelFault {
    /// Returns the fault that an error of a model's server reports, of any dialect, by its code or class or in its
    /// message; `None` if it does not say. That a conversation is too long is [`ContextTooLong::is_reported`].
    pub fn reported(code: Option<&str>, message: &str) -> Option<Self> {
        let by_code = |(_, codes, _): &&(_, &[&str], _)| code.is_some_and(|it| codes.contains(&it));
        let message = message.to_lowercase();
        let by_words =
            |(_, _, words): &&(_, _, &[&str])| words.iter().any(|it| message.contains(it));
        let mut reports = REPORTS.iter();
        let report = reports
            .clone()
            .find(by_code)
            .or_else(|| reports.find(by_words));
        report.map(|(fault, ..)| *fault)
    }

    /// Returns the name of the fault, such as `no_answer`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoAnswer => "no_answer",
            Self::Refused => "refused",
            Self::Key => "key",
            Self::UnknownModel => "unknown_model",
            Self::Quota => "quota",
            Self::Busy => "busy",
            Self::Failed => "failed",
            Self::Truncated => "truncated",
            Self::NotAnAnswer => "not_an_answer",
            Self::BadCall => "bad_call",
            Self::ImpossibleCall => "impossible_call",
            Self::TooLarge => "too_large",
        }
    }
}

/// The error with which an agent fails its turn. The client receives its message, observers its cause.
///
/// Any error converts into it with `?` and becomes its cause, which only observers see. By default the *user* reads a
/// message that says nothing about the cause; [`user_message`](Self::user_message) sets another message.
///
/// By default clients are told not to retry the turn, because a retry would repeat the side effects of the agent;
/// [`retryable`](Self::retryable) allows retries.
///
/// ```
/// use copilot_wire::protocol::AgentError;
///
/// fn port(text: &str) -> Result<u16, AgentError> {
///     Ok(text.parse()?)
/// }
///
/// let error = port("http").unwrap_err();
/// assert_eq!(error.to_string(), "invalid digit found in string");
/// assert!(!error.message().contains("digit"));
///
/// let error = error.user_message("The setting `port` is not a number.").retryable();
/// assert_eq!(error.message(), "The setting `port` is not a number.");
/// assert!(error.failure().retryable);
/// ```
#[must_use]
pub struct AgentError {
    message: Option<Box<str>>,
    /// The time after which clients may retry; `None` if they must not.
    retry_after: Option<Duration>,
    too_long: bool,
    status: Option<StatusCode>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cause: Option<Box<dyn Error + Send + Sync>>,
    location: &'static Location<'static>,
}

impl AgentError {
    /// The message of a reply whose remaining events were not stored, for [`Extras::lost`](crate::protocol::Extras::lost).
    pub const LOST: &'static str = "Sorry, the rest of the answer is lost.";

    /// The message of a turn that a shutdown ends.
    pub(crate) const SHUT_DOWN: &'static str =
        "The server is shutting down, and the answer is incomplete.";

    pub(crate) const DEFAULT: &'static str =
        "Sorry, something went wrong and the answer is incomplete.";

    const TOO_LONG: &'static str = "The prompt is too long for the model.";

    /// Creates a failure with a message for the user.
    #[track_caller]
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: Some(message.into()),
            retry_after: None,
            too_long: false,
            status: None,
            headers: Vec::new(),
            cause: None,
            location: Location::caller(),
        }
    }

    /// Creates the failure of a conversation that is too long for the model. Coding clients that recognize this failure
    /// compact the conversation. Every front end can show its message, which [`user_message`](Self::user_message)
    /// replaces. An error with a [`ContextTooLong`] among its sources, such as an error of a relay, converts into this
    /// failure with `?`.
    ///
    /// Return it before the first output: clients of chat completions recognize it by the HTTP status.
    #[track_caller]
    pub fn too_long() -> Self {
        Self {
            too_long: true,
            ..Self::new(Self::TOO_LONG)
        }
    }

    /// Sets the message that the user reads.
    pub fn user_message(mut self, message: impl Into<Box<str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Allows clients to retry the turn, after a few seconds.
    pub fn retryable(self) -> Self {
        self.retry_after(Refusal::RETRY_AFTER)
    }

    /// Allows clients to retry the turn after `delay`, which is the header `retry-after` of the response, in whole
    /// seconds. A failure after the first output has no header.
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Sets the HTTP status of the response. It applies to an answer without a stream, and to a turn that fails before
    /// its first output if the head of the stream [waits for the first output](crate::Router::first_output_timeout).
    /// Once the head is sent it has no effect. The default is 400, which clients do not retry, or 503 for a
    /// [retryable](Self::retryable) failure. A protocol whose clients retry 400 sends another status instead.
    ///
    /// Some clients ignore `x-should-retry: false` and repeat a turn after status 429 and statuses from 500 on.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds a header of the response, at most 100. It is sent where the [status](Self::status) is.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if self.headers.len() < MAX_HEADERS {
            self.headers.push((name, value));
        }
        self
    }

    /// Returns the headers of the response.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns the failure as it is sent to the front end.
    pub fn failure(&self) -> Failure<'_> {
        Failure {
            message: self.message(),
            retryable: self.retry_after.is_some(),
            too_long: self.too_long,
            code: None,
        }
    }

    /// Returns the [status](Self::status) of the response.
    pub fn status_code(&self) -> StatusCode {
        // Clients of models retry every 5xx, so it is sent only if a retry is allowed.
        let default = match self.retry_after {
            Some(_) => StatusCode::SERVICE_UNAVAILABLE,
            None => StatusCode::BAD_REQUEST,
        };
        self.status.unwrap_or(default)
    }

    /// Returns the time after which clients may retry the turn; `None` if they must not.
    pub fn delay(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(Self::DEFAULT)
    }

    /// Returns the cause, for observers. It is not sent to the user.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    /// Returns the class of the error, for the attribute `error.type` of telemetry: `context_too_long`, the
    /// [name](ModelFault::as_str) of a [`ModelFault`] among the causes, or else `_OTHER`.
    pub fn class(&self) -> &'static str {
        if self.too_long {
            return "context_too_long";
        }
        let first: Option<&(dyn Error + 'static)> = match &self.cause {
            Some(cause) => Some(&**cause),
            None => None,
        };
        let mut causes = iter::successors(first, |cause| (*cause).source());
        let fault = causes.find_map(|cause| cause.downcast_ref::<ModelFault>());
        fault.map_or("_OTHER", |fault| fault.as_str())
    }

    /// Returns the line of code that created the error or converted another error with `?`. It is not sent to the user.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for AgentError {
    #[track_caller]
    fn from(cause: E) -> Self {
        let first: &(dyn Error + 'static) = &cause;
        let causes = || iter::successors(Some(first), |cause| (*cause).source());
        let too_long = causes().any(|cause| cause.is::<ContextTooLong>());
        let fault = causes().find_map(|cause| cause.downcast_ref::<ModelFault>());
        // The text of any other cause may contain paths, addresses or keys, so it is never the default message for the
        // user.
        let message = match (too_long, fault) {
            (true, _) => Some(Self::TOO_LONG.into()),
            (_, Some(fault)) => Some(fault.to_string().into()),
            _ => None,
        };
        Self {
            message,
            retry_after: None,
            too_long,
            status: None,
            headers: Vec::new(),
            cause: Some(Box::new(cause)),
            location: Location::caller(),
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, &self.message) {
            // The cause has precedence: `Display` is for observers, the message for the user.
            (Some(cause), _) => cause.fmt(f),
            (None, Some(message)) => f.write_str(message),
            (None, None) => f.write_str(Self::DEFAULT),
        }
    }
}

impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentError")
            .field("message", &self.message())
            .field("retry_after", &self.retry_after)
            .field("cause", &self.cause)
            .field("location", &format_args!("{}", self.location))
            .finish()
    }
}

/// The failure of a turn, as it is sent to the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// A message for the user.
    pub message: &'a str,
    /// `true` if the client may retry the turn. `false` by default, because a retry would repeat the side effects of an
    /// agent.
    pub retryable: bool,
    /// `true` if the conversation is too long for the model. Some clients then compact the conversation.
    pub too_long: bool,
    /// The code or the class of an error that was read from a stream. A session writes its own.
    pub code: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// Creates a failure that must not be retried.
    pub fn new(message: &'a str) -> Self {
        Self {
            message,
            retryable: false,
            too_long: false,
            code: None,
        }
    }

    /// Converts the failure into the refusal of a request, with `status`. A client may retry after `delay`.
    pub(crate) fn to_refusal(self, status: StatusCode, delay: Option<Duration>) -> Refusal {
        let refusal = Refusal::new(status, self.message.to_owned());
        match (self.too_long, delay) {
            (true, _) => refusal.code(Refusal::TOO_LONG),
            (_, Some(delay)) => refusal.code("overloaded").retry_after(delay),
            _ => refusal.code("agent_failed"),
        }
    }
}
