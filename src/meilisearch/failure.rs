//! Errors in the stream.

use std::fmt;

use crate::json::{Escape, Json, Kind, Members, ObjectWriter};
use crate::protocol::redacted::{Cut, Size};

/// An error in the stream: a frame without `choices`.
///
/// The status of the response is 200 in any case. An error ends the answer unless it is the failure
/// of one search ([`is_terminal`](Self::is_terminal)).
///
/// `Debug` prints only its codes and names: messages of servers may contain addresses and keys.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The id of the event. An empty one is replaced by a random one.
    pub event_id: String,
    /// The kind: `response_error` for a search, the provider's own kinds, or one of the server's
    /// such as `transport_error`.
    pub kind: String,
    /// The HTTP status of a failed search as text, or the provider's own code.
    pub code: Option<String>,
    /// The message. It can contain addresses of the provider: check before displaying it.
    pub message: String,
    /// The part of the request that caused the error.
    pub param: Option<String>,
    /// Members of the error that this crate does not know.
    pub unknown: Members,
}

impl Failure {
    /// The kind of the failure of one search.
    pub const SEARCH: &'static str = "response_error";

    /// Creates an error of a kind.
    #[must_use]
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Sets the code.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Returns `true` if the error ends the answer. The failure of one search does not: the model
    /// is informed and answers without it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.kind != Self::SEARCH
    }

    /// Reads the `error` member of a frame, of any form.
    pub(super) fn read(event_id: String, error: &Json) -> Self {
        let mut failure = Self {
            event_id,
            ..Self::default()
        };
        if error.kind() != Kind::Object {
            failure.message = text(error).unwrap_or_default();
            return failure;
        }
        let mut unknown = Members::new();
        for (key, value) in error.members() {
            match &*key {
                "type" => failure.kind = text(&value).unwrap_or_default(),
                // Compatible servers send numbers.
                "code" => failure.code = text(&value),
                "message" => failure.message = text(&value).unwrap_or_default(),
                "param" => failure.param = text(&value),
                // The inner `event_id` is always `null`; the outer one is the id.
                "event_id" if value.is_null() => {}
                _ => unknown.push(key, value),
            }
        }
        failure.unknown = unknown;
        failure
    }

    /// Writes the frame in the server's form: the inner `event_id` is always `null`.
    pub(super) fn write(&self, event_id: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        let mut frame = ObjectWriter::new(out, Escape::Json);
        frame.str("event_id", event_id).str("type", "error");
        // Serializing strings and raw values cannot fail.
        let _ = frame.object("error", |error| {
            let or_null = |error: &mut ObjectWriter<'_>, key, value: &Option<String>| {
                let place = error.member(key);
                if let Some(value) = value {
                    place.str(value);
                }
            };
            error.str("type", &self.kind);
            or_null(error, "code", &self.code);
            error.str("message", &self.message);
            or_null(error, "param", &self.param);
            or_null(error, "event_id", &None);
            error.members(&self.unknown);
            Ok(())
        });
        frame.finish();
        out.extend_from_slice(b"\n\n");
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("event_id", &Cut(&self.event_id))
            .field("kind", &Cut(&self.kind))
            .field("code", &self.code.as_deref().map(Cut))
            .field("message", &Size::of(&self.message))
            .field("param", &self.param.as_deref().map(Cut))
            .field("unknown", &self.unknown)
            .finish()
    }
}

/// Returns a string, or the digits of a number.
fn text(json: &Json) -> Option<String> {
    match json.kind() {
        Kind::String => json.string().map(Into::into),
        Kind::Number => Some(json.text().to_owned()),
        _ => None,
    }
}

/// The failure of one search, after which the answer continues. It is the only error that can be
/// sent before the end of a turn.
///
/// OpenAI's own clients abort on any error in a stream, so [`Reply::error`](crate::Reply::error)
/// becomes text instead; send this only to clients that are known to support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFailure(Failure);

impl SearchFailure {
    /// Creates the failure of a search with the HTTP status that the search would have had.
    #[must_use]
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self(Failure::new(Failure::SEARCH, message).code(status.to_string()))
    }
}

impl From<SearchFailure> for Failure {
    fn from(search: SearchFailure) -> Self {
        search.0
    }
}

impl TryFrom<Failure> for SearchFailure {
    type Error = Failure;

    /// Converts a failure; returns it unchanged as the error if it is not that of a search.
    fn try_from(failure: Failure) -> Result<Self, Failure> {
        if failure.is_terminal() {
            return Err(failure);
        }
        Ok(Self(failure))
    }
}
