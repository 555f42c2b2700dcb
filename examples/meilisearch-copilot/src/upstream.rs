//! The search engine's chat, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ChatRequest, Event, FinishReason, Instance, Meilisearch, Message, Outcome,
};
use copilot_wire::protocol::EventDecoder;

use crate::UpstreamError;

/// A workspace of a Meilisearch server.
#[derive(Clone, Debug)]
pub struct Upstream {
    client: reqwest::Client,
    instance: Instance,
    workspace: String,
}

impl Upstream {
    /// Creates the client of a workspace. An answer that is silent for longer than `patience` has
    /// failed: the server sends nothing while a search runs, and sends no sign of life either.
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
            return Err(ApiError::from_response(status, &body).into());
        }
        Ok(Answer {
            response,
            chunk: Bytes::new(),
            decoder: EventDecoder::new(),
        })
    }

    /// Checks that the workspace answers, up to the first word of `model`. It costs that word.
    ///
    /// # Errors
    ///
    /// The reason that it does not answer.
    pub async fn check(&self, model: &str) -> Result<(), UpstreamError> {
        let chat = ChatRequest::new(model, [Message::user("Say hello.")]);
        let mut answer = self.ask(&chat).await?;
        while let Some(event) = answer.next().await? {
            if matches!(event, Event::Text(text) if !text.is_empty()) {
                return Ok(());
            }
        }
        answer.outcome().map(drop)
    }
}

/// An answer that is on its way.
#[derive(Debug)]
pub struct Answer {
    response: reqwest::Response,
    /// The bytes that were received and not yet read.
    chunk: Bytes,
    decoder: EventDecoder<Meilisearch>,
}

impl Answer {
    /// Returns the next event; `None` when the body is over.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or what comes is not readable.
    pub async fn next(&mut self) -> Result<Option<Event>, UpstreamError> {
        loop {
            let mut input = &*self.chunk;
            let event = self.decoder.next(&mut input).map(Option::<&_>::cloned);
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

    /// Returns why the answer ended, once it is over.
    ///
    /// # Errors
    ///
    /// When it did not come to its end.
    pub fn outcome(&self) -> Result<FinishReason, UpstreamError> {
        Err(match self.decoder.decoder().outcome() {
            Outcome::Answered(reason) => return Ok(reason),
            Outcome::Failed(failure) => UpstreamError::Failed(failure.into()),
            Outcome::Incomplete => UpstreamError::Incomplete,
            _ => UpstreamError::Truncated,
        })
    }
}
