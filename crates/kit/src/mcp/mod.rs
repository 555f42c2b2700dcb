//! MCP in tests: an emulated client, and the protocol's part of the conformance kit and the command line.
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
//! use copilot_wire::mcp::{Mcp, Mount};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount(Mount::new("ask", "Repeats a question."), Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(kit::<Mcp>())).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
//! ```

mod front_end;
mod native;
mod rules;
mod show;

pub use front_end::McpClient;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use copilot_wire::mcp::{Mcp, Mount};
use copilot_wire::router;

impl Toolkit for Mcp {
    const TITLE: &'static str = "Programs that call tools (MCP)";

    const SAMPLE: Sample = Sample::new(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"hi"},"_meta":{"progressToken":1}}}"#,
        &["/mcp"],
        &[
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "mcp-session-id",
            "last-event-id",
        ],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[rules::RULES];

    in_modules!();

    type FrontEnd = McpClient;

    fn front_end(setup: &Setup<'_>) -> Result<McpClient, BoxError> {
        let recorded = setup.read::<Self>()?;
        Ok(match recorded {
            Some(call) => McpClient::continuing(call),
            None => McpClient::new(setup.model.as_deref().unwrap_or("ask")),
        })
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Mount::new("ask", "Answers a question.").read_only()
    }

    /// Returns the headers of clients, which also accept documents.
    fn headers() -> HeaderMap {
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        HeaderMap::from_iter([(ACCEPT, accept)])
    }
}
