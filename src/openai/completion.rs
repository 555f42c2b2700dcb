//! Complete completions: responses to requests without `stream`.

use std::borrow::Cow;

use super::{ChatMessage, FinishReason, Logprobs, ToolCall, Usage};
use crate::json::{List, Members, Wire, present};

/// A complete completion.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(fixed(object = "chat.completion", after = id), null_is_absent)]
pub struct ChatCompletion {
    /// The id of the completion.
    #[wire(always)]
    pub id: String,
    /// The creation time in seconds since 1970.
    #[wire(always)]
    pub created: u64,
    /// The name of the model.
    #[wire(always)]
    pub model: String,
    /// The choices.
    #[wire(always)]
    pub choices: List<CompletedChoice>,
    /// The usage.
    pub usage: Option<Usage>,
    /// The service tier of the request.
    pub service_tier: Option<String>,
    /// The configuration of the model.
    pub system_fingerprint: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A choice of a completion.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct CompletedChoice {
    /// The index of the choice, from 0.
    #[wire(always)]
    pub index: u32,
    /// The message.
    #[wire(always)]
    pub message: ChatMessage,
    /// The log probabilities of its tokens.
    #[wire(always)]
    pub logprobs: Option<Logprobs>,
    /// The finish reason; `None` if its stream was interrupted.
    #[wire(always, read = present)]
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ChatCompletion {
    /// Returns the message of the first choice.
    pub fn message(&self) -> Option<&ChatMessage> {
        self.choices.first().map(|choice| &choice.message)
    }

    /// Returns the text of the first choice.
    pub fn text(&self) -> Cow<'_, str> {
        self.message()
            .map(|it| it.content.text())
            .unwrap_or_default()
    }

    /// Returns the calls of the first choice.
    pub fn calls(&self) -> &[ToolCall] {
        self.message().map_or(&[], |message| &message.tool_calls)
    }
}
