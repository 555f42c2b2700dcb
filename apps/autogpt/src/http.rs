//! The HTTP client shared by model, embedder, search and browser.

use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response};

/// Creates a client with a timeout that does not follow redirects.
pub(crate) fn client(timeout: Duration) -> reqwest::Result<Client> {
    builder(timeout).build()
}

pub(crate) fn builder(timeout: Duration) -> ClientBuilder {
    install_tls_provider();
    Client::builder()
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::none())
}

/// Sets the TLS provider of the process, unless the program has set one.
pub(crate) fn install_tls_provider() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // The error means that the program has installed a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// An error while reading a response body.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the connection broke")]
    Broken(#[from] reqwest::Error),
}

/// Reads a response body of at most `limit` bytes.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        // Checked before it is stored. `content-length` is not trusted: it may be missing or wrong.
        if bytes.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
