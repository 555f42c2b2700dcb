//! Any model behind an OpenAI-compatible endpoint.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use copilot_wire::Reply;
use copilot_wire::json::Wire as _;
use copilot_wire::models::refused;
use copilot_wire::openai::{ChatRequest, OpenAi, Relay};
use copilot_wire::protocol::{AgentError, Conversation, ModelFault, Protocol};
use http::StatusCode;
use reqwest::Url;
use tokio::time::{Instant, timeout, timeout_at};

const INSTRUCTIONS: &str =
    "You are a financial analyst. Answer briefly, in Markdown, from the data you are given.";

/// The time limit for the first output of the model.
const FIRST_OUTPUT: Duration = Duration::from_secs(300);

/// The time limit for an answer.
const ANSWER: Duration = Duration::from_secs(3600);

/// The time limit for the body of an error, and the number of bytes that are read of it.
const ERROR: Duration = Duration::from_secs(5);
const LONGEST_ERROR: usize = 64 * 1024;

/// A model behind an OpenAI-compatible endpoint.
pub struct Model {
    client: reqwest::Client,
    url: Url,
    key: Option<String>,
    name: String,
}

/// Creates the HTTP client for an address. Connecting has a timeout; an answer may take
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

/// Returns an address without what may be secret in it: user, password, query and fragment.
pub fn shown(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if url.has_host() => {
            // Both fail only without a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url.into()
        }
        _ => "not an address".to_owned(),
    }
}

impl Model {
    /// Returns the model of `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`, if the first is set.
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
        let name = variable("OPENAI_MODEL").unwrap_or_else(|| "gpt-4o-mini".into());
        Self::new(&base, variable("OPENAI_API_KEY"), name).map(Some)
    }

    /// Creates the model `name` of the endpoint at `base`, such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    ///
    /// When the address is not valid, or the HTTP client cannot be set up.
    pub fn new(base: &str, key: Option<String>, name: String) -> Result<Self, Box<dyn Error>> {
        let mut url: Url = base.parse()?;
        url.path_segments_mut()
            .map_err(|()| "the base URL of the model has no host")?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        Ok(Self {
            client: client(base)?,
            url,
            key,
            name,
        })
    }

    /// Hands the conversation to the model, and what it answers to the reply: text, reasoning, the
    /// calls of tools that the front end offers, and usage. One call of a model, without tools of the agent: with some, this
    /// would be a [`Toolset`](copilot_wire::models::Toolset).
    pub(crate) async fn answer<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        // Where a failure of the model is to have a status, nothing is sent before it answers.
        if !P::EXTRAS.awaits_output {
            reply.status("Asking the model").await?;
        }
        let mut prompt = ChatRequest::from_conversation(conversation)
            .instructions(INSTRUCTIONS)
            .stream(true)
            .include_usage();
        prompt.model.clone_from(&self.name);
        let mut request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        // Keep-alives would renew the timeout of the client for ever.
        let begin = Instant::now();
        let sent = request.body(prompt.to_json()).send();
        let sent = timeout_at(begin + FIRST_OUTPUT, sent).await;
        let mut response = sent
            .map_err(no_answer)?
            .map_err(|error| no_answer(error.without_url()))?;
        let status = response.status();
        if status != StatusCode::OK {
            let (headers, mut body) = (response.headers().clone(), Vec::new());
            let reading = async {
                while let Ok(Some(bytes)) = response.chunk().await
                    && body.len() < LONGEST_ERROR
                {
                    body.extend_from_slice(&bytes);
                }
            };
            let _ = timeout(ERROR, reading).await;
            return Err(refused::<OpenAi>(status, &headers, &body));
        }

        let mut relay = Relay::new();
        while !relay.is_over() {
            let limit = if relay.has_output() {
                ANSWER
            } else {
                FIRST_OUTPUT
            };
            let next = timeout_at(begin + limit, response.chunk()).await?;
            let Some(bytes) = next.map_err(reqwest::Error::without_url)? else {
                break;
            };
            relay.pass(&bytes, &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}

/// Returns the failure of a server that cannot be reached.
fn no_answer(cause: impl Error + Send + Sync + 'static) -> AgentError {
    let sentence = ModelFault::NoAnswer.to_string();
    AgentError::from(cause).user_message(sentence)
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("url", &shown(self.url.as_str()))
            .field("name", &self.name)
            .finish()
    }
}
