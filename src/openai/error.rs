//! Error objects, in a stream and in error responses.

use bytes::Bytes;

use crate::json::wire::{object, text_or_digits};
use crate::json::{Escape, Json, Kind, Members, ValueWriter, Wire};
use crate::models::error_class;
use crate::protocol::{ContextTooLong, Failure, Refusal};

/// An error as sent to a client: `{"error":{...}}`.
///
/// Both official clients raise an exception for any event whose JSON has a truthy member `error`,
/// independent of the event's name.
///
/// It does not implement `Error`. `Debug` prints only its codes and names: messages of servers may
/// contain keys.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct ErrorObject {
    /// The message for the user.
    #[wire(always, secret)]
    pub message: String,
    /// The class, such as `server_error` or `invalid_request_error`.
    #[wire(name = "type", always, read = text_or_digits, cut, set = "Sets the class.")]
    pub kind: Option<String>,
    /// The member of the request that caused the error.
    #[wire(always, read = text_or_digits, cut)]
    pub param: Option<String>,
    /// The code. A number, as compatible servers send it, becomes its digits.
    #[wire(always, read = text_or_digits, cut, set = "Sets the code.")]
    pub code: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ErrorObject {
    /// Creates an error of the server.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: Some("server_error".into()),
            ..Self::default()
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
            self.write_to(body.member("error"));
        });
    }

    /// Creates the error of a turn that failed in its stream.
    pub(super) fn failure(failure: &Failure<'_>) -> Self {
        let error = Self::new(failure.message);
        match failure.retryable {
            true => error,
            // After the class `server_error` opencode and Continue repeat the turn without end, and without this
            // code, or with `context_length_exceeded`, Copilot's command line repeats it six times.
            false => error.kind("invalid_request_error").code("invalid_prompt"),
        }
    }

    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let path = refusal.path();
        Self {
            message: refusal.to_string(),
            kind: Some(error_class(refusal).into()),
            param: (!path.is_empty()).then(|| path.to_owned()),
            code: Some(refusal.kind().to_owned()),
            unknown: Members::new(),
        }
    }

    /// Converts the value of a member `error`; `None` for a value that is false in JavaScript and
    /// Python.
    pub(super) fn from_member(error: &Json) -> Option<Self> {
        let falsy = match error.kind() {
            Kind::Null => true,
            Kind::Bool => error.as_bool() == Some(false),
            Kind::Number => error.as_f64() == Some(0.0),
            Kind::String => error.string().is_some_and(|text| text.is_empty()),
            Kind::Array | Kind::Object => false,
        };
        if falsy {
            return None;
        }
        let mut object = match error.kind() {
            // A `Json` is valid, so reading it cannot fail.
            Kind::Object => Self::from_raw(error).unwrap_or_default(),
            _ => Self {
                message: error.string().unwrap_or_default().into_owned(),
                ..Self::default()
            },
        };
        if object.message.is_empty() {
            // The text of the official Python client for an error without a message.
            object.message = "An error occurred during streaming".into();
        }
        Some(object)
    }
}
