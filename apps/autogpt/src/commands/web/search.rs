//! Web search services.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use copilot_wire::protocol::RedactedUrl;
use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::WebError;
use crate::commands::Source;
use crate::http;

const ANSWER_BYTES: usize = 1024 * 1024;

/// A web search service.
#[async_trait]
pub trait Search: Send + Sync + fmt::Debug {
    /// Returns the best results of a query, at most `count`.
    ///
    /// # Errors
    ///
    /// [`WebError`]
    async fn search(&self, query: &str, count: usize) -> Result<Vec<Source>, WebError>;
}

/// Google's Custom Search JSON API, which the original used when it had a key.
#[derive(Clone)]
pub struct GoogleSearch {
    client: Client,
    key: String,
    engine: String,
}

impl GoogleSearch {
    /// Creates a client with a key and the id of a search engine.
    ///
    /// # Errors
    ///
    /// [`WebError::Unreachable`] if no HTTP client can be made.
    pub fn new(key: &str, engine: &str, timeout: Duration) -> Result<Self, WebError> {
        Ok(Self {
            client: client(timeout)?,
            key: key.to_owned(),
            engine: engine.to_owned(),
        })
    }
}

/// Omits the key.
impl fmt::Debug for GoogleSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoogleSearch").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct GoogleAnswer {
    #[serde(default)]
    items: Vec<GoogleItem>,
}

#[derive(Deserialize)]
struct GoogleItem {
    #[serde(default)]
    title: String,
    link: String,
    #[serde(default)]
    snippet: String,
}

#[async_trait]
impl Search for GoogleSearch {
    async fn search(&self, query: &str, count: usize) -> Result<Vec<Source>, WebError> {
        // The API refuses more than ten.
        let number = count.min(10).to_string();
        let parameters = [
            ("key", self.key.as_str()),
            ("cx", &self.engine),
            ("q", query),
            ("num", &number),
        ];
        let address = "https://www.googleapis.com/customsearch/v1";
        let answer: GoogleAnswer = get(&self.client, address, &parameters).await?;
        let items = answer.items.into_iter().take(count);
        Ok(items
            .map(|item| Source::new(&item.title, &item.link, &item.snippet))
            .collect())
    }
}

/// The JSON API of a SearXNG server.
#[derive(Clone)]
pub struct SearxngSearch {
    client: Client,
    base: String,
}

impl SearxngSearch {
    /// Creates a client with the base URL of a server.
    ///
    /// # Errors
    ///
    /// [`WebError::Unreachable`] if no HTTP client can be made.
    pub fn new(base: &str, timeout: Duration) -> Result<Self, WebError> {
        Ok(Self {
            client: client(timeout)?,
            base: base.trim_end_matches('/').to_owned(),
        })
    }
}

/// Omits secrets in the URL.
impl fmt::Debug for SearxngSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearxngSearch")
            .field("base", &RedactedUrl(&self.base))
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct SearxngAnswer {
    results: Vec<SearxngItem>,
}

#[derive(Deserialize)]
struct SearxngItem {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
}

#[async_trait]
impl Search for SearxngSearch {
    async fn search(&self, query: &str, count: usize) -> Result<Vec<Source>, WebError> {
        let parameters = [("q", query), ("format", "json")];
        let address = format!("{}/search", self.base);
        let answer: SearxngAnswer = get(&self.client, &address, &parameters).await?;
        let items = answer.results.into_iter().take(count);
        Ok(items
            .map(|item| Source::new(&item.title, &item.url, &item.content))
            .collect())
    }
}

fn client(timeout: Duration) -> Result<Client, WebError> {
    http::client(timeout).map_err(|_| WebError::Unreachable)
}

async fn get<T: DeserializeOwned>(
    client: &Client,
    address: &str,
    parameters: &[(&str, &str)],
) -> Result<T, WebError> {
    let sent = client.get(address).query(parameters).send().await;
    let response = sent.map_err(|_| WebError::Unreachable)?;
    if !response.status().is_success() {
        return Err(WebError::Status(response.status().as_u16()));
    }
    let body = http::body(response, ANSWER_BYTES).await;
    let body = body.map_err(|_| WebError::Unreachable)?;
    serde_json::from_slice(&body).map_err(|_| WebError::Unreadable)
}
