//! Emulated front ends: the requests of a conversation, and how the answers are read.

use bytes::Bytes;
use serde::Serialize;

use super::effect::Effect;
use copilot_wire::json::{Json, WriteError};
use copilot_wire::protocol::{Confirmation, EventError, Protocol, ToolCall, find_question};

/// An emulated front end, which stores the conversation as the real one does.
///
/// The steps of a turn: call [`prompt`](Self::prompt), send the [`request`](Self::request), pass the
/// body to [`decode`](Self::decode) in pieces and every event to [`receive`](Self::receive), and call
/// [`next`](Self::next) at the end of the body. [`Harness`](super::Harness) does this in process.
pub trait FrontEnd: Send {
    /// The protocol.
    type Protocol: Protocol;

    /// The default path of the requests, with parameters such as `{name}`.
    const PATH: &'static str;

    /// Adds a message of the user.
    fn prompt(&mut self, text: &str);

    /// Returns the next request: a `POST` to [`PATH`](Self::PATH).
    fn request(&self) -> http::Request<Bytes>;

    /// Decodes the next event of `input` and advances `input` past it. Returns `None` when `input` is consumed.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream cannot be read any further; any other error concerns one
    /// event, and the next call continues after it.
    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<EventOf<Self>>, EventError>;

    /// Processes an event and returns its effects on the user, if any.
    fn receive(&mut self, event: &EventOf<Self>) -> Vec<Effect>;

    /// Ends the turn at the end of the body, and returns what the front end does next.
    fn next(&mut self) -> Next;

    /// Returns the result of a call that this front end can run by itself, else `None`, which is the default.
    fn own_answer(&self, call: &ToolCall) -> Option<ToolOutcome> {
        let _ = call;
        None
    }

    /// Answers the calls of the turn, in their order.
    fn answer(&mut self, answers: Vec<ToolOutcome>);

    /// Answers the question of the turn, which [`next`](Self::next) has returned: in a dialog, or with a message as
    /// the user would type it.
    fn decide(&mut self, question: &Confirmation, accepted: bool) {
        self.prompt(typed_answer(question, accepted));
    }
}

/// The event of a front end's protocol.
pub type EventOf<F> = <<F as FrontEnd>::Protocol as Protocol>::Event;

/// The next action of a front end, at the end of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// The front end waits for the user.
    #[default]
    Nothing,
    /// The front end makes these calls and sends their results.
    Calls(Vec<ToolCall>),
    /// The front end waits for a yes or no. If the question is part of the text, its title and message are empty, and
    /// its answers are what the user would type to agree and to refuse.
    Question(Confirmation),
    /// The front end shows a failure: the stream did not end as the protocol requires.
    Broken(&'static str),
}

impl Next {
    /// Returns the calls. Empty for every other action.
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Calls(calls) => calls,
            _ => &[],
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// The result as JSON.
    Data(Json),
    /// The result as text.
    Text(String),
    /// The error of a failed call.
    Failed(String),
    /// The result as JSON that is already in the form of the protocol.
    Raw(Json),
}

impl ToolOutcome {
    /// Creates a result from a value that serializes.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when it does not serialize.
    pub fn data<T: Serialize + ?Sized>(data: &T) -> Result<Self, WriteError> {
        Json::encode(data).map(Self::Data)
    }

    /// Creates a result that is text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates the result of a failed call.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// Returns the result as a model reads it.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Data(json) | Self::Raw(json) => json.text().to_owned(),
            Self::Text(text) => text,
            // Protocols without a flag for failures report a failure in the text only.
            Self::Failed(why) => format!("error: {why}"),
        }
    }
}

/// The default id of a conversation.
pub const CONVERSATION: &str = "00000000-0000-4000-8000-000000000001";

/// Creates a `POST` request with a JSON body. The path is `/` if `path` is not valid.
pub fn post(path: &str, body: impl Into<Bytes>) -> http::Request<Bytes> {
    let mut request = http::Request::new(body.into());
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = path.parse().unwrap_or_default();
    let json = http::HeaderValue::from_static("application/json");
    let headers = request.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, json);
    request
}

/// Returns the question at the end of `text`, if any: its id, and the answers that the user would type to agree and to
/// refuse.
pub fn question(text: &str) -> Option<Confirmation> {
    let (id, code) = find_question(text)?;
    Some(Confirmation::new(id, "", "").answers([format!("yes {code}"), "no".to_owned()]))
}

/// Returns what the user would type to answer a question in text.
pub(crate) fn typed_answer(question: &Confirmation, accepted: bool) -> &str {
    match (accepted, question.answers.as_slice()) {
        (true, [yes, ..]) => yes,
        (true, []) => "yes",
        (false, _) => "no",
    }
}

/// A [`FrontEnd`] of any protocol, as a trait object.
pub trait AnyFrontEnd: Send {
    /// Adds a message of the user, see [`FrontEnd::prompt`].
    fn prompt(&mut self, text: &str);

    /// Returns the next request, see [`FrontEnd::request`].
    fn request(&self) -> http::Request<Bytes>;

    /// Decodes the next event of `input` and returns its effects on the user. `None` when `input` is consumed.
    ///
    /// # Errors
    ///
    /// As for [`FrontEnd::decode`].
    fn read(&mut self, input: &mut &[u8]) -> Result<Option<Vec<Effect>>, EventError>;

    /// Ends the turn, see [`FrontEnd::next`].
    fn next(&mut self) -> Next;

    /// Returns the result of a call, see [`FrontEnd::own_answer`].
    fn own_answer(&self, call: &ToolCall) -> Option<ToolOutcome>;

    /// Answers the calls of the turn, see [`FrontEnd::answer`].
    fn answer(&mut self, answers: Vec<ToolOutcome>);

    /// Answers the question of the turn, see [`FrontEnd::decide`].
    fn decide(&mut self, question: &Confirmation, accepted: bool);
}

impl<F: FrontEnd> AnyFrontEnd for F {
    fn prompt(&mut self, text: &str) {
        FrontEnd::prompt(self, text);
    }

    fn request(&self) -> http::Request<Bytes> {
        FrontEnd::request(self)
    }

    fn read(&mut self, input: &mut &[u8]) -> Result<Option<Vec<Effect>>, EventError> {
        let event = self.decode(input)?;
        Ok(event.map(|event| self.receive(&event)))
    }

    fn next(&mut self) -> Next {
        FrontEnd::next(self)
    }

    fn own_answer(&self, call: &ToolCall) -> Option<ToolOutcome> {
        FrontEnd::own_answer(self, call)
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        FrontEnd::answer(self, answers);
    }

    fn decide(&mut self, question: &Confirmation, accepted: bool) {
        FrontEnd::decide(self, question, accepted);
    }
}
