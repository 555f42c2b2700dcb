//! Chat models.

mod demo;
mod openai;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use copilot_wire::protocol::{AgentError, ModelFault};
use serde::{Deserialize, Serialize};

use crate::agent_loop::message::{Message, ToolCall};
use crate::commands::Spec;

pub use demo::DemoModel;
pub(crate) use openai::wire_tool;
pub use openai::{Endpoint, OpenAiModel};

/// A chat model.
#[async_trait]
pub trait Model: Send + Sync + fmt::Debug {
    /// Returns the reply to a chat.
    ///
    /// # Errors
    ///
    /// [`ModelError`], which knows whether a retry may succeed.
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError>;
}

/// A request to a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The messages.
    pub messages: Vec<Message>,
    /// The token limit of the reply.
    pub max_tokens: Option<u32>,
    /// The temperature: 0 for repairs, unset otherwise.
    pub temperature: Option<f32>,
    /// The tools that the model may call.
    pub tools: Vec<Spec>,
}

impl ModelRequest {
    /// Creates a request without tools, limit and temperature.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            max_tokens: None,
            temperature: None,
            tools: Vec::new(),
        }
    }

    /// Sets the token limit of the reply.
    #[must_use]
    pub fn with_max_tokens(self, max_tokens: u32) -> Self {
        let max_tokens = Some(max_tokens);
        Self { max_tokens, ..self }
    }
}

/// The reply of a chat model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Its text.
    pub text: String,
    /// The first native tool call.
    pub call: Option<ToolCall>,
    /// The tokens of request and reply, if the server reports them.
    pub tokens: Option<u64>,
}

impl ModelReply {
    /// Creates a reply of text.
    pub fn text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Creates a reply with a tool call.
    pub fn call(text: &str, call: ToolCall) -> Self {
        Self {
            call: Some(call),
            ..Self::text(text)
        }
    }
}

/// An error of a chat model.
///
/// Displays the sentence for the user, which contains neither addresses nor keys.
#[derive(Debug, thiserror::Error)]
#[error("{}", failure.message())]
pub struct ModelError {
    /// The failure.
    pub failure: AgentError,
    /// The time after which a busy server may be asked again
    /// ([`retry_after`](copilot_wire::models::retry_after)). `None` for other failures, and if a retry makes no sense.
    pub wait: Option<Duration>,
}

impl ModelError {
    /// Returns `true` if a retry may succeed.
    pub fn is_temporary(&self) -> bool {
        use ModelFault::{Failed, NoAnswer, Truncated};
        let class = self.failure.class();
        let faults = [Failed, NoAnswer, Truncated];
        self.wait.is_some() || faults.iter().any(|fault| fault.as_str() == class)
    }
}

impl From<AgentError> for ModelError {
    fn from(failure: AgentError) -> Self {
        let wait = None;
        Self { failure, wait }
    }
}

impl From<ModelFault> for ModelError {
    fn from(fault: ModelFault) -> Self {
        AgentError::from(fault).into()
    }
}
