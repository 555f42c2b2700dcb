//! One chunk of a streamed completion.

use super::{Delta, FinishReason, Logprobs, Usage};
use crate::json::model::{model, present};
use crate::json::{List, Members};

/// One chunk of a streamed completion.
///
/// It is what an agent sends and what a client's decoder hands out. In a reply the reply's own
/// `id`, `created` and `model` are written, whatever the chunk says, so that they stay the same
/// from the first chunk to the last.
///
/// ```
/// use copilot_wire::openai::{ChatCompletionChunk, Delta, Usage};
///
/// let text = ChatCompletionChunk::from(Delta::text("Hello"));
/// assert_eq!(text.text(), Some("Hello"));
/// let usage = ChatCompletionChunk::from(Usage::new(19, 10));
/// assert!(usage.choices.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletionChunk {
    /// The id of the completion.
    pub id: Option<String>,
    /// When it began, in seconds since 1970.
    pub created: Option<u64>,
    /// The model that answers.
    pub model: Option<String>,
    /// What is added to each choice. Empty in the chunk with the usage; `null` is read as empty.
    pub choices: List<Choice>,
    /// What the answer cost.
    pub usage: Option<Usage>,
    /// The configuration that the model ran with.
    pub system_fingerprint: Option<String>,
    /// How the request was served.
    pub service_tier: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

// The order of the official API. GitHub's SDK writes a short form without all that stands before
// the choices.
model!(ChatCompletionChunk, null: absent {
    id: "id",
    "object" = "chat.completion.chunk",
    created: "created",
    model: "model",
    service_tier: "service_tier",
    system_fingerprint: "system_fingerprint",
    choices: "choices" always,
    usage: "usage",
});

impl ChatCompletionChunk {
    /// A chunk that adds to choices.
    #[must_use]
    pub fn new(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self {
            choices: choices.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The piece of the answer that it adds to the first choice.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let mut choices = self.choices.iter();
        choices
            .find(|choice| choice.index == 0)?
            .delta
            .content
            .as_deref()
    }
}

impl From<Delta> for ChatCompletionChunk {
    fn from(delta: Delta) -> Self {
        Choice::new(0, delta).into()
    }
}

impl From<Choice> for ChatCompletionChunk {
    fn from(choice: Choice) -> Self {
        Self::new([choice])
    }
}

impl From<Usage> for ChatCompletionChunk {
    fn from(usage: Usage) -> Self {
        Self {
            usage: Some(usage),
            ..Self::default()
        }
    }
}

/// What a chunk adds to one choice.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Which of the choices; they may be interleaved.
    pub index: u32,
    /// What is added.
    pub delta: Delta,
    /// How likely its tokens were.
    pub logprobs: Option<Logprobs>,
    /// Why the choice ended, in its last chunk. The empty text that some servers send where `null`
    /// belongs is read as none.
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Choice, null: absent {
    index: "index" always,
    delta: "delta" always,
    logprobs: "logprobs",
    finish_reason: "finish_reason" always => present,
});

impl Choice {
    /// An addition to a choice.
    #[must_use]
    pub fn new(index: u32, delta: Delta) -> Self {
        Self {
            index,
            delta,
            ..Self::default()
        }
    }

    /// Ends the choice.
    #[must_use]
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }

    /// Says how likely the tokens were.
    #[must_use]
    pub fn logprobs(mut self, logprobs: Logprobs) -> Self {
        self.logprobs = Some(logprobs);
        self
    }
}
