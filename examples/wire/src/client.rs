//! The HTTP client.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Json;
use http::{HeaderMap, Request};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};

use crate::verdict::Failure;

/// A client for one endpoint.
pub(crate) struct Client {
    http: reqwest::Client,
    /// What paths are appended to: no slash at its end.
    root: String,
    path: Option<String>,
    headers: HeaderMap,
}

/// Why there is no response, or no more of it. It never shows the address, which may hold a secret.
#[derive(Debug)]
pub(crate) struct ClientError(reqwest::Error);

impl Client {
    /// A client for an address: a whole endpoint, or with a slash at its end or nothing behind the
    /// host the root under which the endpoints of a protocol are.
    pub(crate) fn new(address: &str, headers: HeaderMap) -> Result<Self, Failure> {
        let wrong = |what| Failure::new(format!("the address {what}"));
        let mut url = Url::parse(address).map_err(|_| wrong("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must begin with http:// or https://"));
        }
        let path = match (url.path().ends_with('/'), url.query()) {
            (true, None) => None,
            // It belongs to no path that is appended.
            (true, Some(_)) => {
                return Err(wrong("needs the path of the endpoint before its query"));
            }
            (false, None) => Some(url.path().to_owned()),
            (false, Some(query)) => Some(format!("{}?{query}", url.path())),
        };
        url.set_query(None);
        url.set_fragment(None);
        if path.is_some() {
            url.set_path("");
        }
        // A second installation in one process is refused and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("wire/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(Duration::from_secs(10))
                .redirect(Policy::none())
                // Every request has a connection of its own: what one leaves behind harms no other.
                .pool_max_idle_per_host(0)
                // Agents are mostly on this machine, and proxies hold streams back.
                .no_proxy()
        };
        let http = match builder().build() {
            // The system may have no certificates, and without TLS none are needed.
            Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
            built => built,
        };
        Ok(Self {
            http: http.map_err(|error| Failure::new(ClientError(error)))?,
            root: url.as_str().trim_end_matches('/').to_owned(),
            path,
            headers,
        })
    }

    /// Takes the address for that of a server instead of an endpoint.
    pub(crate) fn into_root(mut self) -> Self {
        if let Some(path) = self.path.take() {
            self.root
                .push_str(path.split('?').next().unwrap_or_default());
        }
        self
    }

    /// The path of the endpoint, when the address has one.
    pub(crate) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Sends a request and waits for the head of the response. Its URI is a path from the root, or a
    /// whole URL.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response, ClientError> {
        let (head, body) = request.into_parts();
        let root = match head.uri.scheme() {
            Some(_) => "",
            None => &self.root,
        };
        let sent = self
            .http
            .request(head.method, format!("{root}{}", head.uri))
            .headers(head.headers)
            .headers(self.headers.clone())
            .body(body)
            .send();
        sent.await.map_err(ClientError::from)
    }

    /// Returns the models of the list at a path, if there is one that can be read.
    pub(crate) async fn models(&self, path: &str) -> Option<Vec<String>> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = path.parse().ok()?;
        let response = self.send(request).await.ok()?;
        let list = Json::parse(response.bytes().await.ok()?).ok()?;
        let models = list.get("data")?;
        let ids = models
            .elements()
            .filter_map(|model| Some(model.get("id")?.string()?.into_owned()));
        Some(ids.collect())
    }
}

impl ClientError {
    /// Whether there was nobody to talk to.
    pub(crate) fn is_connect(&self) -> bool {
        self.0.is_connect()
    }
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        Self(error.without_url())
    }
}

/// The error and what is behind it: the innermost cause says most.
impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            error if error.is_builder() => "the client cannot be set up",
            error if error.is_connect() => "cannot connect",
            error if error.is_timeout() => "no answer in time",
            error if error.is_body() || error.is_decode() => "the answer broke off",
            _ => "the request failed",
        })?;
        let mut innermost: &dyn Error = &self.0;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        write!(f, ": {innermost}")
    }
}

impl Error for ClientError {}
