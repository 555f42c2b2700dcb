//! The HTTP client.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Json;
use http::{HeaderMap, Method, Request, StatusCode};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};

use crate::verdict::Failure;

/// A client for one endpoint.
pub(crate) struct Client {
    http: reqwest::Client,
    /// The URL to which paths are appended, without a slash at its end.
    root: String,
    path: Option<String>,
    headers: HeaderMap,
}

/// The timeout of [`Client::resolve`].
const GREETING: Duration = Duration::from_secs(10);

/// An error of receiving a response. It never shows the address, which may contain a secret.
#[derive(Debug)]
pub(crate) struct ClientError(reqwest::Error);

impl Client {
    /// Creates a client for an address: that of a whole endpoint until it is [resolved](Self::resolve), or
    /// with a slash at its end or nothing behind the host, the root below which the endpoints of a
    /// protocol are.
    pub(crate) fn new(address: &str, headers: HeaderMap) -> Result<Self, Failure> {
        let wrong = |what| Failure::new(format!("the address {what}"));
        // The address is not repeated in the message: it may hold a secret.
        let mut url = Url::parse(address).map_err(|_| wrong("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must begin with http:// or https://"));
        }
        let path = match (url.path().ends_with('/'), url.query()) {
            (true, None) => None,
            // The query does not belong to the paths that are appended.
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
                // A redirect is an answer to report. Followed, a 301 or 302 would turn a `POST`
                // into a `GET`, and the headers would go elsewhere.
                .redirect(Policy::none())
                // Every request has its own connection, so that no request can affect another one.
                .pool_max_idle_per_host(0)
                // Agents are mostly on this machine, and proxies buffer streams.
                .no_proxy()
        };
        let http = match builder().build() {
            // The system may have no certificates, which matters only for TLS.
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

    /// Finds out whether the address is that of an endpoint: sends an empty request with `headers` to it,
    /// and if the path does not accept a POST, uses the address as that of a server. A timeout changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if no connection can be made.
    pub(crate) async fn resolve(&mut self, headers: &HeaderMap) -> Result<(), ClientError> {
        let mut request = Request::new(Bytes::new());
        headers.clone_into(request.headers_mut());
        // Without a path, a `GET` of the root only finds out whether somebody listens.
        if let Some(path) = self.path().and_then(|path| path.parse().ok()) {
            *request.method_mut() = Method::POST;
            *request.uri_mut() = path;
        }
        match tokio::time::timeout(GREETING, self.send(request)).await {
            // Every other failure may be the endpoint's way to handle an empty request: the check
            // will tell.
            Ok(Err(error)) if error.is_connect() => return Err(error),
            Ok(Ok(answer)) if is_no_endpoint(answer.status()) => {
                let path = self.path.take().unwrap_or_default();
                self.root
                    .push_str(path.split('?').next().unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns scheme, host and port, which have no secret.
    pub(crate) fn origin(&self) -> String {
        let url = Url::parse(&self.root);
        url.map(|url| url.origin().ascii_serialization())
            .unwrap_or_default()
    }

    /// Returns the path of the endpoint, if the address has one.
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
    /// Returns `true` if no connection could be made.
    fn is_connect(&self) -> bool {
        self.0.is_connect()
    }
}

fn is_no_endpoint(status: StatusCode) -> bool {
    let missing = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    missing.contains(&status) || status.is_redirection()
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        Self(error.without_url())
    }
}

/// Formats the error with its innermost cause, which says most.
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
