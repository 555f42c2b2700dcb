//! Requests to a server.

use std::fmt;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};

use crate::protocol::RedactedUrl;
use crate::router::escape_segment;

use super::{ApiKey, ChatRequest, InstanceError};

/// A server with its key. It creates requests, which any HTTP client can send.
///
/// ```
/// use copilot_wire::meilisearch::{ApiKey, ChatRequest, Instance, Message, Tools};
///
/// let server = Instance::new("http://127.0.0.1:7700")?.key(ApiKey::new("chat-key")?);
/// let chat = ChatRequest::new("gpt-4o-mini", [Message::user("Any robots?")]).tools(Tools::ALL);
/// let request = server.chat("films", &chat)?;
/// assert_eq!(request.uri(), "http://127.0.0.1:7700/chats/films/chat/completions");
/// assert_eq!(request.headers()["authorization"], "Bearer chat-key");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Without a key only a server without a master key answers. Up to 1.50 its chat route still
/// requires a bearer token, of any value, and closes the connection without one.
#[derive(Clone)]
pub struct Instance {
    /// The URL, without a slash at its end.
    url: Box<str>,
    key: Option<ApiKey>,
}

impl Instance {
    /// Creates a server from a URL such as `https://search.example.com`.
    ///
    /// # Errors
    ///
    /// If the URL has no scheme or host, or has a query.
    pub fn new(url: &str) -> Result<Self, InstanceError> {
        let url = url.trim_end_matches('/');
        let uri: Uri = url.parse().map_err(|_| InstanceError::Url)?;
        if uri.scheme().is_none() || uri.host().is_none() || uri.query().is_some() {
            return Err(InstanceError::Url);
        }
        Ok(Self {
            url: url.into(),
            key: None,
        })
    }

    /// Sets the key. Chats need one with the actions `chatCompletions` and `search`.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Creates the request for an answer: `POST /chats/{workspace}/chat/completions`.
    ///
    /// # Errors
    ///
    /// If the name is empty, `.` or `..`.
    pub fn chat(
        &self,
        workspace: &str,
        chat: &ChatRequest,
    ) -> Result<Request<Bytes>, InstanceError> {
        let path = format!("/chats/{}/chat/completions", segment(workspace)?);
        let mut request = self.request(Method::POST, &path, Some(chat.to_json()))?;
        let stream = HeaderValue::from_static("text/event-stream");
        request.headers_mut().insert(ACCEPT, stream);
        Ok(request)
    }

    /// Creates the request that tests if the key may search, which a chat shows only when the model
    /// searches: `POST /multi-search` without a query. The server refuses it with the code
    /// `invalid_api_key` if the key may not.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn search_nothing(&self) -> Result<Request<Bytes>, InstanceError> {
        let body = Bytes::from_static(br#"{"queries":[]}"#);
        self.request(Method::POST, "/multi-search", Some(body))
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Request<Bytes>, InstanceError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(bearer) = self.key.as_ref().and_then(ApiKey::bearer) {
            request = request.header(AUTHORIZATION, bearer);
        }
        let body = body.unwrap_or_default();
        request.body(body).map_err(|_| InstanceError::Url)
    }
}

/// Prints neither the key nor credentials in the URL.
impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("url", &RedactedUrl(&self.url))
            .field("key", &self.key)
            .finish()
    }
}

/// Encodes a name as one segment of a path. Clients resolve `.` and `..` as relative path segments
/// even if they are escaped, so these are errors.
fn segment(name: &str) -> Result<String, InstanceError> {
    match name {
        "" | "." | ".." => Err(InstanceError::Workspace),
        name => Ok(escape_segment(name)),
    }
}
