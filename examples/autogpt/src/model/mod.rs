//! The chat model, behind a trait.

mod demo;
mod openai;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::command::Spec;
use crate::message::{Message, ToolCall};

pub use demo::DemoModel;
pub(crate) use openai::wire_tool;
pub use openai::{Endpoint, OpenAiModel};

/// A chat model.
#[async_trait]
pub trait Model: Send + Sync + fmt::Debug {
    /// Answers a chat.
    ///
    /// # Errors
    ///
    /// [`ModelError`], which says whether another try may help.
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError>;
}

/// A chat that a model is to answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The chat.
    pub messages: Vec<Message>,
    /// The longest reply, in tokens.
    pub max_tokens: Option<u32>,
    /// 0 for repairs; not set otherwise.
    pub temperature: Option<f32>,
    /// The tools that the model may call.
    pub tools: Vec<Spec>,
}

impl ModelRequest {
    /// A chat without tools, limits and temperature.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            max_tokens: None,
            temperature: None,
            tools: Vec::new(),
        }
    }

    /// The same with a limit of the reply.
    #[must_use]
    pub fn with_max_tokens(self, max_tokens: u32) -> Self {
        let max_tokens = Some(max_tokens);
        Self { max_tokens, ..self }
    }
}

/// A model's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelReply {
    /// Its text.
    pub text: String,
    /// Its first native tool call.
    pub call: Option<ToolCall>,
    /// The tokens of request and reply, if the server said so.
    pub tokens: Option<u64>,
}

impl ModelReply {
    /// An answer of text alone.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// An answer that calls a tool.
    #[must_use]
    pub fn call(text: &str, call: ToolCall) -> Self {
        Self {
            call: Some(call),
            ..Self::text(text)
        }
    }
}

/// A model that did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server asks to wait.
    #[error("the model is busy")]
    Busy {
        /// For how long, if it said so.
        wait: Option<Duration>,
    },
    /// The server could not be reached, or the connection broke.
    #[error("the model could not be reached")]
    Unreachable,
    /// The server refused the request.
    #[error("the model refused the request with status {0}")]
    Refused(u16),
    /// The answer is not in the form of the protocol.
    #[error("the model's answer could not be read")]
    Unreadable,
}

impl ModelError {
    /// Whether the same request may be answered later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Unreachable => true,
            Self::Refused(status) => *status >= 500,
            Self::Unreadable => false,
        }
    }
}
