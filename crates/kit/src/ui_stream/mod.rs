//! UI message streams in tests: an emulated page, and the protocol's part of the conformance kit and the command line.
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
//! use copilot_wire_kit::check::{Target, check};
//! use copilot_wire_kit::kit;
//! use copilot_wire::ui_stream::{Mount, UiStream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount(Mount::new(), Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(kit::<UiStream>())).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
//! ```

mod chat_page;
mod native;
mod rules;
mod show;

pub use chat_page::ChatPage;

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use copilot_wire::router;
use copilot_wire::ui_stream::{Mount, UiStream};

impl Toolkit for UiStream {
    const TITLE: &'static str = "Web pages on the AI SDK";

    const SAMPLE: Sample = Sample::new(
        r#"{"id":"chat-1","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"tools":{"f":{"parameters":{"type":"object"}}}}"#,
        &["/api/chat", "/api/chat/chat-1/stream"],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[rules::RULES];

    in_modules!();

    type FrontEnd = ChatPage;

    fn front_end(setup: &Setup<'_>) -> Result<ChatPage, BoxError> {
        let mut request = setup.read::<Self>()?.unwrap_or_default();
        if let Some(id) = &setup.conversation_id {
            request.id.clone_from(id);
        }
        Ok(ChatPage::continuing(request))
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Mount::new()
    }
}
