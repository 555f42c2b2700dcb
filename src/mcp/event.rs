//! The messages of a stream, and the result of a call.

use bytes::Bytes;

use super::ErrorObject;
use crate::json::wire::object;
use crate::json::{Json, List, Members, ValueWriter, Wire};
use crate::protocol::frame_event::writer;
use crate::protocol::{EventError, FrameEvent};

/// An event in either direction: one message of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// `notifications/progress`: the call is still running.
    Progress(ProgressNotification),
    /// `elicitation/create`: a question to the user, in versions with sessions.
    Question(Elicitation),
    /// The result of the call. It is the last event.
    Result(CallResponse),
    /// The call failed before the tool ran. It is the last event.
    Error(Failed),
    /// Any other message: a JSON object.
    Other(Json),
}

/// The parameters of `notifications/progress`.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct ProgressNotification {
    /// The token of the call.
    pub progress_token: Json,
    /// A number that increases with each message.
    #[wire(always)]
    pub progress: Json,
    /// A message for the user.
    #[wire(content)]
    pub message: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A question to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The id of the request, which the answer repeats.
    pub id: Json,
    /// The question.
    pub params: ElicitParams,
}

/// The parameters of `elicitation/create`.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct ElicitParams {
    /// The kind of question: `form`.
    #[wire(cut)]
    pub mode: Option<String>,
    /// The question.
    #[wire(always, content)]
    pub message: String,
    /// The schema of the answer.
    pub requested_schema: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The result of a call, with the id of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallResponse {
    /// The id of the call.
    pub id: Json,
    /// The result.
    pub result: CallToolResult,
}

/// An error, with the id of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed {
    /// The id of the call; `null` if there is none.
    pub id: Json,
    /// The error.
    pub error: ErrorObject,
}

/// The result of a call.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent)]
pub struct CallToolResult {
    /// `complete`, or `input_required` for a question; empty in versions with sessions.
    #[wire(cut)]
    pub result_type: String,
    /// The parts of the answer.
    pub content: List<ContentBlock>,
    /// `true` if the call failed.
    pub is_error: bool,
    /// The questions, by their keys.
    pub input_requests: Members,
    /// The state that the client returns with the answers.
    #[wire(content)]
    pub request_state: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// A link to a resource.
    ResourceLink(ResourceLink),
    /// A part of any other type. It is read but never written: most clients lose the complete answer if it has a type
    /// that they do not know.
    #[wire(other)]
    Other(Json),
}

/// Text of an answer.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "text"), new = "Creates a text.")]
pub struct TextContent {
    /// The text.
    #[wire(always, new, content)]
    pub text: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// An image of an answer. Copilot's command line shows it only to the user.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    fixed(type = "image"),
    rename_all = "camelCase",
    new = "Creates an image."
)]
pub struct ImageContent {
    /// The image in base64.
    #[wire(always, new, content)]
    pub data: String,
    /// The media type, such as `image/png`.
    #[wire(always, new)]
    pub mime_type: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A link to a resource. Copilot's command line discards it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "resource_link"), new = "Creates a link.")]
pub struct ResourceLink {
    /// The address.
    #[wire(always, new)]
    pub uri: String,
    /// The name.
    #[wire(always, new)]
    pub name: String,
    /// A description.
    pub description: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl CallToolResult {
    /// Creates the result of a call that failed.
    pub(super) fn failed(text: &str) -> Self {
        let text = ContentBlock::Text(TextContent::new(text));
        Self {
            content: [text].into_iter().collect(),
            is_error: true,
            ..Self::default()
        }
    }

    /// Returns the texts of the answer, separated by line breaks.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the question, if the result is a question.
    pub fn question(&self) -> Option<ElicitParams> {
        let (_, request) = self.input_requests.iter().next()?;
        ElicitParams::from_raw(&request.get("params")?)
    }
}

/// A JSON-RPC message with an id, a method, parameters, a result or an error.
#[derive(Clone, Default, PartialEq, Wire)]
#[wire(fixed(jsonrpc = "2.0"))]
struct Envelope {
    id: Json,
    method: Option<String>,
    params: Json,
    result: Json,
    error: Json,
    unknown: Members,
}

impl Event {
    fn of(json: Json) -> Self {
        let Some(message) = Envelope::from_raw(&json) else {
            return Self::Other(json);
        };
        let id = message.id;
        match message.method.as_deref() {
            Some("notifications/progress") => ProgressNotification::from_raw(&message.params)
                .map_or_else(|| Self::Other(json), Self::Progress),
            Some("elicitation/create") => match ElicitParams::from_raw(&message.params) {
                Some(params) => Self::Question(Elicitation { id, params }),
                None => Self::Other(json),
            },
            Some(_) => Self::Other(json),
            None => {
                let result = CallToolResult::from_raw(&message.result);
                let error = ErrorObject::from_raw(&message.error);
                match (result, error) {
                    (_, Some(error)) => Self::Error(Failed { id, error }),
                    (Some(result), None) => Self::Result(CallResponse { id, result }),
                    (None, None) => Self::Other(json),
                }
            }
        }
    }
}

impl FrameEvent for Event {
    const TRUNCATED: &'static str = "the stream ended without the result";

    /// The last event contains the complete answer.
    const LIMIT: usize = 64 * 1024 * 1024;

    fn read(data: &str) -> Result<Option<Self>, EventError> {
        // An event that has only an id.
        if data.is_empty() {
            return Ok(None);
        }
        let json = Json::parse(Bytes::copy_from_slice(data.as_bytes()))?;
        Ok(Some(Self::of(json)))
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        let to = writer(out);
        match self {
            Self::Progress(progress) => request(to, None, "notifications/progress", progress),
            Self::Question(question) => {
                request(
                    to,
                    Some(&question.id),
                    "elicitation/create",
                    &question.params,
                );
            }
            Self::Result(answer) => object(to, |message| {
                message.str("jsonrpc", "2.0").raw("id", &answer.id);
                answer.result.write_to(message.member("result"));
            }),
            Self::Error(failed) => object(to, |message| {
                message.str("jsonrpc", "2.0");
                if !failed.id.is_null() {
                    message.raw("id", &failed.id);
                }
                failed.error.write_to(message.member("error"));
            }),
            Self::Other(json) => to.raw(json),
        }
    }

    fn is_last(&self) -> bool {
        matches!(self, Self::Result(_) | Self::Error(_))
    }
}

fn request(to: ValueWriter<'_>, id: Option<&Json>, method: &str, params: &impl Wire) {
    object(to, |message| {
        message
            .str("jsonrpc", "2.0")
            .opt_raw("id", id)
            .str("method", method);
        params.write_to(message.member("params"));
    });
}
