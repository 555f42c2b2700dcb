//! The search engine's chat, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ApiKey, ChatRequest, Event, Instance, Meilisearch, Message, StreamOutcome,
};
use copilot_wire::openai::FinishReason;
use copilot_wire::protocol::EventDecoder;

use crate::UpstreamError;

/// The number of bytes of an error's body that are read. The search engine's errors are shorter; what
/// else answers may send a page, or never end.
const ERROR_LIMIT: usize = 16 * 1024;

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
            // A search engine redirects nobody, and its key is for nobody else.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self {
            client,
            instance,
            workspace: workspace.into(),
        })
    }

    /// Sets the key with which it is asked.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.instance = self.instance.key(key);
        self
    }

    /// Asks for an answer. Dropping it closes the connection, which stops the server's work.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub async fn ask(&self, chat: &ChatRequest) -> Result<Answer, UpstreamError> {
        let request = self.instance.chat(&self.workspace, chat)?;
        Ok(Answer {
            response: self.send(request).await?,
            chunk: Bytes::new(),
            decoder: EventDecoder::new(),
        })
    }

    /// Sends a request. A response that is no success is an error.
    async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<reqwest::Response, UpstreamError> {
        let mut response = self.client.execute(request.try_into()?).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() >= ERROR_LIMIT {
                break;
            }
        }
        Err(ApiError::from_response(status, &body).into())
    }

    /// Checks that the workspace answers, up to the first word of `model`, and that the key may
    /// search. It costs that word.
    ///
    /// # Errors
    ///
    /// The reason that it does not answer.
    pub async fn check(&self, model: &str) -> Result<(), UpstreamError> {
        let chat = ChatRequest::new(model, [Message::user("Say hello.")]);
        let mut answer = self.ask(&chat).await?;
        while let Some(event) = answer.next().await? {
            if matches!(event, Event::Text(text) if !text.is_empty()) {
                return self.check_search().await;
            }
        }
        answer.outcome()?;
        self.check_search().await
    }

    /// Checks that the key may search: the model does not search to say hello.
    async fn check_search(&self) -> Result<(), UpstreamError> {
        match self.send(self.instance.search_nothing()?).await {
            Err(UpstreamError::Refused(error)) if error.kind() == "auth" => {
                Err(UpstreamError::SearchForbidden)
            }
            response => response.map(drop),
        }
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
            StreamOutcome::Answered(reason) => return Ok(reason),
            StreamOutcome::Failed(failure) => UpstreamError::Failed(failure.into()),
            StreamOutcome::Incomplete => UpstreamError::Incomplete,
            _ => UpstreamError::Truncated,
        })
    }
}
