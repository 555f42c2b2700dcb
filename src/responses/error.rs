//! Error objects, in a response, in a stream and in error responses.

use bytes::Bytes;

use crate::json::wire::object;
use crate::json::{Escape, Json, Members, ValueWriter, Wire};
use crate::models::error_class;
use crate::protocol::{ContextTooLong, Failure, Refusal};

/// An error as sent to a client.
///
/// `Debug` prints only its codes and names: messages of servers may contain keys.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates an error.")]
pub struct ErrorObject {
    /// The code, such as `invalid_prompt` or `server_error`. Clients repeat the turn after
    /// `server_error`.
    #[wire(cut, new)]
    pub code: Option<String>,
    /// The message for the user.
    #[wire(always, secret, new)]
    pub message: String,
    /// The class, such as `invalid_request_error`.
    #[wire(name = "type", cut)]
    pub kind: Option<String>,
    /// The member of the request that caused the error.
    #[wire(cut)]
    pub param: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ErrorObject {
    /// The code of a failure after which clients run the turn again.
    pub(super) const AGAIN: &'static str = "server_error";

    /// The code of a failure after which no known client runs the turn again.
    pub(super) const ONCE: &'static str = "invalid_prompt";

    pub(super) fn failure(failure: &Failure<'_>) -> Self {
        // After `server_error` Codex and Copilot's command line repeat the turn six times; after
        // `invalid_prompt` they display the message.
        let code = match (failure.too_long, failure.retryable) {
            (true, _) => Refusal::TOO_LONG,
            (_, true) => Self::AGAIN,
            _ => Self::ONCE,
        };
        Self::new(code, failure.message)
    }

    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let path = refusal.path();
        Self {
            kind: Some(error_class(refusal).into()),
            param: (!path.is_empty()).then(|| path.to_owned()),
            ..Self::new(refusal.kind(), refusal.to_string())
        }
    }

    /// Returns `true` if the error says that the conversation is too long for the model, see
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    pub fn is_too_long(&self) -> bool {
        let codes = [&self.code, &self.kind].into_iter();
        ContextTooLong::is_reported(codes.flatten().map(String::as_str), &self.message)
    }

    /// Serializes the error as the body of a response: `{"error":{...}}`.
    pub fn to_body(&self) -> Bytes {
        let mut out = Vec::new();
        self.write_body(&mut out);
        out.into()
    }

    pub(super) fn write_body(&self, out: &mut Vec<u8>) {
        object(ValueWriter::new(out, Escape::JsonAndSeparators), |body| {
            // Writing raw values cannot fail.
            let _ = body.object("error", |error| {
                for (name, value) in self.to_raw().members() {
                    error.member(&name).raw(&value);
                }
                if self.param.is_none() {
                    // Clients that check the form of an error need the member.
                    error.member("param").raw(&Json::default());
                }
                Ok(())
            });
        });
    }
}
