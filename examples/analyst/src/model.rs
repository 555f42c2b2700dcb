//! Any model behind an OpenAI-compatible endpoint.

use std::error::Error;
use std::fmt;

use copilot_wire::Reply;
use copilot_wire::json::Json;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::sse::{Decoder, Frame};
use futures_util::StreamExt;
use serde_json::json;

/// A model behind an OpenAI-compatible endpoint.
pub struct Model {
    client: reqwest::Client,
    url: String,
    key: Option<String>,
    name: String,
}

impl Model {
    /// The model of `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`, if the first is set.
    ///
    /// # Errors
    ///
    /// When the HTTP client cannot be set up.
    pub fn from_env() -> Result<Option<Self>, Box<dyn Error>> {
        let variable = |name| {
            std::env::var(name)
                .ok()
                .filter(|value: &String| !value.is_empty())
        };
        let Some(base) = variable("OPENAI_BASE_URL") else {
            return Ok(None);
        };
        // A second installation in one process is refused and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Some(Self {
            client: reqwest::Client::builder().build()?,
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            key: variable("OPENAI_API_KEY"),
            name: variable("OPENAI_MODEL").unwrap_or_else(|| "gpt-4o-mini".into()),
        }))
    }

    /// Hands the conversation to the model and its words to the reply.
    pub(crate) async fn answer<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        reply: &Reply<P>,
    ) -> Result<(), AgentError> {
        let messages: Vec<_> = conversation
            .messages()
            .map(|message| json!({"role": message.role.as_str(), "content": message.text}))
            .collect();
        let body = json!({"model": self.name, "stream": true, "messages": messages}).to_string();
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.body(body).send().await?.error_for_status()?;

        let mut decoder = Decoder::new();
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk?;
            let mut input = &*chunk;
            while let Some(frame) = decoder.next(&mut input)? {
                let Frame::Event(event) = frame else { continue };
                if event.data() == "[DONE]" {
                    return Ok(());
                }
                if let Some(text) = delta(event.data())? {
                    reply.text(&text).await?;
                }
            }
        }
        Err(AgentError::new(
            "The model stopped in the middle of its answer.",
        ))
    }
}

/// The text that a chunk adds.
fn delta(data: &str) -> Result<Option<String>, AgentError> {
    let chunk = Json::parse(data.as_bytes().to_vec())?;
    if chunk.get("error").is_some() {
        return Err(AgentError::new("The model reported an error."));
    }
    let choice = chunk
        .get("choices")
        .and_then(|choices| choices.elements().next());
    let content = choice.and_then(|choice| choice.get("delta")?.get("content"));
    Ok(content.and_then(|content| content.string().map(Into::into)))
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("url", &self.url)
            .field("name", &self.name)
            .finish()
    }
}
