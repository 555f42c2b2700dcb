//! The reasons for no answer, or for a part of one.

use std::fmt;

use copilot_wire::meilisearch::{ApiError, InstanceError, StreamError};
use copilot_wire::protocol::{AgentError, EventError, Notice};
use reqwest::StatusCode;

/// The failure of an answer, at its start or in its course.
///
/// `Display` is for the operator, and repeats only the plain words of what the model's provider said.
/// [`message`](Self::message) is what a user may read, and repeats nothing of what the server or the
/// provider said: that can hold addresses, keys and names of indexes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// No connection, a connection that broke, or silence for too long.
    #[error("the search engine cannot be reached: {}", how(.0))]
    Http(reqwest::Error),
    /// The server refused the request.
    #[error("the search engine {}{}", .0, advice(.0))]
    Refused(#[from] ApiError),
    /// The key may chat, and not search.
    #[error("the key may chat, and not search: set MEILI_KEY to a key with the action `search`")]
    SearchForbidden,
    /// The name of the workspace cannot be part of an address.
    #[error(transparent)]
    Address(#[from] InstanceError),
    /// A frame is not what the protocol says.
    #[error("the search engine's stream is not readable: {0}")]
    Garbage(#[from] EventError),
    /// The server could not get an answer from the model's provider.
    #[error("{} ({}): {}", Cause::of(.0).operator(), Names(.0), Words(&.0.message))]
    Failed(Box<StreamError>),
    /// The stream came whole, without an answer.
    #[error("the search engine gave no answer")]
    Incomplete,
    /// The stream broke off.
    #[error("the search engine broke off in the middle of its answer")]
    Truncated,
}

impl UpstreamError {
    /// Returns a sentence for the user.
    pub fn message(&self) -> &'static str {
        match self {
            Self::Http(error) if error.is_connect() => "The search engine cannot be reached.",
            Self::Http(error) if error.is_timeout() => "The search engine has stopped answering.",
            Self::Http(_) | Self::Truncated => "The answer broke off.",
            Self::Refused(error) if is_temporary(error.status) => {
                "The search engine is not available for now."
            }
            Self::Refused(_) | Self::SearchForbidden | Self::Address(_) => {
                "The search engine refused the request."
            }
            Self::Garbage(_) => "The search engine sent something that cannot be read.",
            Self::Failed(failure) => Cause::of(failure).user(),
            Self::Incomplete => "The search engine gave no answer.",
        }
    }
}

impl From<reqwest::Error> for UpstreamError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

/// Tells the user what happened, and the log why.
pub(crate) fn told(error: UpstreamError) -> AgentError {
    let message = error.message();
    let failed = match &error {
        UpstreamError::Failed(failure) if matches!(Cause::of(failure), Cause::TooLong) => {
            return AgentError::too_long().user_message(message);
        }
        // Nothing has been sent, and a question changes nothing: it may be asked again.
        UpstreamError::Refused(refused) if is_temporary(refused.status) => {
            let status = refused.status;
            AgentError::from(error).status(status).retryable()
        }
        _ => AgentError::from(error),
    };
    failed.user_message(message)
}

/// Returns what the user reads of a search that failed while the answer goes on. `status` is the
/// status that the search would have had.
pub(crate) fn failed_search(status: Option<&str>) -> Notice {
    let reason = match status {
        Some("400") => "it is not a valid search.",
        Some("403") => "it is not allowed.",
        Some("404") => "there is no such index.",
        _ => "the search engine had an error.",
    };
    Notice::new(format!("A search failed: {reason}")).code("search_failed")
}

/// Returns `true` if a later request may succeed: the server, or a proxy before it, has too much to do or is
/// about to start.
pub(crate) fn is_temporary(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 502 | 503 | 504)
}

/// Returns what happened, without the address.
fn how(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it is silent"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    }
}

/// Returns what the operator can do about a refusal.
fn advice(error: &ApiError) -> &'static str {
    match &*error.code {
        "feature_not_enabled" => ": switch the experimental feature `chatCompletions` on",
        "missing_authorization_header" | "invalid_api_key" => {
            ": set MEILI_KEY to a key with the action `chatCompletions`"
        }
        "chat_not_found" => ": create the workspace, or set MEILI_WORKSPACE to one that exists",
        _ if is_temporary(error.status) => ": ask again later",
        _ => "",
    }
}

