//! The events of a stream, for writing and reading.

use crate::json::Json;

use super::{Append, Provider, SearchFailure, SearchProgress, Sources, StreamError, ToolCall};
use crate::openai::FinishReason;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of a refusal: the text with which the model declines.
    Refusal(String),
    /// The start of a search.
    Progress(SearchProgress),
    /// A message to add to the history.
    Append(Append),
    /// The documents that a search found.
    Sources(Sources),
    /// An error: of one search, after which the answer continues, or of the complete answer.
    Error(StreamError),
    /// The start of the model's next round, after a search. The text has no separator between
    /// rounds; [`History::apply`](super::History::apply) returns it with one.
    RoundBreak,
    /// The provider's statements about its service, for this and later chunks. Reported at each
    /// change; at the start of a stream both are absent.
    Provider(Provider),
    /// The probabilities of the tokens of the text before, an object.
    Logprobs(Json),
    /// The end of the answer, with its reason. The stream continues until [`Done`](Self::Done).
    Finish(FinishReason),
    /// The regular end of the stream. The result of the answer is in [`StreamOutcome`](super::StreamOutcome).
    Done,
    /// An event that this crate does not know.
    Unknown(Unknown),
}

/// An event that this crate does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// A call: a notification with an unknown name or with invalid arguments, or a function call.
    /// It is complete if the stream was.
    Call(ToolCall),
    /// A frame, or a part of one.
    Frame(Json),
}

/// An event that does not end the turn.
///
/// A notification is not sent unless the request switched it on; the server does the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of a refusal.
    Refusal(String),
    /// The start of a search.
    Progress(SearchProgress),
    /// A message to add to the history.
    Append(Append),
    /// The documents that a search found.
    Sources(Sources),
    /// The failure of a search, after which the answer continues.
    SearchFailure(SearchFailure),
    /// The start of the model's next round, after a search: later chunks have another id.
    RoundBreak,
    /// The provider's statements about its service, for later chunks.
    Provider(Provider),
    /// The probabilities of the tokens of the text before, an object.
    Logprobs(Json),
    /// A call that this crate does not know, such as a notification of a later server. It is sent
    /// unconditionally.
    Call(ToolCall),
}

/// The end of a turn, other than the regular one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The answer ends for this reason.
    Finish(FinishReason),
    /// The answer failed. A failure of the kind [`StreamError::SEARCH`], which clients do not treat as
    /// the end, is sent as a `server_error`.
    Failure(StreamError),
}

crate::from_values!(Output { Progress(SearchProgress), Append(Append), Sources(Sources), Provider(Provider), SearchFailure(SearchFailure) });

crate::from_values!(Ending { Finish(FinishReason), Failure(StreamError) });
