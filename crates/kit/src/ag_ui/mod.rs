//! AG-UI in tests: an emulated app, and the protocol's part of the conformance kit and the command line.
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
//! use copilot_wire::ag_ui::{AgUi, Mount};
//! use copilot_wire_kit::check::{Target, check};
//! use copilot_wire_kit::kit;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount(Mount::new(), Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(kit::<AgUi>())).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
//! ```

mod front_end;
mod native;
mod rules;
mod show;
mod state;
mod verify;

pub use front_end::App;

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use copilot_wire::ag_ui::{AgUi, Mount, RunAgentInput};
use copilot_wire::router;

impl Toolkit for AgUi {
    const TITLE: &'static str = "AG-UI apps, such as those with CopilotKit";

    const SAMPLE: Sample = Sample::new(
        r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u1","role":"user","content":"hi"}],"tools":[{"name":"f","description":"","parameters":{"type":"object"}}],"context":[],"forwardedProps":{}}"#,
        &["/agui"],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[rules::RULES];

    in_modules!();

    type FrontEnd = App;

    fn front_end(setup: &Setup<'_>) -> Result<App, BoxError> {
        let recorded = setup.read::<Self>()?;
        let mut input = recorded.unwrap_or_else(|| RunAgentInput::new("", "", []));
        if let Some(id) = &setup.conversation_id {
            input.thread_id.clone_from(id);
        }
        Ok(App::continuing(input))
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Mount::new()
    }
}