/// The failure of the server's request to the model's provider.
///
/// Meilisearch 1.50: its own failures have a kind each, and only the message tells some of them apart;
/// the others are the provider's.
#[derive(Clone, Copy)]
enum Cause {
    /// The server's policy rejects the provider's IP address.
    Policy,
    Unreachable,
    /// The answer broke off.
    Cut,
    /// The answer is not what the server can read.
    Unreadable,
    Key,
    Limit,
    /// The provider has too much to do, or is about to start.
    Busy,
    Model,
    TooLong,
    Refused,
    /// The provider has an error of its own.
    Internal,
}

impl Cause {
    fn of(failure: &StreamError) -> Self {
        match failure.kind.as_str() {
            "transport_error" if failure.message.contains("Rejected IP") => return Self::Policy,
            // The message is that of a connection which carried an answer already.
            "transport_error" if failure.message.contains("decoding response body") => {
                return Self::Cut;
            }
            "transport_error" => return Self::Unreachable,
            "stream_ended" => return Self::Cut,
            // An answer that is no event stream: a page of a proxy, an error of another shape.
            "reqwest_error" | "json_deserialize_error" | "invalid_utf8_error" | "parser_error" => {
                return Self::Unreadable;
            }
            "internal_reqwest_error" | "server_error" => return Self::Internal,
            _ => {}
        }
        match failure.code.as_deref().unwrap_or(&failure.kind) {
            "invalid_api_key" | "authentication_error" | "401" | "403" => Self::Key,
            "rate_limit_exceeded" | "insufficient_quota" | "429" => Self::Limit,
            "408" | "502" | "503" | "504" | "529" | "overloaded_error" | "service_unavailable" => {
                Self::Busy
            }
            "model_not_found" | "404" => Self::Model,
            "context_length_exceeded" => Self::TooLong,
            _ => Self::Refused,
        }
    }

    fn user(self) -> &'static str {
        match self {
            Self::Policy | Self::Key => "The search engine may not use its model.",
            Self::Unreachable => "The search engine's model cannot be reached.",
            Self::Cut => "The model's answer broke off.",
            Self::Unreadable => "The model's answer cannot be read.",
            Self::Limit => "The model has no capacity left for now.",
            Self::Busy => "The model is not available for now.",
            Self::Model => "The search engine's model does not exist.",
            Self::TooLong => "The conversation is too long for the model.",
            Self::Refused => "The model refused the request.",
            Self::Internal => "The model had an error.",
        }
    }

    fn operator(self) -> &'static str {
        match self {
            Self::Policy => {
                "the search engine rejects the IP address of the model's provider: start it with \
                 --experimental-allowed-ip-networks"
            }
            Self::Unreachable => "the search engine cannot reach the model's provider",
            Self::Cut => "the model's provider broke off in the middle of its answer",
            Self::Unreadable => "the search engine cannot read the answer of the model's provider",
            Self::Key => "the model's provider does not accept the API key of the workspace",
            Self::Limit => "the model's provider allows no more requests for now",
            Self::Busy => "the model's provider is not available for now",
            Self::Model => "the model's provider does not have the model: set MEILI_MODEL",
            Self::TooLong => "the conversation is too long for the model",
            Self::Refused => "the model's provider refused the request",
            Self::Internal => "the model's provider had an error",
        }
    }
}

/// The kind of a failure and its code. A provider can put anything there, of any length.
struct Names<'a>(&'a StreamError);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name = |text: &str| -> String { text.chars().take_while(is_name).take(64).collect() };
        f.write_str(&name(&self.0.kind))?;
        match &self.0.code {
            Some(code) => write!(f, ", {}", name(code)),
            None => Ok(()),
        }
    }
}

/// The plain words of what a provider said, in quotes and on one line: words of letters, and numbers. Anything
/// else becomes `…`: keys and addresses are no plain words, and neither is what changes a terminal or a log.
struct Words<'a>(&'a str);

impl Words<'_> {
    /// The largest number of words.
    const COUNT: usize = 40;
    /// The largest number of characters of a word.
    const LENGTH: usize = 20;
    /// The characters around a word.
    const MARKS: &'static [char] = &['.', ',', ':', ';', '!', '?', '(', ')', '`', '\''];

    fn is_plain(word: &str) -> bool {
        let core = word.trim_matches(Self::MARKS);
        let is_word = core
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '_' | '\''));
        let is_number = core.chars().all(|c| c.is_ascii_digit());
        (is_word || is_number) && word.chars().count() <= Self::LENGTH
    }
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.split_whitespace();
        f.write_str("\"")?;
        for (at, word) in words.by_ref().take(Self::COUNT).enumerate() {
            let space = if at == 0 { "" } else { " " };
            let word = if Self::is_plain(word) { word } else { "…" };
            write!(f, "{space}{word}")?;
        }
        let rest = if words.next().is_some() { " …" } else { "" };
        write!(f, "{rest}\"")
    }
}
