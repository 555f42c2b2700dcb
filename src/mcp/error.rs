//! Errors of JSON-RPC.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

use super::versions::{Era, VERSIONS};
use crate::json::wire::object;
use crate::json::{Escape, Json, JsonError, Members, ValueWriter, Wire};
use crate::protocol::Refusal;

/// The error object of JSON-RPC: the member `error` of a message.
///
/// `Debug` does not print the message.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct ErrorObject {
    /// The code.
    #[wire(always)]
    pub code: Json,
    /// The message.
    #[wire(always, secret)]
    pub message: String,
    /// Details.
    pub data: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// An error in answer to a message: the status of the response, and the error object.
#[derive(Debug)]
pub(super) struct RpcError {
    pub(super) status: StatusCode,
    code: i32,
    message: String,
    data: Option<Json>,
}

/// The text is not JSON.
const PARSE: i32 = -32700;
/// The message is not a request.
const INVALID: i32 = -32600;
const NO_METHOD: i32 = -32601;
const PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;
/// A header is missing, or differs from the body.
const HEADER: i32 = -32020;
const VERSION: i32 = -32022;
/// Any other refusal.
const REFUSED: i32 = -32000;

impl RpcError {
    fn new(status: StatusCode, code: i32, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Returns the status for an error in a message: always 200 in versions with sessions.
    fn status(era: Era, status: StatusCode) -> StatusCode {
        match era {
            Era::Stateless => status,
            Era::Session => StatusCode::OK,
        }
    }

    /// Creates the error for a message that is not a request.
    pub(super) fn invalid(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID, message)
    }

    /// Creates the error for a message that is not JSON.
    pub(super) fn malformed(error: &JsonError) -> Self {
        let refusal = Refusal::from(error.clone());
        Self::new(StatusCode::BAD_REQUEST, PARSE, refusal.to_string())
    }

    /// Creates the error for invalid parameters.
    pub(super) fn params(era: Era, message: impl Into<String>) -> Self {
        Self::new(Self::status(era, StatusCode::BAD_REQUEST), PARAMS, message)
    }

    /// Creates the error for a method that is not served.
    pub(super) fn no_method(era: Era) -> Self {
        let status = Self::status(era, StatusCode::NOT_FOUND);
        Self::new(status, NO_METHOD, "unknown method")
    }

    /// Creates the error for an unknown tool: its status is 200 in all versions.
    pub(super) fn no_tool() -> Self {
        Self::new(StatusCode::OK, PARAMS, "unknown tool")
    }

    /// Creates the error for a header that is missing or differs from the body.
    pub(super) fn header(name: &str) -> Self {
        let message = format!("the header {name} must be there and say what the body says");
        Self::new(StatusCode::BAD_REQUEST, HEADER, message)
    }

    /// Creates the error for a version that is not served.
    pub(super) fn version(requested: &str) -> Self {
        let requested: String = requested.chars().take(64).collect();
        let data = Json::object(|data| {
            // Writing texts cannot fail.
            let _ = data.array("supported", VERSIONS, |version, to| {
                to.str(version);
                Ok(())
            });
            data.str("requested", &requested);
        });
        Self {
            data: Some(data),
            ..Self::new(
                StatusCode::BAD_REQUEST,
                VERSION,
                "unsupported protocol version",
            )
        }
    }

    /// Converts a refusal to an error.
    pub(super) fn of(refusal: &Refusal) -> Self {
        let code = match refusal.status() {
            _ if refusal.kind() == "malformed_json" => PARSE,
            status if status.is_server_error() => INTERNAL,
            _ => REFUSED,
        };
        Self::new(refusal.status(), code, refusal.to_string())
    }

    /// Returns the error as a refusal. Its status is never 200.
    pub(super) fn to_refusal(&self) -> Refusal {
        let status = match self.status {
            StatusCode::OK => StatusCode::BAD_REQUEST,
            status => status,
        };
        Refusal::new(status, self.message.clone())
    }

    /// Returns the response to the message with this id; `None` for a message without an id.
    pub(super) fn to_response(&self, id: Option<&Json>) -> Response<Bytes> {
        let mut response = Response::new(self.to_body(id));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        if self.status != StatusCode::OK {
            response.extensions_mut().insert(self.to_refusal());
        }
        response
    }

    pub(super) fn to_body(&self, id: Option<&Json>) -> Bytes {
        let mut out = Vec::new();
        let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
        object(to, |message| {
            // An absent id is not `null`, which some clients reject.
            message.str("jsonrpc", "2.0").opt_raw("id", id);
            // Writing texts and numbers cannot fail.
            let _ = message.object("error", |error| {
                error.value("code", &self.code)?;
                error
                    .str("message", &self.message)
                    .opt_raw("data", self.data.as_ref());
                Ok(())
            });
        });
        out.into()
    }
}
