//! Whose requests the GitHub route takes.

use std::error::Error;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::github::Mount;
use copilot_wire::github::verify::{CachedKeys, FetchKeys};
use copilot_wire_kit::github::RequestSigner;
use http::{Request, Response};

/// Returns the mount that `GITHUB_SIGNATURES` selects, and the signer for the playground.
///
/// `test`, the default: requests signed with keys that are made at every start. `github`: requests
/// of the platform, by the keys that it publishes. An address: requests signed with the keys that
/// are published there. `off`: anybody's, for `gh debug-cli` on this machine.
///
/// # Errors
///
/// When the setting is none of these, or there is no randomness to make keys from.
pub fn mount() -> Result<(Mount, Option<RequestSigner>), Box<dyn Error>> {
    match std::env::var("GITHUB_SIGNATURES").as_deref() {
        Err(_) | Ok("test") => {
            let signer = RequestSigner::generate()?;
            Ok((Mount::verified(signer.key_set()), Some(signer)))
        }
        Ok("github") => {
            let keys = CachedKeys::new(Http(crate::model::client("https://api.github.com")?));
            Ok((Mount::verified(keys), None))
        }
        Ok("off") => Ok((Mount::unverified(), None)),
        Ok(url) if url.starts_with("http") => {
            let keys = CachedKeys::new(Http(crate::model::client(url)?)).url(url.parse()?);
            Ok((Mount::verified(keys), None))
        }
        Ok(_) => Err("GITHUB_SIGNATURES is `test`, `github`, `off`, or an address".into()),
    }
}

/// Sends the key source's requests with reqwest.
struct Http(reqwest::Client);

#[async_trait]
impl FetchKeys for Http {
    async fn fetch(
        &self,
        request: Request<()>,
    ) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
        let (head, ()) = request.into_parts();
        let url = head.uri.to_string();
        let answer = self
            .0
            .request(head.method, url)
            .headers(head.headers)
            .send()
            .await
            .map_err(reqwest::Error::without_url)?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = answer.status();
        response.headers_mut().clone_from(answer.headers());
        *response.body_mut() = answer.bytes().await.map_err(reqwest::Error::without_url)?;
        Ok(response)
    }
}
