//! The HTTP client that model, embedder, search and browser share.

use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response};
use url::Url;

/// A client that follows no redirects and gives up after a time.
pub(crate) fn client(timeout: Duration) -> reqwest::Result<Client> {
    builder(timeout).build()
}

pub(crate) fn builder(timeout: Duration) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program has chosen a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::none())
}

/// A base address as it may be printed: user, password and query can be secrets.
pub(crate) fn shown(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if url.has_host() => {
            // Both fail only without a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url.into()
        }
        _ => "not an address".to_owned(),
    }
}

/// A body that could not be read whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the connection broke")]
    Broken(#[from] reqwest::Error),
}

/// Reads a body up to a number of bytes.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
