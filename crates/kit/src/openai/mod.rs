//! OpenAI chat streams in tests: an emulated client, and the protocol's part of the conformance kit and the command
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
//! use copilot_wire::openai::{Model, OpenAi};
//! use copilot_wire_kit::check::{Target, check};
//! use copilot_wire_kit::kit;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount(Model::new("parrot"), Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(kit::<OpenAi>())).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
//! ```

mod front_end;
mod native;
mod rules;
mod show;

pub use front_end::OpenAiClient;

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use crate::{chat_stream, models};
use copilot_wire::openai::{Model, OpenAi};
use copilot_wire::router;

impl Toolkit for OpenAi {
    const TITLE: &'static str = "Whatever reads OpenAI chat streams";

    const SAMPLE: Sample = Sample::new(
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#,
        &["/v1/chat/completions", "/v1/models"],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[
        chat_stream::lines::RULES,
        chat_stream::chunk::RULES,
        chat_stream::complete::RULES,
        models::RULES,
        rules::RULES,
    ];

    in_modules!();

    type FrontEnd = OpenAiClient;

    fn front_end(setup: &Setup<'_>) -> Result<OpenAiClient, BoxError> {
        let mut request = setup.read::<Self>()?.unwrap_or_default();
        request.model = setup.model(request.model, "gpt-4o-mini");
        Ok(OpenAiClient::continuing(request))
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Model::new("echo")
    }

    fn models(path: &str) -> Option<String> {
        let base = path.strip_suffix("/chat/completions")?;
        Some(format!("{base}/models"))
    }
}
