//! Models of OpenAI-compatible servers.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use copilot_wire::json::{Json, WriteError};
use copilot_wire::models::{self, Prompt as _, Relay, refused, retry_after};
use copilot_wire::openai::{self, ChatMessage, ChatRequest, Function, OpenAi, Tool};
use copilot_wire::protocol::{AgentError, Completion, ModelFault, RedactedUrl};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Response};
use serde_json::{Map, json};

use super::{Model, ModelError, ModelReply, ModelRequest};
use crate::agent_loop::message::{Message, ToolCall};
use crate::commands::{Kind, Spec};
use crate::http;

/// The size limit of an error document, in bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// The base URL of an OpenAI-compatible server, and its key.
#[derive(Clone)]
pub struct Endpoint {
    client: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl Endpoint {
    /// Creates an endpoint from a base URL such as `https://api.openai.com/v1`.
    ///
    /// # Errors
    ///
    /// [`ModelError`] if no HTTP client can be made.
    pub fn new(base: &str, key: Option<&str>, timeout: Duration) -> Result<Self, ModelError> {
        Ok(Self {
            client: http::client(timeout).map_err(no_answer)?,
            base: base.trim_end_matches('/').to_owned(),
            key: key.map(str::to_owned),
        })
    }

    /// Sends JSON by `POST`, and returns the response if its status is a success.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: impl Into<Body>,
    ) -> Result<Response, ModelError> {
        let request = self
            .client
            .post(format!("{}/{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await.map_err(no_answer)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let wait = retry_after(status, &headers, 0);
        let body = http::body(response, ERROR_BYTES).await.unwrap_or_default();
        let failure = refused::<OpenAi>(status, &headers, &body);
        Err(ModelError { failure, wait })
    }
}

/// Converts an error of the HTTP client, and drops its text, which may contain the URL.
fn no_answer(_: reqwest::Error) -> AgentError {
    ModelFault::NoAnswer.into()
}

/// Omits the key, and secrets in the URL.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &RedactedUrl(&self.base))
            .finish_non_exhaustive()
    }
}

/// A chat model of an OpenAI-compatible server.
#[derive(Clone, Debug)]
pub struct OpenAiModel {
    endpoint: Endpoint,
    name: String,
}

impl OpenAiModel {
    /// Creates a model by its name.
    pub fn new(endpoint: Endpoint, name: &str) -> Self {
        Self {
            endpoint,
            name: name.to_owned(),
        }
    }

    fn prompt(&self, request: &ModelRequest) -> Result<ChatRequest, WriteError> {
        let messages: Vec<_> = request.messages.iter().map(wire_message).collect();
        let mut prompt = ChatRequest::new(&self.name, messages);
        if let Some(tokens) = request.max_tokens {
            prompt = prompt.with("max_tokens", &tokens)?;
        }
        if let Some(temperature) = request.temperature {
            prompt = prompt.with("temperature", &temperature)?;
        }
        if request.tools.is_empty() {
            // The API rejects `parallel_tool_calls` in a request without tools.
            return Ok(prompt);
        }
        // A step has one command.
        prompt
            .offer(request.tools.iter().map(wire_tool))
            .with("parallel_tool_calls", &false)
    }
}

#[async_trait]
impl Model for OpenAiModel {
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut prompt = self.prompt(request).map_err(AgentError::from)?;
        let body = prompt.body(true);
        let mut wait = None;
        let call = async {
            let response = self.endpoint.post("chat/completions", body).await;
            let mut response = response.map_err(|error| {
                wait = error.wait;
                error.failure
            })?;
            let mut relay = Relay::<OpenAi>::new();
            // Read to the end, because the usage follows the text.
            while let Some(bytes) = response.chunk().await.map_err(no_answer)? {
                relay.read(&bytes)?;
            }
            Ok(relay.finish()?)
        };
        let answer = models::chat::<OpenAi, _, _>(&mut prompt, call).await;
        let answer = answer.map_err(|failure| ModelError { failure, wait })?;
        Ok(reply(&answer))
    }
}

fn reply(answer: &Completion) -> ModelReply {
    let message = ChatMessage::from(answer);
    // Some servers ignore `parallel_tool_calls`: further calls are dropped, and the model proposes them again.
    let call = message.tool_calls.first();
    ModelReply {
        text: answer.text().to_owned(),
        call: call.map(|it| ToolCall::new(&it.id, &it.function.name, &it.function.arguments)),
        tokens: answer.usage().map(|usage| usage.total_tokens()),
    }
}

fn wire_message(message: &Message) -> ChatMessage {
    let mut wire = ChatMessage::new(message.role.as_str(), &*message.content);
    wire.tool_call_id.clone_from(&message.answers);
    wire.tool_calls = message.call.iter().map(wire_call).collect();
    wire
}

fn wire_call(call: &ToolCall) -> openai::ToolCall {
    let mut wire = openai::ToolCall::default();
    wire.id.clone_from(&call.id);
    wire.function.name.clone_from(&call.name);
    wire.function.arguments.clone_from(&call.arguments);
    wire
}

/// Returns the tool definition of a command.
pub(crate) fn wire_tool(spec: &Spec) -> Tool {
    let properties = spec.parameters.iter().map(|parameter| {
        let kind = match parameter.kind {
            Kind::Text => "string",
            Kind::Key => "integer",
        };
        let schema = json!({ "type": kind, "description": parameter.hint });
        (parameter.name.to_owned(), schema)
    });
    let properties: Map<_, _> = properties.collect();
    let required: Vec<&str> = spec.parameters.iter().map(|p| p.name).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    // A value of `serde_json` can always be written.
    let schema = Json::encode(&schema).unwrap_or_default();
    Function::new(spec.name, spec.label.to_owned())
        .parameters(schema)
        .into()
}
