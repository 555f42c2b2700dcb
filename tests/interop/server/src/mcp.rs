//! One tool for each situation that a client of MCP can meet, and the tools that the conformance kit names.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::mcp::{ContentBlock, ImageContent, Mcp, Mount, Server};
use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation as _, Refusal, ToolRun, User, Verdict,
};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::request::Parts;
use serde_json::json;

use crate::Failure;
use crate::openai::{Confirm, Words};
use crate::recall::Recall;

/// The path of the tools of the conformance kit.
const CONFORMANCE: &str = "/mcp/conformance";

/// A red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

const NATIVE: [&str; 9] = [
    "steps", "fails", "panics", "waits", "left", "breaks", "runs", "slow", "whoami",
];

/// All of them, on a server at this address.
pub(crate) fn mount(router: Router, address: &str) -> Result<Router, Failure> {
    let tool = |name: &str| Mount::new(name, format!("Shows the situation {name}."));
    let server = Server::new("interop", "1.0.0")
        .protected(format!("{address}/mcp"), ["https://login.example"])
        .scopes(["ask"]);
    let mut router = router
        .guard(identify)
        .mount(tool("words").read_only().server(server), Words)?
        .mount(tool("recall"), Recall)?
        .mount(tool("confirm"), Confirm)?;
    for name in NATIVE {
        router = router.mount(tool(name), Native(name))?;
    }
    for name in KIT {
        router = router.mount(tool(name).path(CONFORMANCE), Kit(name))?;
    }
    Ok(router)
}

/// Takes the token for the user.
async fn identify(mut parts: Parts) -> Result<Parts, Refusal> {
    let token = parts.headers.get("authorization");
    let token = token.and_then(|token| token.to_str().ok());
    let user = User::new(token.unwrap_or("anyone"));
    parts.extensions.insert(user);
    Ok(parts)
}

/// The number of runs of `breaks`.
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// The number of runs of `waits` that were dropped.
static LEFT: AtomicUsize = AtomicUsize::new(0);

struct Leaves;

impl Drop for Leaves {
    fn drop(&mut self) {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
}

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

struct Native(&'static str);

#[async_trait]
impl Agent<Mcp> for Native {
    async fn answer(&self, request: Request<Mcp>, reply: Reply<Mcp>) -> Result<(), AgentError> {
        match self.0 {
            "steps" => {
                reply.status("Reading \"the\" table").await?;
                pause(50).await;
                let run = ToolRun::new("search", &json!({"q": "tides"}), &json!(["a page"]))?;
                reply.tool_run(run).await?;
                pause(50).await;
                reply.status("Writing").await?;
                pause(50).await;
                reply.text("Done.").await?;
            }
            "fails" => {
                reply.text("Par").await?;
                return Err(AgentError::new("The model is away."));
            }
            "panics" => {
                reply.text("Par").await?;
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            "waits" => {
                let _leaves = Leaves;
                reply.status("Waiting").await?;
                std::future::pending::<()>().await;
            }
            "left" => {
                // The server hears of it a little later than the client does it.
                for _ in 0..100 {
                    if LEFT.load(Ordering::Relaxed) > 0 {
                        break;
                    }
                    pause(20).await;
                }
                let left = LEFT.swap(0, Ordering::Relaxed);
                reply.text(left.to_string()).await?;
            }
            "breaks" => {
                RUNS.fetch_add(1, Ordering::Relaxed);
                reply.status("Half").await?;
                pause(1000).await;
                reply.text("Whole.").await?;
            }
            "runs" => {
                let runs = RUNS.swap(0, Ordering::Relaxed);
                reply.text(runs.to_string()).await?;
            }
            "slow" => {
                let seconds = request.prompt().and_then(|it| it.parse().ok());
                for second in 0..seconds.unwrap_or(1) {
                    reply.status(format!("Second {second}")).await?;
                    pause(1000).await;
                }
                reply.text("Done.").await?;
            }
            "whoami" => {
                pause(300).await;
                let user = request.extensions().get::<User>();
                let user = user.map(|user| user.id.to_string());
                reply.text(user.unwrap_or_default()).await?;
            }
            _ => return Err(AgentError::new("no such situation")),
        }
        Ok(())
    }
}

const KIT: [&str; 12] = [
    "test_simple_text",
    "test_image_content",
    "test_error_handling",
    "test_tool_with_progress",
    "test_logging_tool",
    "test_elicitation",
    "test_streaming_elicitation",
    "test_reconnection",
    "test_input_required_result_elicitation",
    "test_input_required_result_multi_round",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
];

/// A tool of the conformance kit.
struct Kit(&'static str);

#[async_trait]
impl Agent<Mcp> for Kit {
    async fn answer(&self, request: Request<Mcp>, reply: Reply<Mcp>) -> Result<(), AgentError> {
        match self.0 {
            "test_simple_text" => reply.text("This is a simple text.").await?,
            "test_image_content" => {
                let image = ImageContent::new(PIXEL, "image/png");
                reply.send(ContentBlock::Image(image)).await?;
            }
            "test_error_handling" => return Err(AgentError::new("This tool fails.")),
            "test_tool_with_progress" | "test_logging_tool" | "test_reconnection" => {
                for step in ["one", "two", "three"] {
                    reply.status(step).await?;
                    pause(50).await;
                }
                reply.text("Done.").await?;
            }
            _ => {
                let ask = |id| Confirmation::new(id, "Are you Alice?", "");
                let is_last = |id: &str| id == "second" || !self.0.ends_with("multi_round");
                match request.decision() {
                    Some(answer) if answer.verdict == Verdict::Refused => {
                        reply.text("Hello.").await?;
                    }
                    Some(answer) if answer.verdict == Verdict::Accepted => {
                        match is_last(&answer.id) {
                            true => reply.text("Hello, Alice: state-ok.").await?,
                            false => reply.confirm(ask("second"))?,
                        }
                    }
                    _ => reply.confirm(ask("first"))?,
                }
            }
        }
        Ok(())
    }
}
