//! Chunks of streamed completions.

use super::{Delta, FinishReason, Logprobs, Usage};
use crate::json::{List, Members, Wire, present};

/// A chunk of a streamed completion.
///
/// Agents send chunks, and a client's decoder returns them. A reply writes its own `id`, `created`
/// and `model` instead of the chunk's, so that they are the same in all chunks.
///
/// ```
/// use copilot_wire::openai::{ChatCompletionChunk, Delta, Usage};
///
/// let text = ChatCompletionChunk::from(Delta::text("Hello"));
/// assert_eq!(text.text(), Some("Hello"));
/// let usage = ChatCompletionChunk::from(Usage::new(19, 10));
/// assert!(usage.choices.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(fixed(object = "chat.completion.chunk", after = id), null_is_absent, new = "Creates a chunk with additions to choices.")]
// The order is that of the official API. GitHub's SDK writes a short form without the members
// before the choices.
pub struct ChatCompletionChunk {
    /// The id of the completion.
    pub id: Option<String>,
    /// The creation time in seconds since 1970.
    pub created: Option<u64>,
    /// The name of the model.
    pub model: Option<String>,
    /// The service tier of the request.
    pub service_tier: Option<String>,
    /// The configuration of the model.
    pub system_fingerprint: Option<String>,
    /// The additions to the choices. Empty in the chunk with the usage; `null` is read as empty.
    #[wire(always, new)]
    pub choices: List<Choice>,
    /// The usage.
    pub usage: Option<Usage>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

from! {
    Delta => ChatCompletionChunk: |delta| Choice::new(0, delta).into(),
    Choice => ChatCompletionChunk: |choice| Self::new([choice]),
    Usage => ChatCompletionChunk: |usage| Self {
        usage: Some(usage),
        ..Self::default()
    },
}

/// An addition to one choice.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates an addition to a choice.")]
pub struct Choice {
    /// The index of the choice. Choices may be interleaved.
    #[wire(always, new)]
    pub index: u32,
    /// The piece of the message that this chunk adds.
    #[wire(always, new)]
    pub delta: Delta,
    /// The log probabilities of its tokens.
    #[wire(set = "Sets the log probabilities of the tokens.")]
    pub logprobs: Option<Logprobs>,
    /// The reason why the choice ended, in its last chunk. An empty text, which some servers send
    /// instead of `null`, is read as `None`.
    #[wire(always, read = present)]
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Choice {
    /// Sets the finish reason of the choice.
    #[must_use]
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }
}
