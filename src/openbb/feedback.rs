//! Feedback of users on answers.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::json::{List, Members, Wire};
use crate::protocol::Refusal;

/// A vote on an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(empty)]
pub enum Vote {
    /// Thumbs up: the answer was good.
    ThumbsUp,
    /// Thumbs down: the answer was bad. At least one tag comes with it.
    ThumbsDown,
    /// A vote that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// A user's feedback on an answer: the body of `POST /v1/feedback`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Feedback {
    /// The vote.
    pub vote: Vote,
    /// The complaints, from a closed list of texts.
    pub tags: List<String>,
    /// The user's comment.
    pub user_comment: String,
    /// The answer that the user rated.
    pub ai_response: String,
    /// The message that the answer is about.
    pub user_prompt: String,
    /// The id of the chat: the member of the body, which is empty for custom agents, else the
    /// header `X-Trace-Id`.
    pub trace_id: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Feedback {
    /// Reads the body of a feedback request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] if the body is not a JSON object (400) or has no vote (422).
    pub(crate) fn read(headers: &HeaderMap, body: &Bytes) -> Result<Self, Refusal> {
        let unprocessable = |message| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message);
        let mut feedback =
            Self::parse_any(body)?.ok_or_else(|| unprocessable("must be an object"))?;
        if feedback.vote.is_absent() {
            return Err(unprocessable("must be thumbs_up or thumbs_down").at("vote"));
        }
        if feedback.trace_id.is_empty() {
            feedback.trace_id = super::trace_id(headers).unwrap_or_default().to_owned();
        }
        Ok(feedback)
    }
}
