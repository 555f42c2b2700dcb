//! The messages of a turn.

use agent_client_protocol::v1::schema::{CreateElicitationRequest, RequestPermissionRequest};
use agent_client_protocol::v1::schema::{SessionNotification, SessionUpdate};
use agent_client_protocol::{RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcResponse};
use copilot_wire::json::{Escape, write};
use copilot_wire::protocol::{EventError, FrameEvent};
use serde::Serialize;
use serde_json::Value;

/// A message that the agent sends in the course of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The notification `session/update`: a piece of the answer, or anything else that the editor shows.
    Update(Box<SessionNotification>),
    /// A question whose answer ends the wait of the agent: `session/request_permission` or `elicitation/create`.
    Question(RawJsonRpcId, Box<Question>),
    /// The response to `session/prompt`, which ends the turn.
    End(RawJsonRpcResponse),
    /// Any other message.
    Other(RawJsonRpcMessage),
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// A dialog with the options yes and no.
    Permission(RequestPermissionRequest),
    /// A form.
    Elicitation(CreateElicitationRequest),
}

/// A message as it is written.
#[derive(Serialize)]
struct Message<'a, T> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawJsonRpcId>,
    method: &'static str,
    params: &'a T,
}

impl<'a, T: Serialize> Message<'a, T> {
    const fn new(id: Option<&'a RawJsonRpcId>, method: &'static str, params: &'a T) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            method,
            params,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        // The separators U+2028 and U+2029 are escaped: Node's `readline` ends a line there. Messages of the schema
        // always serialize.
        let _ = write(self, Escape::JsonAndSeparators, out);
    }
}

impl Event {
    pub(crate) fn update(notification: SessionNotification) -> Self {
        Self::Update(Box::new(notification))
    }

    fn of(message: RawJsonRpcMessage) -> Self {
        let (method, params) = match &message {
            RawJsonRpcMessage::Response(response) => return Self::End(response.clone()),
            RawJsonRpcMessage::Notification(it) => (&it.method, &it.params),
            RawJsonRpcMessage::Request(it) => (&it.method, &it.params),
        };
        let params = params.clone().map(|params| params.into_value());
        let params = params.unwrap_or_default();
        let question = match (&message, &**method) {
            (RawJsonRpcMessage::Notification(_), UPDATE) => {
                let update = serde_json::from_value(params).map(Self::Update);
                return update.unwrap_or(Self::Other(message));
            }
            (_, PERMISSION) => serde_json::from_value(params).map(Question::Permission),
            (_, ELICITATION) => serde_json::from_value(params).map(Question::Elicitation),
            _ => return Self::Other(message),
        };
        match (&message, question) {
            (RawJsonRpcMessage::Request(request), Ok(question)) => {
                Self::Question(request.id.clone(), Box::new(question))
            }
            _ => Self::Other(message),
        }
    }
}

const UPDATE: &str = "session/update";
const PERMISSION: &str = "session/request_permission";
const ELICITATION: &str = "elicitation/create";

impl FrameEvent for Event {
    const TRUNCATED: &'static str = "the stream ended without a response";
    const LIMIT: usize = 32 * 1024 * 1024;

    fn read(data: &str) -> Result<Option<Self>, EventError> {
        let message = serde_json::from_str(data);
        let message = message.map_err(|_| EventError::Invalid("not a message of JSON-RPC"))?;
        Ok(Some(Self::of(message)))
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        match self {
            Self::Update(update) => Message::new(None, UPDATE, &**update).write(out),
            Self::Question(id, question) => match &**question {
                Question::Permission(params) => {
                    Message::new(Some(id), PERMISSION, params).write(out);
                }
                Question::Elicitation(params) => {
                    Message::new(Some(id), ELICITATION, params).write(out);
                }
            },
            Self::End(response) => line(&RawJsonRpcMessage::Response(response.clone()), out),
            Self::Other(message) => line(message, out),
        }
    }

    fn is_last(&self) -> bool {
        matches!(self, Self::End(_))
    }
}

/// Writes a message without its line end.
pub(crate) fn line(message: &RawJsonRpcMessage, out: &mut Vec<u8>) {
    // Messages of JSON-RPC always serialize.
    let _ = write(message, Escape::JsonAndSeparators, out);
}

/// Returns the line of a notification about a session.
pub(crate) fn update_line(session: &str, update: SessionUpdate) -> Vec<u8> {
    let mut out = Vec::new();
    Event::update(SessionNotification::new(session.to_owned(), update)).write_data(&mut out);
    out.push(b'\n');
    out
}

/// Returns the line of a response.
pub(crate) fn response_line(
    id: RawJsonRpcId,
    result: Result<Value, agent_client_protocol::Error>,
) -> Vec<u8> {
    let mut out = Vec::new();
    line(&RawJsonRpcMessage::response(id, result), &mut out);
    out.push(b'\n');
    out
}
