//! Error responses of the server.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::StatusCode;

use crate::json::{Escape, Json, JsonError, Kind, ObjectWriter};
use crate::protocol::Refusal;
use crate::vocabulary::redacted::{Cut, Size};

/// An error response: an HTTP status and the body `{"message","code","type","link"}`.
///
/// A client [reads](Self::from_response) it; a server creates it and returns it as a [`Refusal`].
///
/// `Display` and `Debug` print status and code only: the message can repeat the request.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The error code, such as `invalid_api_key`.
    pub code: Cow<'static, str>,
    /// The message.
    pub message: Cow<'static, str>,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code: Cow::Borrowed(code),
            message: message.into(),
        }
    }

    /// Creates the error for a server whose chats are switched off.
    pub fn feature_not_enabled() -> Self {
        let message = "using the /chats chat completions route requires enabling the `chat completions` experimental feature. See https://github.com/orgs/meilisearch/discussions/835";
        Self::new(StatusCode::BAD_REQUEST, "feature_not_enabled", message)
    }

    /// Creates the error for a request without a key.
    pub fn missing_authorization() -> Self {
        let message =
            "The Authorization header is missing. It must use the bearer authorization method.";
        Self::new(StatusCode::UNAUTHORIZED, MISSING_AUTHORIZATION, message)
    }

    /// Creates the error for a key that is unknown or lacks the permission.
    pub fn invalid_api_key() -> Self {
        let message = "The provided API key is invalid.";
        Self::new(StatusCode::FORBIDDEN, INVALID_API_KEY, message)
    }

    /// Creates the error for an unknown workspace.
    pub fn workspace_not_found(workspace: &str) -> Self {
        // The server repeats names of the request. They are cut, as a request may have names of any
        // length.
        let message = format!("Chat `{}` not found", Cut(workspace));
        Self::new(StatusCode::NOT_FOUND, "chat_not_found", message)
    }

    /// Creates the error for a request without `stream`.
    pub(super) fn non_streaming() -> Self {
        let message = "Non-streamed chat completions is not implemented";
        let code = "unimplemented_non_streaming_chat_completions";
        Self::new(StatusCode::NOT_IMPLEMENTED, code, message)
    }

    /// Creates the error for a request of several answers. The message repeats `n` only if it is a
    /// number.
    pub(super) fn multi_choice(n: &Json) -> Self {
        let n = match n.kind() {
            // The server repeats `n`; anything but a number could be as long as the body.
            Kind::Number => n.text(),
            _ => "…",
        };
        let message = format!(
            "You tried to specify n = {} but only single choices are supported (n = 1).",
            Cut(n)
        );
        let code = "unimplemented_multi_choice_chat_completions";
        Self::new(StatusCode::NOT_IMPLEMENTED, code, message)
    }

    /// Creates the error for a declared function of the client.
    pub(super) fn external_function(name: &str) -> Self {
        let message = format!("{}: External functions are not supported yet.", Cut(name));
        let code = "unimplemented_external_function_calling";
        Self::new(StatusCode::NOT_IMPLEMENTED, code, message)
    }

    /// Creates the error for a declaration of the server's own search function.
    pub fn internal_function(name: &str) -> Self {
        Self::bad_request(format!("{} function is already defined.", Cut(name)))
    }

    /// Creates the error for a body of the wrong structure.
    pub(super) fn invalid_body(what: impl fmt::Display) -> Self {
        Self::bad_request(format!("Json deserialize error: {what}"))
    }

    fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, BAD_REQUEST, message)
    }

    /// Creates the error for an empty body.
    pub(super) fn missing_payload() -> Self {
        let message = "A json payload is missing.";
        Self::new(StatusCode::BAD_REQUEST, "missing_payload", message)
    }

    /// Creates the error for a body that is not JSON.
    pub(super) fn malformed_payload(error: &JsonError) -> Self {
        let message = format!("The json payload provided is malformed. `{error}`.");
        Self::new(StatusCode::BAD_REQUEST, "malformed_payload", message)
    }

    /// Reads the body of a response whose status is not a success. A body of another form, such as
    /// a proxy's page, gives an empty code.
    pub fn from_response(status: StatusCode, body: &[u8]) -> Self {
        let json = Json::parse(body.to_vec()).unwrap_or_default();
        let text = |key| -> Cow<'static, str> {
            let value = json.get(key).unwrap_or_default();
            value.string().unwrap_or_default().into_owned().into()
        };
        Self {
            status,
            code: text("code"),
            message: text("message"),
        }
    }

    /// Returns the kind of error: `auth` or `invalid_request`.
    pub fn kind(&self) -> &'static str {
        match &*self.code {
            MISSING_AUTHORIZATION | INVALID_API_KEY => "auth",
            _ => "invalid_request",
        }
    }

    /// Returns the body of the response.
    pub fn to_json(&self) -> Bytes {
        let mut out = Vec::with_capacity(256);
        let mut object = ObjectWriter::new(&mut out, Escape::Json);
        object
            .str("message", &self.message)
            .str("code", &self.code)
            .str("type", self.kind())
            .str(
                "link",
                &format!("https://docs.meilisearch.com/errors#{}", self.code),
            );
        object.finish();
        out.into()
    }

    /// Converts a refusal. Refusals of the router, before the request is read, get the server's
    /// code for the same status.
    pub(super) fn from_refusal(refusal: &Refusal) -> Self {
        let code = match (refusal.status(), refusal.kind()) {
            (StatusCode::PAYLOAD_TOO_LARGE, _) => "payload_too_large",
            // The default of a refusal, which no Meilisearch server has as a code.
            (_, "invalid_request") => BAD_REQUEST,
            // Errors of this module that were refusals on their way here: their code and message
            // are restored as they were.
            (_, kind) => {
                return Self {
                    status: refusal.status(),
                    code: kind.to_owned().into(),
                    message: refusal.message().to_owned().into(),
                };
            }
        };
        Self::new(refusal.status(), code, refusal.to_string())
    }
}

const MISSING_AUTHORIZATION: &str = "missing_authorization_header";
const INVALID_API_KEY: &str = "invalid_api_key";
const BAD_REQUEST: &str = "bad_request";

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self::new(error.status, error.message).code(error.code)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused with status {}", self.status.as_u16())?;
        if !self.code.is_empty() {
            write!(f, ": {}", Cut(&self.code))?;
        }
        Ok(())
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("status", &self.status)
            .field("code", &Cut(&self.code))
            .field("message", &Size::of(&self.message))
            .finish()
    }
}

impl std::error::Error for ApiError {}
