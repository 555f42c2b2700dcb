//! reqwest with a [`Relay`]: any endpoint that speaks OpenAI's chat completions.

use copilot_wire::json::Wire as _;
use copilot_wire::openai::{ChatRequest, Relay};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures_util::StreamExt;

/// Asks a model through reqwest.
pub struct ReqwestAgent {
    client: reqwest::Client,
    url: String,
    model: String,
}

impl ReqwestAgent {
    /// Creates an agent on the model `model` of the endpoint at `base`, such as
    /// `http://127.0.0.1:11434/v1`.
    #[must_use]
    pub fn new(base: &str, model: &str) -> Self {
        Self {
            client: reqwest::Client::new(),
            url: format!("{base}/chat/completions"),
            model: model.to_owned(),
        }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for ReqwestAgent {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut prompt = ChatRequest::from_conversation(&*request)
            .stream(true)
            .include_usage();
        prompt.model.clone_from(&self.model);
        drop(request);
        let sent = self.client.post(&self.url).body(prompt.to_json());
        let sent = sent.header("content-type", "application/json").send();
        // A URL may hold secrets, and errors are logged.
        let response = sent
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(reqwest::Error::without_url)?;
        let mut relay = Relay::new();
        let mut stream = response.bytes_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes.map_err(reqwest::Error::without_url)?;
            relay.pass(&bytes, &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}
