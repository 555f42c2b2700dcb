//! GitHub Copilot in tests: an emulated platform, and the protocol's part of the conformance kit and the command line.

mod front_end;
#[cfg(feature = "verify")]
mod keys;
mod native;
#[cfg(feature = "verify")]
mod request_signer;
mod rules;
mod show;
mod signature;

pub use front_end::CopilotChat;
#[cfg(feature = "verify")]
pub use request_signer::{NoRandomness, RequestSigner};

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

#[cfg(feature = "verify")]
use crate::Keys;
use crate::chat_stream;
use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use copilot_wire::github::{ChatRequest, GitHub, Mount};
use copilot_wire::json::Wire as _;
use copilot_wire::router;

impl Toolkit for GitHub {
    const TITLE: &'static str = "GitHub Copilot clients";

    const SAMPLE: Sample = Sample::new(
        r#"{"messages":[{"role":"user","content":"hi"}]}"#,
        &["/github"],
        &["x-github-token"],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[
        chat_stream::lines::RULES,
        chat_stream::chunk::RULES,
        rules::RULES,
        signature::RULES,
    ];

    in_modules!();

    type FrontEnd = CopilotChat;

    fn front_end(setup: &Setup<'_>) -> Result<CopilotChat, BoxError> {
        let front = match &setup.request {
            Some(request) => CopilotChat::continuing(ChatRequest::from_json(request)?),
            None => CopilotChat::new("agent"),
        };
        Ok(match &setup.conversation_id {
            Some(id) => front.conversation_id(id),
            None => front,
        })
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Mount::unverified()
    }

    /// Returns the headers of the platform, which asks for JSON although it expects a stream.
    fn headers() -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
    }

    #[cfg(feature = "verify")]
    fn keys() -> Option<&'static dyn Keys> {
        Some(&keys::TestKeys)
    }
}
