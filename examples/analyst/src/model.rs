//! Any model behind an OpenAI-compatible endpoint.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use copilot_wire::Reply;
use copilot_wire::openai::{ChatMessage, ChatRequest, Event, OpenAi};
use copilot_wire::protocol::{AgentError, Conversation, EventDecoder, Protocol, Role};
use futures_util::StreamExt;

use crate::dataset::Dataset;

/// A model behind an OpenAI-compatible endpoint.
pub struct Model {
    client: reqwest::Client,
    url: String,
    key: Option<String>,
    name: String,
}

/// The HTTP client for an address. A server that does not answer is given up; one that does may take
/// its time.
pub(crate) fn client(url: &str) -> reqwest::Result<reqwest::Client> {
    // A second installation in one process is refused and harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let patience = Duration::from_secs(30);
    let mut builder = reqwest::Client::builder();
    if url.starts_with("http://") {
        // A model on this machine needs no certificates of the system, and there may be none.
        builder = builder.tls_certs_only([]);
    }
    builder
        .connect_timeout(patience)
        .read_timeout(patience * 4)
        .build()
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
        Ok(Some(Self {
            client: client(&base)?,
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            key: variable("OPENAI_API_KEY"),
            name: variable("OPENAI_MODEL").unwrap_or_else(|| "gpt-4o-mini".into()),
        }))
    }

    /// Hands conversation and data to the model, and its words to the reply.
    pub(crate) async fn answer<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        data: &[Dataset],
        reply: &Reply<P>,
    ) -> Result<(), AgentError> {
        let body = ChatRequest::new(&self.name, messages(conversation, data)).stream(true);
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request
            .body(body.to_json())
            .send()
            .await?
            .error_for_status()?;

        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut stream = response.bytes_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes?;
            let mut input = &*bytes;
            while let Some(event) = decoder.next(&mut input)? {
                match event {
                    Event::Chunk(chunk) => {
                        if let Some(text) = chunk.text() {
                            reply.text(text).await?;
                        }
                    }
                    Event::Done => return Ok(()),
                    _ => return Err(AgentError::new("The model reported an error.")),
                }
            }
        }
        Err(AgentError::new(
            "The model stopped in the middle of its answer.",
        ))
    }
}

fn messages(conversation: &impl Conversation, data: &[Dataset]) -> Vec<ChatMessage> {
    let mut messages = vec![ChatMessage::system(
        "You are a financial analyst. Answer briefly, in Markdown, from the data you are given.",
    )];
    for dataset in data {
        let text = format!("Data of {}:\n{}", dataset.name, dataset.text());
        messages.push(ChatMessage::system(text));
    }
    for message in conversation.messages() {
        let text = message.text.into_owned();
        match message.role {
            Role::System => messages.push(ChatMessage::system(text)),
            Role::Assistant => messages.push(ChatMessage::assistant(text)),
            // The data of calls is among the data above.
            Role::Tool => {}
            _ => messages.push(ChatMessage::user(text)),
        }
    }
    messages
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("url", &self.url)
            .field("name", &self.name)
            .finish()
    }
}
