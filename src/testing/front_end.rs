//! The front end's part of a conversation: the next request, and what is read in the answer.

use bytes::Bytes;
use serde::Serialize;

use super::heard::Heard;
use crate::json::{Json, WriteError};
use crate::protocol::{Confirmation, EventError, Protocol, ToolCall};

/// A front end that is played: it keeps the conversation as the real one would.
///
/// One turn goes round like this: [`say`](Self::say), send the [`request`](Self::request), hand the
/// body to [`decode`](Self::decode) piece by piece and every event to [`hear`](Self::hear), and ask
/// for [`next`](Self::next) where the body ends. [`Stage`](super::Stage) does so in process.
pub trait FrontEnd: Send {
    /// What it speaks.
    type Protocol: Protocol;

    /// Where its requests go by default; a parameter is like `{name}`.
    const PATH: &'static str;

    /// The user says something.
    fn say(&mut self, text: &str);

    /// The request that is due now: a `POST` to [`PATH`](Self::PATH).
    fn request(&self) -> http::Request<Bytes>;

    /// Takes the next event out of `input` and advances it. `None`: `input` is used up.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream cannot be read on; any other error is about one
    /// event, and the next call goes on behind it.
    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<EventOf<Self>>, EventError>;

    /// Takes an event in, and says what the user perceives of it.
    fn hear(&mut self, event: &EventOf<Self>) -> Vec<Heard>;

    /// Ends the turn, where the body has ended: what the front end does next.
    fn next(&mut self) -> Next;

    /// The answer to a call that this front end gives by itself. None by default.
    fn own_answer(&self, call: &ToolCall) -> Option<Answer> {
        let _ = call;
        None
    }

    /// Answers the calls of the turn, in their order.
    fn answer(&mut self, answers: Vec<Answer>);

    /// Answers the question of the turn.
    fn decide(&mut self, accepted: bool);
}

/// The event of a front end's protocol.
pub type EventOf<F> = <<F as FrontEnd>::Protocol as Protocol>::Event;

/// What a front end does when a turn has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// It waits for the user.
    #[default]
    Nothing,
    /// It makes these calls and sends their results.
    Calls(Vec<ToolCall>),
    /// It waits for a yes or no. Title and message are empty where the text of the answer asks.
    Question(Confirmation),
    /// It shows a failure: the stream did not end as it must.
    Broken(&'static str),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// Data.
    Data(Json),
    /// A text.
    Text(String),
    /// The call failed, and why.
    Failed(String),
    /// The result as it is on the wire.
    Raw(Json),
}

impl Answer {
    /// Data, of anything that serialises.
    ///
    /// # Errors
    ///
    /// When it cannot be JSON.
    pub fn data<T: Serialize + ?Sized>(data: &T) -> Result<Self, WriteError> {
        Json::encode(data).map(Self::Data)
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A failure.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// Returns the result as a model reads it.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Data(json) | Self::Raw(json) => json.text().to_owned(),
            Self::Text(text) => text,
            Self::Failed(why) => format!("error: {why}"),
        }
    }
}

/// The id of a conversation that was given no other.
pub const CONVERSATION: &str = "00000000-0000-4000-8000-000000000001";

/// Creates a `POST` request with a JSON body.
pub fn post(path: &str, body: impl Into<Bytes>) -> http::Request<Bytes> {
    let mut request = http::Request::new(body.into());
    *request.method_mut() = http::Method::POST;
    // A path of ASCII segments always is one.
    *request.uri_mut() = path.parse().unwrap_or_default();
    request.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    );
    request
}

/// Returns the yes-or-no question that `text` ends with.
#[must_use]
pub fn question(text: &str) -> Option<Confirmation> {
    let decision = crate::protocol::markdown::decision(text, "yes")?;
    Some(Confirmation::new(decision.id, "", ""))
}

/// A [`FrontEnd`] of any protocol, as an object.
pub trait AnyFrontEnd: Send {
    /// Does what [`FrontEnd::say`] does.
    fn say(&mut self, text: &str);

    /// Returns the request that is due now, as [`FrontEnd::request`] does.
    fn request(&self) -> http::Request<Bytes>;

    /// Decodes the next event of `input` and returns what the user perceives of it. `None`: `input`
    /// is used up.
    ///
    /// # Errors
    ///
    /// As for [`FrontEnd::decode`].
    fn read(&mut self, input: &mut &[u8]) -> Result<Option<Vec<Heard>>, EventError>;

    /// Does what [`FrontEnd::next`] does.
    fn next(&mut self) -> Next;

    /// Returns what [`FrontEnd::own_answer`] returns.
    fn own_answer(&self, call: &ToolCall) -> Option<Answer>;

    /// Does what [`FrontEnd::answer`] does.
    fn answer(&mut self, answers: Vec<Answer>);

    /// Does what [`FrontEnd::decide`] does.
    fn decide(&mut self, accepted: bool);
}

impl<F: FrontEnd> AnyFrontEnd for F {
    fn say(&mut self, text: &str) {
        FrontEnd::say(self, text);
    }

    fn request(&self) -> http::Request<Bytes> {
        FrontEnd::request(self)
    }

    fn read(&mut self, input: &mut &[u8]) -> Result<Option<Vec<Heard>>, EventError> {
        let event = self.decode(input)?;
        Ok(event.map(|event| self.hear(&event)))
    }

    fn next(&mut self) -> Next {
        FrontEnd::next(self)
    }

    fn own_answer(&self, call: &ToolCall) -> Option<Answer> {
        FrontEnd::own_answer(self, call)
    }

    fn answer(&mut self, answers: Vec<Answer>) {
        FrontEnd::answer(self, answers);
    }

    fn decide(&mut self, accepted: bool) {
        FrontEnd::decide(self, accepted);
    }
}
