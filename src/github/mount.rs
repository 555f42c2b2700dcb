//! How an agent or a skill is mounted, and whether its requests must be signed.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::chunk_form::ChunkForm;
use super::verified::Verified;
use crate::protocol::Refusal;

/// How an agent or a skill is mounted.
///
/// There is no default: whoever mounts an agent says whether its requests are verified
/// (`Mount::verified`, feature `verify`) or not ([`unverified`](Self::unverified)), so
/// verification cannot be forgotten:
///
/// ```compile_fail,E0599
/// let mount = copilot_wire::github::Mount::default();
/// ```
#[derive(Clone)]
pub struct Mount {
    path: String,
    chunks: ChunkForm,
    gate: Arc<dyn Gate>,
}

impl Mount {
    fn behind(gate: impl Gate + 'static) -> Self {
        Self {
            path: "/github".to_owned(),
            chunks: ChunkForm::default(),
            gate: Arc::new(gate),
        }
    }

    /// Takes requests from anybody, signed or not: for an agent that is not reachable from outside,
    /// or behind something that verifies. `gh debug-cli` sends no signature.
    #[must_use]
    pub fn unverified() -> Self {
        Self::behind(Open)
    }

    /// Takes requests that are signed with one of these keys, and no others: 401 for the rest, and
    /// 503 while the keys cannot be had.
    ///
    /// `gh debug-cli` cannot sign. For local work sign with a `RequestSigner` (feature `testing`),
    /// or say [`unverified`](Self::unverified).
    #[cfg(feature = "verify")]
    #[must_use]
    pub fn verified(keys: impl super::verify::KeySource + 'static) -> Self {
        Self::behind(Signed(super::verify::Verifier::new(keys)))
    }

    /// Sets the path. The default is `/github`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the form of text chunks. The default is [`ChunkForm::Short`], which GitHub's SDK
    /// writes.
    #[must_use]
    pub fn chunks(mut self, form: ChunkForm) -> Self {
        self.chunks = form;
        self
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn form(&self) -> ChunkForm {
        self.chunks
    }

    /// Lets a body pass, or refuses it. Nothing of it is parsed before.
    pub(crate) async fn admit(
        &self,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Verified<Bytes>, Refusal> {
        if body.is_empty() {
            let message = "request body is empty";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).code("empty-body"));
        }
        self.gate.admit(headers, body).await
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("path", &self.path)
            .field("chunks", &self.chunks)
            .finish_non_exhaustive()
    }
}

/// What stands before an agent.
#[async_trait]
trait Gate: Send + Sync {
    async fn admit(&self, headers: &HeaderMap, body: Bytes) -> Result<Verified<Bytes>, Refusal>;
}

/// Lets everything pass.
struct Open;

#[async_trait]
impl Gate for Open {
    async fn admit(&self, _: &HeaderMap, body: Bytes) -> Result<Verified<Bytes>, Refusal> {
        Ok(Verified::assume_verified(body))
    }
}

/// Lets pass what is signed.
#[cfg(feature = "verify")]
struct Signed<K>(super::verify::Verifier<K>);

#[cfg(feature = "verify")]
#[async_trait]
impl<K: super::verify::KeySource> Gate for Signed<K> {
    async fn admit(&self, headers: &HeaderMap, body: Bytes) -> Result<Verified<Bytes>, Refusal> {
        self.0.verify(body, headers).await.map_err(|error| {
            // The kind and nothing else: no signature, no key, no word of the body.
            Refusal::new(error.status(), error.to_string()).code(error.kind().as_str())
        })
    }
}
