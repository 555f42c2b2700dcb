//! A whole completion: the answer to a request without `stream`.

use super::{ChatMessage, FinishReason, Logprobs, ToolCall, Usage};
use crate::json::model::{model, present};
use crate::json::{List, Members};

/// A whole completion.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletion {
    /// The id of the completion.
    pub id: String,
    /// When it began, in seconds since 1970.
    pub created: u64,
    /// The model that answered.
    pub model: String,
    /// The answers.
    pub choices: List<CompletedChoice>,
    /// What they cost.
    pub usage: Option<Usage>,
    /// The configuration that the model ran with.
    pub system_fingerprint: Option<String>,
    /// How the request was served.
    pub service_tier: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CompletedChoice {
    /// Which of the choices.
    pub index: u32,
    /// The answer.
    pub message: ChatMessage,
    /// How likely its tokens were.
    pub logprobs: Option<Logprobs>,
    /// Why it ended; `None` when its stream was cut.
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
    /// The first answer.
    #[must_use]
    pub fn message(&self) -> Option<&ChatMessage> {
        self.choices.first().map(|choice| &choice.message)
    }

    /// The calls of the first answer.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.message().map_or(&[], |message| &message.tool_calls)
    }

    /// Whether every answer came to its end, and there is one.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut choices = self.choices.iter();
        !self.choices.is_empty() && choices.all(|choice| choice.finish_reason.is_some())
    }
}
