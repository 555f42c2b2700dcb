//! What happens in a stream, in either direction.

use crate::json::Json;

use super::{Append, Call, Failure, FinishReason, Progress, SearchFailure, Sources};

/// What happens in a stream, in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of a refusal: the model's own words for not answering.
    Refusal(String),
    /// A search begins.
    Progress(Progress),
    /// A message to keep for the next request.
    Append(Append),
    /// The documents that a search found.
    Sources(Sources),
    /// Something went wrong: about one search, and the answer goes on; or the end of it.
    Error(Failure),
    /// The model begins to speak anew, after a search. Nothing in the text separates the rounds:
    /// break the line where the text before did not.
    RoundBreak,
    /// The answer has ended, and why. Keep reading: the stream has not.
    Finish(FinishReason),
    /// The stream has ended as it should. That says nothing about the answer: see
    /// [`Outcome`](super::Outcome).
    Done,
    /// Something that this crate does not know.
    Unknown(Unknown),
}

/// Something in a stream that this crate does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// A call: a notification of another name, one whose arguments have another shape, or an
    /// ordinary function call. Complete, as far as it came.
    Call(Call),
    /// A frame, or a piece of one.
    Frame(Json),
}

/// What may be said in the course of a turn.
///
/// A notification is left out, like the server does, unless the request switched it on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Say {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of a refusal.
    Refusal(String),
    /// A search begins.
    Progress(Progress),
    /// A message to keep for the next request.
    Append(Append),
    /// The documents that a search found.
    Sources(Sources),
    /// A search failed and the answer goes on.
    SearchFailure(SearchFailure),
    /// The model speaks anew, after a search: the chunks that follow have another id.
    RoundBreak,
}

/// What ends a turn, other than its ordinary end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The answer ends for this reason.
    Finish(FinishReason),
    /// The answer failed. A failure of the kind [`Failure::SEARCH`], after which readers read on, is
    /// sent as a `server_error`.
    Failure(Failure),
}

impl From<Say> for Event {
    fn from(say: Say) -> Self {
        match say {
            Say::Text(text) => Self::Text(text),
            Say::Refusal(text) => Self::Refusal(text),
            Say::Progress(progress) => Self::Progress(progress),
            Say::Append(append) => Self::Append(append),
            Say::Sources(sources) => Self::Sources(sources),
            Say::SearchFailure(failure) => Self::Error(failure.into()),
            Say::RoundBreak => Self::RoundBreak,
        }
    }
}

impl From<Ending> for Event {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Finish(reason) => Self::Finish(reason),
            Ending::Failure(mut failure) => {
                if !failure.is_terminal() {
                    failure.kind = "server_error".into();
                }
                Self::Error(failure)
            }
        }
    }
}

impl From<Progress> for Say {
    fn from(progress: Progress) -> Self {
        Self::Progress(progress)
    }
}

impl From<Append> for Say {
    fn from(append: Append) -> Self {
        Self::Append(append)
    }
}

impl From<Sources> for Say {
    fn from(sources: Sources) -> Self {
        Self::Sources(sources)
    }
}

impl From<SearchFailure> for Say {
    fn from(failure: SearchFailure) -> Self {
        Self::SearchFailure(failure)
    }
}

impl From<FinishReason> for Ending {
    fn from(reason: FinishReason) -> Self {
        Self::Finish(reason)
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
