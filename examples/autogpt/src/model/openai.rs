use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Model, ModelError, ModelReply, ModelRequest};
use crate::command::{Kind, Spec};
use crate::http;
use crate::message::{Message, ToolCall};

/// The size limit of a response, in bytes.
const ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The base URL of an OpenAI-compatible server, and its key.
#[derive(Clone)]
#[non_exhaustive]
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
    /// [`ModelError::Unreachable`] if no HTTP client can be made.
    pub fn new(base: &str, key: Option<&str>, timeout: Duration) -> Result<Self, ModelError> {
        let client = http::client(timeout).map_err(|_| ModelError::Unreachable)?;
        Ok(Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            key: key.map(str::to_owned),
        })
    }

    /// Posts JSON and returns the JSON response.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ModelError> {
        let request = self.client.post(format!("{}/{path}", self.base)).json(body);
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let sent = request.send().await;
        let response = sent.map_err(|_| ModelError::Unreachable)?;
        let status = response.status();
        if status.as_u16() == 429 {
            let wait = response.headers().get("retry-after");
            // A date is legal too (RFC 9110, section 10.2.3). Servers of models send seconds;
            // without them the usual delay applies.
            let wait = wait.and_then(|value| value.to_str().ok()?.parse().ok());
            let wait = wait.map(Duration::from_secs);
            return Err(ModelError::Busy { wait });
        }
        if !status.is_success() {
            return Err(ModelError::Refused(status.as_u16()));
        }
        let body = http::body(response, ANSWER_BYTES).await;
        let body = body.map_err(|_| ModelError::Unreachable)?;
        serde_json::from_slice(&body).map_err(|_| ModelError::Unreadable)
    }
}

/// Omits the key, and secrets in the URL.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &http::redacted(&self.base))
            .finish_non_exhaustive()
    }
}

/// A chat model of an OpenAI-compatible server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenAiModel {
    endpoint: Endpoint,
    name: String,
}

impl OpenAiModel {
    /// Creates a model by its name.
    #[must_use]
    pub fn new(endpoint: Endpoint, name: &str) -> Self {
        Self {
            endpoint,
            name: name.to_owned(),
        }
    }
}

#[async_trait]
impl Model for OpenAiModel {
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let body = Body {
            model: &self.name,
            messages: request.messages.iter().map(wire_message).collect(),
            max_tokens: request.max_tokens,
            temperature: request.temperature,
            // The API rejects the member in a request without tools.
            parallel_tool_calls: (!request.tools.is_empty()).then_some(false),
            tools: request.tools.iter().map(wire_tool).collect(),
        };
        let answer: Answer = self.endpoint.post("chat/completions", &body).await?;
        let tokens = answer.usage.and_then(|usage| usage.total_tokens);
        let choice = answer.choices.into_iter().next();
        let message = choice.ok_or(ModelError::Unreadable)?.message;
        // Some servers ignore `parallel_tool_calls`: further calls are dropped, and the model
        // proposes them again.
        let call = message.tool_calls.into_iter().flatten().next();
        let call = call.map(|call| ToolCall {
            id: call.id,
            name: call.function.name,
            arguments: call.function.arguments,
        });
        Ok(ModelReply {
            text: message.content.unwrap_or_default(),
            call,
            tokens,
        })
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    /// Set to `false`: a step has one command.
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: WireMessage,
}

#[derive(Deserialize)]
struct WireMessage {
    content: Option<String>,
    tool_calls: Option<Vec<WireCall>>,
}

#[derive(Deserialize)]
struct WireCall {
    #[serde(default)]
    id: String,
    function: WireFunction,
}

#[derive(Deserialize)]
struct WireFunction {
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
}

fn wire_message(message: &Message) -> Value {
    let mut wire = json!({
        "role": message.role.as_str(),
        "content": message.content,
    });
    let Some(members) = wire.as_object_mut() else {
        return wire;
    };
    if let Some(call) = &message.call {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        let call = json!([{ "id": call.id, "type": "function", "function": function }]);
        members.insert("tool_calls".to_owned(), call);
    }
    if let Some(answers) = &message.answers {
        members.insert("tool_call_id".to_owned(), json!(answers));
    }
    wire
}

/// Returns the tool definition of a command.
pub(crate) fn wire_tool(spec: &Spec) -> Value {
    let properties = spec.parameters.iter().map(|parameter| {
        let kind = match parameter.kind {
            Kind::Text => "string",
            Kind::Key => "integer",
        };
        let schema = json!({ "type": kind, "description": parameter.hint });
        (parameter.name.to_owned(), schema)
    });
    let properties: serde_json::Map<String, Value> = properties.collect();
    let required: Vec<&str> = spec.parameters.iter().map(|p| p.name).collect();
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.label,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
            },
        },
    })
}
