//! async-openai. Its feature `byot` lets it send and read the models of copilot-wire, which keep what
//! other servers than OpenAI's add, such as reasoning.

use std::pin::Pin;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use copilot_wire::openai::{ChatCompletionChunk, ChatRequest, OpenAi};
use copilot_wire::protocol::{AgentError, Completion, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures_util::{Stream, StreamExt};

type Chunks = Pin<Box<dyn Stream<Item = Result<ChatCompletionChunk, OpenAIError>> + Send>>;

/// Asks a model through async-openai.
pub struct AsyncOpenAiAgent {
    client: Client<OpenAIConfig>,
    model: String,
}

impl AsyncOpenAiAgent {
    /// Creates an agent on the model `model` of the endpoint at `base`.
    #[must_use]
    pub fn new(base: &str, model: &str) -> Self {
        let config = OpenAIConfig::new().with_api_base(base).with_api_key("none");
        Self {
            client: Client::with_config(config),
            model: model.to_owned(),
        }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for AsyncOpenAiAgent {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut prompt = ChatRequest::from_conversation(&*request)
            .stream(true)
            .include_usage();
        prompt.model.clone_from(&self.model);
        drop(request);
        let mut chunks: Chunks = self.client.chat().create_stream_byot(prompt).await?;
        let mut answer = Completion::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            let delta = chunk.choices.first().map(|choice| &choice.delta);
            let reasoning = delta.and_then(|delta| delta.unknown.get("reasoning_content"));
            if let Some(text) = reasoning.and_then(|json| json.string()) {
                reply.reasoning(text).await?;
            }
            if let Some(text) = delta.and_then(|delta| delta.content.as_deref()) {
                reply.text(text).await?;
            }
            answer.push_event::<OpenAi>(&chunk.into())?;
        }
        if let Some(usage) = answer.usage() {
            reply.usage(usage).await?;
        }
        if !answer.is_complete() {
            return Err(AgentError::new(
                "The model stopped in the middle of its answer.",
            ));
        }
        let calls = answer.calls();
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }
}
