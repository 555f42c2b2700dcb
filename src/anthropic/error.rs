//! Error objects, in a stream and in error responses.

use bytes::Bytes;

use crate::json::wire::object;
use crate::json::{Escape, Json, Members, ValueWriter, Wire};
use crate::protocol::{ContextTooLong, Failure, Refusal};

/// An error as sent to a client: the member `error` of `{"type":"error","error":{...}}`.
///
/// It does not implement `Error`. `Debug` does not print the message: messages of servers may
/// contain keys.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates an error of a class.")]
pub struct ErrorObject {
    /// The class, such as `invalid_request_error` or `overloaded_error`.
    #[wire(name = "type", always, cut, new)]
    pub kind: String,
    /// The message for the user.
    #[wire(always, secret, new)]
    pub message: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ErrorObject {
    /// The class of a failure after which clients may repeat the request.
    pub const OVERLOADED: &'static str = "overloaded_error";
    /// The class of a failure after which clients must not repeat the request.
    pub const INVALID_REQUEST: &'static str = "invalid_request_error";

    /// The code of a request that continues or creates a thread. The tool runners of both official clients then
    /// send the whole conversation.
    pub(super) const NO_THREADS: &'static str = "thread_unsupported_request";

    /// The code of a request that continues an unknown thread. Both clients then send the whole conversation, and
    /// begin a new one.
    pub(super) const NO_SUCH_THREAD: &'static str = "thread_not_found";

    /// The code of a request that changes the system prompt or the tools of its thread.
    pub(super) const OTHER_THREAD: &'static str = "thread_fingerprint_mismatch";

    /// Returns `true` if the error says that the conversation is too long for the model, see
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    pub fn is_too_long(&self) -> bool {
        ContextTooLong::is_reported([&*self.kind], &self.message)
    }

    /// Serializes the error as the body of a response: `{"type":"error","error":{...}}`.
    pub fn to_body(&self) -> Bytes {
        let mut out = Vec::new();
        self.write_body(&mut out);
        out.into()
    }

    pub(super) fn write_body(&self, out: &mut Vec<u8>) {
        object(ValueWriter::new(out, Escape::JsonAndSeparators), |body| {
            body.str("type", "error");
            self.write_to(body.member("error"));
        });
    }

    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let kind = match refusal.status().as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            // 529 is Anthropic's own status for an overloaded server.
            // After this class Claude Code repeats a request even if the header forbids it.
            503 | 529 if refusal.is_retryable() => Self::OVERLOADED,
            500.. => "api_error",
            _ => Self::INVALID_REQUEST,
        };
        let message = refusal.to_string();
        match refusal.kind() {
            Refusal::TOO_LONG => Self::new(kind, too_long(&message)),
            code @ (Self::NO_THREADS | Self::NO_SUCH_THREAD | Self::OTHER_THREAD) => {
                let mut error = Self::new(kind, message);
                let details = Json::object(|details| {
                    details.str("error_code", code);
                    if code == Self::NO_THREADS {
                        // Serializing a string cannot fail.
                        let _ = details.array("unsupported", ["thread"], |name, to| {
                            to.str(name);
                            Ok(())
                        });
                    }
                });
                error.unknown.push("details", details);
                error
            }
            _ => Self::new(kind, message),
        }
    }

    /// Creates the error of a turn that failed in its stream.
    pub(super) fn failure(failure: &Failure<'_>) -> Self {
        let message = failure.message;
        match (failure.too_long, failure.retryable) {
            (true, _) => Self::new(Self::INVALID_REQUEST, too_long(message)),
            (_, true) => Self::new(Self::OVERLOADED, message),
            _ => Self::new(Self::INVALID_REQUEST, message),
        }
    }
}

/// The words by which Claude Code and Copilot's command line recognize that the conversation is too long.
const TOO_LONG: &str = "prompt is too long";

/// Returns a message with these words.
fn too_long(message: &str) -> String {
    match message.contains(TOO_LONG) {
        true => message.to_owned(),
        false => format!("{TOO_LONG}: {message}"),
    }
}
