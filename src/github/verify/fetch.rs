use std::{error::Error, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};

use super::{KeyError, KeyErrorKind, KeySet};

/// An HTTP client that sends one `GET`.
///
/// The request is complete: method, URL and headers. The client is responsible for redirects,
/// proxies, a limit on the size of the body, and above all a **timeout**. A closure that returns a
/// future implements this trait:
///
/// ```
/// use bytes::Bytes;
/// use copilot_wire::github::verify::CachedKeys;
/// use http::{Request, Response};
///
/// async fn get(request: Request<()>) -> std::io::Result<Response<Bytes>> {
///     # let _ = request;
///     // Hand it to hyper, reqwest, ...
///     Ok(Response::new(Bytes::from_static(br#"{"public_keys":[]}"#)))
/// }
///
/// let keys = CachedKeys::new(|request| async { Ok(get(request).await?) });
/// # let _ = keys;
/// ```
#[async_trait]
pub trait FetchKeys: Send + Sync {
    /// Sends the request and reads the response completely. A response with any status is `Ok`.
    ///
    /// # Errors
    ///
    /// The client's error if there was no response.
    ///
    /// # Cancel safety
    ///
    /// If the caller of a fetch is cancelled, [`CachedKeys`](super::CachedKeys) continues to poll
    /// it for the next caller. It drops the fetch if there is no caller for `min_interval`.
    async fn fetch(
        &self,
        request: Request<()>,
    ) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>>;
}

#[async_trait]
impl<F, Fut> FetchKeys for F
where
    F: Fn(Request<()>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Response<Bytes>, Box<dyn Error + Send + Sync>>> + Send,
{
    async fn fetch(
        &self,
        request: Request<()>,
    ) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
        self(request).await
    }
}

/// The common part of all fetches.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: Uri,
    pub(super) user_agent: HeaderValue,
    pub(super) authorization: Option<HeaderValue>,
}

impl Endpoint {
    pub(super) fn github() -> Self {
        Self {
            url: Uri::from_static("https://api.github.com/meta/public_keys/copilot_api"),
            user_agent: HeaderValue::from_static(concat!(
                "copilot-wire/",
                env!("CARGO_PKG_VERSION")
            )),
            authorization: None,
        }
    }

    /// Returns the request with the headers of the SDK: media type, user agent, token, and the
    /// entity tag unchanged, also a weak one.
    pub(super) fn request(&self, etag: Option<&HeaderValue>) -> Request<()> {
        let accept = HeaderValue::from_static("application/vnd.github.v3+json");
        let mut request = Request::new(());
        *request.uri_mut() = self.url.clone();
        let headers: &mut HeaderMap = request.headers_mut();
        headers.insert(header::ACCEPT, accept);
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        headers.extend(
            self.authorization
                .clone()
                .map(|token| (header::AUTHORIZATION, token)),
        );
        headers.extend(etag.cloned().map(|etag| (header::IF_NONE_MATCH, etag)));
        request
    }
}

/// The effect of a response on the cached keys.
#[derive(Clone)]
pub(super) enum Fetched {
    Same,
    New {
        keys: KeySet,
        etag: Option<HeaderValue>,
    },
}

/// Sends a request. Status 200 returns new keys, 304 confirms those of the entity tag, and any
/// other is a failure.
pub(super) async fn fetch<F: FetchKeys>(
    fetch: Arc<F>,
    request: Request<()>,
    current_only: bool,
) -> Result<Fetched, KeyError> {
    let conditional = request.headers().contains_key(header::IF_NONE_MATCH);
    let response = fetch
        .fetch(request)
        .await
        .map_err(|source| KeyError::new(KeyErrorKind::Transport).cause(source))?;
    match response.status() {
        StatusCode::OK => {
            let keys = KeySet::from_json(response.body())?;
            let keys = if current_only {
                keys.current_only()
            } else {
                keys
            };
            let etag = response
                .headers()
                .get(header::ETAG)
                // An empty tag would match nothing, and make every later request conditional on it.
                .filter(|etag| !etag.is_empty())
                .cloned();
            Ok(Fetched::New { keys, etag })
        }
        // Without an entity tag a 304 confirms nothing, and is a failure like any other status.
        StatusCode::NOT_MODIFIED if conditional => Ok(Fetched::Same),
        status => Err(KeyError::new(KeyErrorKind::Status(status))),
    }
}
