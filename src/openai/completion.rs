//! Complete completions: responses to requests without `stream`.

use super::{ChatMessage, FinishReason, Logprobs, ToolCall, Usage};
use crate::json::model::{model, present};
use crate::json::{List, Members};

/// A complete completion.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletion {
    /// The id of the completion.
    pub id: String,
    /// The creation time in seconds since 1970.
    pub created: u64,
    /// The name of the model.
    pub model: String,
    /// The choices.
    pub choices: List<CompletedChoice>,
    /// The usage.
    pub usage: Option<Usage>,
    /// The configuration of the model.
    pub system_fingerprint: Option<String>,
    /// The service tier of the request.
    pub service_tier: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A choice of a completion.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CompletedChoice {
    /// The index of the choice, from 0.
    pub index: u32,
    /// The message.
    pub message: ChatMessage,
    /// The log probabilities of its tokens.
    pub logprobs: Option<Logprobs>,
    /// The finish reason; `None` if its stream was interrupted.
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ChatCompletion, null: absent {
    id: "id" always,
    "object" = "chat.completion",
    created: "created" always,
    model: "model" always,
    choices: "choices" always,
    usage: "usage",
    service_tier: "service_tier",
    system_fingerprint: "system_fingerprint",
});

model!(CompletedChoice, null: absent {
    index: "index" always,
    message: "message" always,
    logprobs: "logprobs" always,
    finish_reason: "finish_reason" always => present,
});

impl ChatCompletion {
    /// Returns the message of the first choice.
    #[must_use]
    pub fn message(&self) -> Option<&ChatMessage> {
        self.choices.first().map(|choice| &choice.message)
    }

    /// Returns the calls of the first choice.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.message().map_or(&[], |message| &message.tool_calls)
    }

    /// Returns `true` if there is at least one choice and all of them are complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut choices = self.choices.iter();
        !self.choices.is_empty() && choices.all(|choice| choice.finish_reason.is_some())
    }
}
