//! Anthropic Messages in tests: an emulated client, and the protocol's part of the conformance kit and the command
//! line.
//!
//! ```
//! # use copilot_wire::protocol::{AgentError, Conversation, Protocol};
//! # use copilot_wire::{Agent, Reply, Request, Router, async_trait};
//! # struct Parrot;
//! # #[async_trait]
//! # impl<P: Protocol> Agent<P> for Parrot {
//! #     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
//! #         Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
//! #     }
//! # }
//! use copilot_wire::anthropic::{Anthropic, Model};
//! use copilot_wire_kit::check::{Target, check};
//! use copilot_wire_kit::kit;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount(Model::new("parrot"), Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(kit::<Anthropic>()).model("parrot")).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
//! ```

mod front_end;
mod native;
mod rules;
mod show;

pub use front_end::AnthropicClient;

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules, models};
use copilot_wire::anthropic::{Anthropic, MessagesRequest, Model};
use copilot_wire::router;

impl Toolkit for Anthropic {
    const TITLE: &'static str = "Whatever reads Anthropic messages";

    const SAMPLE: Sample = Sample::new(
        r#"{"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
        &["/v1/messages", "/v1/messages/count_tokens"],
        &["x-claude-code-session-id"],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[models::RULES, rules::RULES];

    in_modules!();

    type FrontEnd = AnthropicClient;

    fn front_end(setup: &Setup<'_>) -> Result<AnthropicClient, BoxError> {
        let recorded = setup.read::<Self>()?;
        let mut request = recorded.unwrap_or_else(|| MessagesRequest::new("", 4096, []));
        request.model = setup.model(request.model, "claude");
        Ok(AnthropicClient::continuing(request))
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Model::new("echo")
    }

    fn models(path: &str) -> Option<String> {
        let base = path.strip_suffix("/messages")?;
        Some(format!("{base}/models"))
    }
}
