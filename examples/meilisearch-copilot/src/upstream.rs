//! The search engine's chat, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ChatRequest, Event, Instance, InvalidAddress, Meilisearch, Outcome,
};
use copilot_wire::protocol::{EventDecoder, EventError};

/// A workspace of a Meilisearch server.
#[derive(Clone, Debug)]
pub struct Upstream {
    client: reqwest::Client,
    instance: Instance,
    workspace: String,
}

/// Why an answer could not be had, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// No connection, a connection that broke, or silence for too long.
    #[error("the search engine cannot be reached: {}", how(.0))]
    Http(reqwest::Error),
    /// The server refused the request.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The name of the workspace cannot be part of an address.
    #[error(transparent)]
    Address(#[from] InvalidAddress),
    /// A frame is not what the protocol says.
    #[error("the search engine's stream is not readable: {0}")]
    Garbage(#[from] EventError),
}

/// What happened, without the address.
fn how(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it is silent"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    }
}

impl From<reqwest::Error> for UpstreamError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

impl Upstream {
    /// A workspace. An answer that is silent for longer than `patience` has failed: the server
    /// sends nothing while a search runs, and sends no sign of life either.
    ///
    /// # Errors
    ///
    /// When the HTTP client cannot be set up.
    pub fn new(
        instance: Instance,
        workspace: impl Into<String>,
        patience: Duration,
    ) -> Result<Self, UpstreamError> {
        // A second installation in one process is refused and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(patience)
            .build()?;
        Ok(Self {
            client,
            instance,
            workspace: workspace.into(),
        })
    }

    /// Asks for an answer. Dropping it closes the connection, which stops the server's work.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub async fn ask(&self, chat: &ChatRequest) -> Result<Answer, UpstreamError> {
        let request = self.instance.chat(&self.workspace, chat)?;
        let response = self.client.execute(request.try_into()?).await?;
        let status = response.status();
        if !status.is_success() {
            let body = response.bytes().await?;
            return Err(ApiError::read(status, &body).into());
        }
        Ok(Answer {
            response,
            chunk: Bytes::new(),
            decoder: EventDecoder::new(),
        })
    }
}

/// An answer that is on its way.
#[derive(Debug)]
pub struct Answer {
    response: reqwest::Response,
    /// What came and is not read yet.
    chunk: Bytes,
    decoder: EventDecoder<Meilisearch>,
}

impl Answer {
    /// The next event; `None` when the body is over.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or what comes is not readable.
    pub async fn next(&mut self) -> Result<Option<Event>, UpstreamError> {
        loop {
            let mut input = &*self.chunk;
            let event = self.decoder.next(&mut input);
            self.chunk = self.chunk.slice_ref(input);
            if let Some(event) = event? {
                return Ok(Some(event));
            }
            match self.response.chunk().await? {
                Some(chunk) => self.chunk = chunk,
                None => return Ok(None),
            }
        }
    }

    /// What came of it, once it is over.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.decoder.decoder().outcome()
    }
}
