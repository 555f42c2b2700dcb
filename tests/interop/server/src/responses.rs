//! The same for the Responses protocol.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::protocol::{AgentError, Conversation as _, Usage};
use copilot_wire::responses::{Ending, Item, Model, Relay, Responses};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};

use crate::Failure;
use crate::openai::{Confirm, Formed, Tool, Words};
use crate::recall::Recall;

/// Mounts one model for each situation.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let mut router = router
        .mount(Model::new("words"), Words)?
        .mount(Model::new("tool"), Tool)?
        // Of the guide's snippet.
        .mount(Model::new("analyst"), Tool)?
        .mount(Model::new("recall"), Recall)?
        .mount(Model::new("formed"), Formed)?
        .mount(Model::new("confirm"), Confirm)?;
    for name in NATIVE {
        router = router.mount(Model::new(name), Native(name))?;
    }
    Ok(router)
}

const NATIVE: [&str; 15] = [
    "slow",
    "thinks",
    "fails",
    "fails-at-once",
    "panics",
    "away",
    "runs",
    "left",
    "usage",
    "length",
    "calls",
    "nothing",
    "relay",
    "relay/cut",
    "asks",
];

const CALL: &[u8] = include_bytes!("../../../../fixtures/responses/call.sse");

/// The number of failures of an agent.
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// The number of clients that disconnected before the end.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Counts an agent that is dropped before its end.
struct Leaving(bool);

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.0 {
            LEFT.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Native(&'static str);

#[async_trait]
impl Agent<Responses> for Native {
    async fn answer(
        &self,
        request: Request<Responses>,
        reply: Reply<Responses>,
    ) -> Result<(), AgentError> {
        match self.0 {
            "slow" => {
                let mut leaving = Leaving(false);
                for word in ["one ", "two ", "three"] {
                    reply.text(word).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                leaving.0 = true;
            }
            "thinks" => {
                reply.reasoning("I should ").await?;
                reply.reasoning("look.").await?;
                reply.text("Done.").await?;
            }
            "fails" | "panics" => {
                RUNS.fetch_add(1, Ordering::Relaxed);
                reply.text("Par").await?;
                if self.0 == "fails" {
                    return Err(AgentError::new("The model is away."));
                }
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            "fails-at-once" => {
                RUNS.fetch_add(1, Ordering::Relaxed);
                return Err(AgentError::new("The model is away."));
            }
            "away" => {
                RUNS.fetch_add(1, Ordering::Relaxed);
                return Err(AgentError::new("Try again.").retryable());
            }
            "runs" => reply.text(RUNS.load(Ordering::Relaxed).to_string()).await?,
            "left" => reply.text(LEFT.load(Ordering::Relaxed).to_string()).await?,
            "usage" => {
                reply.text("Hi").await?;
                let usage = Usage::new(19, 10);
                reply
                    .usage(usage.cached_input_tokens(3).reasoning_tokens(7))
                    .await?;
            }
            "length" => {
                reply.text("cut off").await?;
                reply.end(Ending::Incomplete("max_output_tokens".into()))?;
            }
            "calls" => {
                let call = |id: &str, n: u64| Item::call(id, "get_tide", format!("{{\"n\":{n}}}"));
                reply.end(Ending::Calls(vec![call("call_A", 1), call("call_B", 2)]))?;
            }
            "nothing" => {}
            "asks" => {
                // Codex has the tools of a server of MCP in a namespace.
                let results = request.results().map(|result| result.content.into_owned());
                let results: Vec<String> = results.collect();
                if results.is_empty() {
                    let mut call = Item::call("call_A", "words", r#"{"question":"tide-42"}"#);
                    call.namespace = Some("mcp__analyst".to_owned());
                    reply.end(Ending::Calls(vec![call]))?;
                    return Ok(());
                }
                reply.text(&results.join(", ")).await?;
            }
            "relay" => relay(CALL, reply).await?,
            "relay/cut" => {
                let (half, _) = CALL.split_at(CALL.len() / 2);
                relay(half, reply).await?;
            }
            _ => return Err(AgentError::new("no such situation")),
        }
        Ok(())
    }
}

async fn relay(upstream: &[u8], reply: Reply<Responses>) -> Result<(), AgentError> {
    let mut relay = Relay::new();
    for piece in upstream.chunks(50) {
        relay.pass(piece, &reply).await?;
    }
    Ok(relay.end(reply)?)
}
