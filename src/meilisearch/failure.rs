//! An error in the stream.

use std::fmt;

use crate::json::{Escape, Json, Kind, Members, ObjectWriter};
use crate::protocol::shown::{Cut, Size};

/// An error in the stream: a frame without `choices`.
///
/// The status of the response is 200 by then, whatever went wrong. An error ends the answer unless
/// it is about one search ([`is_terminal`](Self::is_terminal)).
///
/// `Debug` shows the names in it only: what servers say may hold addresses and keys.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The id of the event. One is made for an empty one.
    pub event_id: String,
    /// The kind: `response_error` for a search, the provider's own kinds, or one of the server's
    /// such as `transport_error`.
    pub kind: String,
    /// The HTTP status of a failed search as text, or the provider's own code.
    pub code: Option<String>,
    /// What went wrong. It can contain addresses of the provider: think before you show it.
    pub message: String,
    /// What of the request is at fault.
    pub param: Option<String>,
    /// Members of the error that this crate does not know.
    pub unknown: Members,
}

impl Failure {
    /// The kind of an error that is about one search.
    pub const SEARCH: &'static str = "response_error";

    /// An error of a kind.
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

    /// Whether the answer ends here. It goes on after a search that failed: the model is told, and
    /// answers without it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.kind != Self::SEARCH
    }

    /// Reads the `error` member of a frame, whatever its shape.
    pub(super) fn read(event_id: Option<String>, error: &Json) -> Self {
        let mut failure = Self {
            event_id: event_id.unwrap_or_default(),
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
                // Always `null`; the outer one is the id.
                "event_id" if value.is_null() => {}
                _ => unknown.push(key, value),
            }
        }
        failure.unknown = unknown;
        failure
    }

    /// The frame as the server writes it: the inner `event_id` is always `null`.
    pub(super) fn write(&self, event_id: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        let mut frame = ObjectWriter::new(out, Escape::Json);
        frame.str("event_id", event_id).str("type", "error");
        // Strings and raw values always write.
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

/// A string, or a number as its digits.
fn text(json: &Json) -> Option<String> {
    match json.kind() {
        Kind::String => json.string().map(Into::into),
        Kind::Number => Some(json.text().to_owned()),
        _ => None,
    }
}

/// A search failed and the answer goes on: the error that may be sent in the course of a turn.
///
/// OpenAI's own clients abort on any error in a stream, so the shared word
/// [`Reply::error`](crate::Reply::error) is visible text instead; send this to readers that are
/// known to take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFailure(Failure);

impl SearchFailure {
    /// Creates the failure of a search that would have had this HTTP status.
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

    /// Hands back a failure that is not about a search.
    fn try_from(failure: Failure) -> Result<Self, Failure> {
        if failure.is_terminal() {
            return Err(failure);
        }
        Ok(Self(failure))
    }
}
