//! Errors in the stream.

use crate::json::wire::{object, text_or_digits};
use crate::json::{Escape, Json, Kind, Members, ValueWriter, Wire};

/// An error in the stream: a frame without `choices`.
///
/// The status of the response is 200 in any case. An error ends the answer unless it is the failure
/// of one search ([`is_terminal`](Self::is_terminal)).
///
/// `Debug` prints only its codes and names: messages of servers may contain addresses and keys.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct StreamError {
    /// The id of the event. An empty one is replaced by a random one.
    #[wire(skip, cut)]
    pub event_id: String,
    /// The kind: `response_error` for a search, the provider's own kinds, or one of the server's
    /// such as `transport_error`.
    #[wire(name = "type", always, read = text_or_digits, cut)]
    pub kind: String,
    /// The HTTP status of a failed search as text, or the provider's own code.
    #[wire(always, read = text_or_digits, cut, set = "Sets the code.")]
    pub code: Option<String>,
    /// The message. It can contain addresses of the provider: check before displaying it.
    #[wire(always, read = text_or_digits, content)]
    pub message: String,
    /// The part of the request that caused the error.
    #[wire(always, read = text_or_digits, cut)]
    pub param: Option<String>,
    /// Always `null`: the id is beside the error.
    #[wire(name = "event_id", always, secret)]
    inner: Option<Json>,
    /// Members of the error that this crate does not know.
    pub unknown: Members,
}

impl StreamError {
    /// The kind of the failure of one search.
    pub const SEARCH: &'static str = "response_error";

    /// Creates an error of a kind.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Returns `true` if the error ends the answer. The failure of one search does not: the model
    /// is informed and answers without it.
    pub fn is_terminal(&self) -> bool {
        self.kind != Self::SEARCH
    }

    /// Reads the `error` member of a frame, of any form.
    pub(super) fn read(event_id: String, error: &Json) -> Self {
        let mut failure = Self::from_raw(error).unwrap_or_default();
        if error.kind() != Kind::Object {
            let message = text_or_digits(&mut error.reader()).ok().flatten();
            failure.message = message.unwrap_or_default();
        }
        failure.event_id = event_id;
        failure
    }

    /// Writes the frame in the server's form: the inner `event_id` is always `null`.
    pub(super) fn write(&self, event_id: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        object(ValueWriter::new(out, Escape::Json), |frame| {
            frame.str("event_id", event_id).str("type", "error");
            self.write_to(frame.member("error"));
        });
        out.extend_from_slice(b"\n\n");
    }
}

/// The failure of one search, after which the answer continues. It is the only error that can be
/// sent before the end of a turn.
///
/// OpenAI's own clients abort on any error in a stream, so [`Reply::error`](crate::Reply::error)
/// becomes text instead; send this only to clients that are known to support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFailure(StreamError);

impl SearchFailure {
    /// Creates the failure of a search with the HTTP status that the search would have had.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self(StreamError::new(StreamError::SEARCH, message).code(status.to_string()))
    }
}

impl From<SearchFailure> for StreamError {
    fn from(search: SearchFailure) -> Self {
        search.0
    }
}

impl TryFrom<StreamError> for SearchFailure {
    type Error = StreamError;

    /// Converts a failure; returns it unchanged as the error if it is not that of a search.
    fn try_from(failure: StreamError) -> Result<Self, StreamError> {
        if failure.is_terminal() {
            return Err(failure);
        }
        Ok(Self(failure))
    }
}
