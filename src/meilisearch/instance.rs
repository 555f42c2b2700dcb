//! Ready requests for a server.

use std::fmt::{self, Write as _};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};

use crate::protocol::shown::Address;

use super::{ApiKey, ChatRequest, IndexChange, WorkspaceChange};

/// A server, and the key to it: makes ready requests, which any HTTP client can send.
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
/// Without a key only a server without a master key answers; its chat route, up to 1.50, needs a
/// bearer token all the same, whatever its value, and closes the connection without one.
#[derive(Clone)]
pub struct Instance {
    /// Without the slash at its end.
    url: Box<str>,
    key: Option<ApiKey>,
}

/// The address of a server, or a name in it, is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address of a server, or not a name of a workspace or an index")]
#[non_exhaustive]
pub struct InvalidAddress;

impl Instance {
    /// A server at an address such as `https://search.example.com`.
    ///
    /// # Errors
    ///
    /// When the address has no scheme or host.
    pub fn new(url: &str) -> Result<Self, InvalidAddress> {
        let url = url.trim_end_matches('/');
        let uri: Uri = url.parse().map_err(|_| InvalidAddress)?;
        if uri.scheme().is_none() || uri.host().is_none() || uri.query().is_some() {
            return Err(InvalidAddress);
        }
        Ok(Self {
            url: url.into(),
            key: None,
        })
    }

    /// Sets the key: for chats one with the actions `chatCompletions` and `search`.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Asks for an answer: `POST /chats/{workspace}/chat/completions`.
    ///
    /// # Errors
    ///
    /// When no address can be made of the name. So for all requests.
    pub fn chat(
        &self,
        workspace: &str,
        chat: &ChatRequest,
    ) -> Result<Request<Bytes>, InvalidAddress> {
        let path = format!("/chats/{}/chat/completions", segment(workspace)?);
        let mut request = self.request(Method::POST, &path, Some(chat.to_json()))?;
        let stream = HeaderValue::from_static("text/event-stream");
        request.headers_mut().insert(ACCEPT, stream);
        Ok(request)
    }

    /// Switches chats on or off: `PATCH /experimental-features`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn enable_chats(&self, on: bool) -> Result<Request<Bytes>, InvalidAddress> {
        let body = format!(r#"{{"chatCompletions":{on}}}"#);
        self.request(Method::PATCH, "/experimental-features", Some(body.into()))
    }

    /// Lists workspaces: `GET /chats`. Read the answer with
    /// [`Workspaces::from_json`](super::Workspaces::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn workspaces(&self, offset: u64, limit: u64) -> Result<Request<Bytes>, InvalidAddress> {
        let path = format!("/chats?offset={offset}&limit={limit}");
        self.request(Method::GET, &path, None)
    }

    /// Asks whether there is a workspace: `GET /chats/{workspace}`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn workspace(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::GET,
            &format!("/chats/{}", segment(workspace)?),
            None,
        )
    }

    /// Deletes a workspace: `DELETE /chats/{workspace}`.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn delete_workspace(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::DELETE,
            &format!("/chats/{}", segment(workspace)?),
            None,
        )
    }

    /// Asks for the settings of a workspace. Read the answer with
    /// [`WorkspaceSettings::from_json`](super::WorkspaceSettings::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn settings(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::GET, &settings(workspace)?, None)
    }

    /// Changes the settings of a workspace, and creates it when there is none. The answer is the
    /// whole of the settings.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn change_settings(
        &self,
        workspace: &str,
        change: &WorkspaceChange,
    ) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::PATCH, &settings(workspace)?, Some(change.to_json()))
    }

    /// Puts the settings of a workspace back to their defaults; the workspace stays.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn reset_settings(&self, workspace: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::DELETE, &settings(workspace)?, None)
    }

    /// Asks how an index is presented to the model. Read the answer with
    /// [`IndexSettings::from_json`](super::IndexSettings::from_json).
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn index_settings(&self, index: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::GET, &index_settings(index)?, None)
    }

    /// Changes how an index is presented to the model.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn change_index_settings(
        &self,
        index: &str,
        change: &IndexChange,
    ) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(
            Method::PATCH,
            &index_settings(index)?,
            Some(change.to_json()),
        )
    }

    /// Puts back to the defaults how an index is presented to the model.
    ///
    /// # Errors
    ///
    /// As for [`chat`](Self::chat).
    pub fn reset_index_settings(&self, index: &str) -> Result<Request<Bytes>, InvalidAddress> {
        self.request(Method::DELETE, &index_settings(index)?, None)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Request<Bytes>, InvalidAddress> {
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
        request.body(body).map_err(|_| InvalidAddress)
    }
}

/// Shows neither the key nor what the address has of credentials.
impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("url", &Address(&self.url))
            .field("key", &self.key)
            .finish()
    }
}

fn settings(workspace: &str) -> Result<String, InvalidAddress> {
    Ok(format!("/chats/{}/settings", segment(workspace)?))
}

fn index_settings(index: &str) -> Result<String, InvalidAddress> {
    Ok(format!("/indexes/{}/settings/chat", segment(index)?))
}

/// A name as one segment of a path. Clients take `.` and `..` for steps in the path even when they
/// are escaped.
fn segment(name: &str) -> Result<String, InvalidAddress> {
    match name {
        "" | "." | ".." => Err(InvalidAddress),
        name => Ok(escape(name)),
    }
}

/// A name as a segment of a path has it, whatever it holds.
pub(crate) fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a string does not fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
