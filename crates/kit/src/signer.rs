//! Requests that are signed with keys made for tests.

use bytes::Bytes;
use http::HeaderMap;

/// Signs request bodies with a key made for tests.
pub trait Signer: Send + Sync {
    /// Returns the headers that sign `body`, which must be sent unchanged.
    fn sign(&self, body: &[u8]) -> HeaderMap;

    /// Returns the identifier of the key, as in the headers and in the key document.
    fn identifier(&self) -> &str;
}

/// The keys of a protocol whose front end signs its requests.
pub trait Keys: Send + Sync {
    /// Creates the signer whose key is derived from `seed`. The same seed gives the same key.
    fn signer(&self, seed: &[u8]) -> Box<dyn Signer>;

    /// Returns the path at which the front end's platform serves its public keys.
    fn path(&self) -> &'static str;

    /// Returns the document with the public keys derived from `seeds`.
    fn document(&self, seeds: &[Vec<u8>]) -> Bytes;
}

impl<S: Signer + ?Sized> Signer for Box<S> {
    fn sign(&self, body: &[u8]) -> HeaderMap {
        (**self).sign(body)
    }

    fn identifier(&self) -> &str {
        (**self).identifier()
    }
}
