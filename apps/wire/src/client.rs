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

/// An error of a request. It never shows the address, which may contain a secret.
#[derive(Debug)]
pub(crate) struct ClientError(reqwest::Error);

impl Client {
    /// Creates a client for an address. With a path it is the URL of an endpoint, until it is
    /// [resolved](Self::resolve). Without a path, or with a slash at its end, it is the root of a protocol's endpoints.
    pub(crate) fn new(address: &str, headers: HeaderMap) -> Result<Self, Failure> {
        let wrong = |what| Failure::new(format!("the address {what}"));
        // The address is not repeated in the message, because it may contain a secret.
        let mut url = Url::parse(address).map_err(|_| wrong("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must begin with http:// or https://"));
        }
        let path = match (url.path().ends_with('/'), url.query()) {
            (true, None) => None,
            // A query cannot be in front of the paths that are appended.
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
        // A second installation in one process fails without effect.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("wire/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(Duration::from_secs(10))
                // A redirect is an answer to report. Following a 301 or 302 would turn a `POST` into a `GET`, and send
                // the headers to another server.
                .redirect(Policy::none())
                // Every request has its own connection, so that no request can affect another one.
                .pool_max_idle_per_host(0)
                // Most agents run on this machine, and proxies buffer streams.
                .no_proxy()
        };
        let http = match builder().build() {
            // The system may have no certificates, but only TLS needs them.
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

    /// Determines whether the address is an endpoint: posts an empty request with `headers` to it. If the path does not
    /// accept a POST, the address becomes the root of a server. A timeout changes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if no connection can be made.
    pub(crate) async fn resolve(&mut self, headers: &HeaderMap) -> Result<(), ClientError> {
        let mut request = Request::new(Bytes::new());
        headers.clone_into(request.headers_mut());
        // Without a path, a `GET` of the root only checks that a server is listening.
        if let Some(path) = self.path().and_then(|path| path.parse().ok()) {
            *request.method_mut() = Method::POST;
            *request.uri_mut() = path;
        }
        match tokio::time::timeout(GREETING, self.send(request)).await {
            // Any other failure may be the endpoint's answer to an empty request, which the check will judge.
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

    /// Returns scheme, host and port, which contain no secret.
    pub(crate) fn origin(&self) -> String {
        let url = Url::parse(&self.root);
        url.map(|url| url.origin().ascii_serialization())
            .unwrap_or_default()
    }

    /// Returns the path of the endpoint, if the address has one.
    pub(crate) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Sends a request and waits for the head of the response. The URI of the request is a path below the root, or a
    /// complete URL.
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

    /// Returns the models of the list at a path; `None` if it cannot be read.
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

/// Formats the error with its innermost cause, which is the most specific.
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
