//! Keys for tests, in place of the platform's keys.

use bytes::Bytes;
use http::HeaderMap;

use super::RequestSigner;
use crate::{Keys, Signer};

impl Signer for RequestSigner {
    fn sign(&self, body: &[u8]) -> HeaderMap {
        Self::sign(self, body)
    }

    fn identifier(&self) -> &str {
        Self::identifier(self).as_str()
    }
}

/// Keys for tests.
pub(super) struct TestKeys;

impl Keys for TestKeys {
    fn signer(&self, seed: &[u8]) -> Box<dyn Signer> {
        Box::new(RequestSigner::from_seed(seed))
    }

    fn path(&self) -> &'static str {
        "/meta/public_keys/copilot_api"
    }

    fn document(&self, seeds: &[Vec<u8>]) -> Bytes {
        let signers = seeds.iter().map(|seed| RequestSigner::from_seed(seed));
        let signers: Vec<_> = signers.collect();
        RequestSigner::key_document(signers.iter().map(|signer| (signer, true)))
    }
}
