//! One model for each situation that a client of Anthropic Messages can meet.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use copilot_wire::anthropic::{
    Anthropic, ErrorObject, Model, Relay, StopReason, ToolUseBlock, Usage,
};
use copilot_wire::protocol::{AgentError, Conversation};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::json;

use crate::Failure;
use crate::openai::{Confirm, Formed, Tool, Words};
use crate::recall::Recall;

/// All of them.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let mut router = router
        .mount(Model::new("words"), Words)?
        .mount(Model::new("tool"), Tool)?
        .mount(Model::new("recall"), Recall)?
        .mount(Model::new("formed"), Formed)?
        .mount(Model::new("confirm"), Confirm)?;
    for name in NATIVE {
        router = router.mount(Model::new(name), Native(name))?;
    }
    Ok(router)
}

const NATIVE: [&str; 16] = [
    "slow",
    "waits",
    "left",
    "silent",
    "thinks",
    "fails",
    "fails-at-once",
    "overloaded",
    "busy",
    "panics",
    "usage",
    "length",
    "refusal",
    "calls",
    "relay/calls",
    "relay/cut",
];

const CALLS: &[u8] = include_bytes!("../../../../fixtures/anthropic/call.sse");

/// The number of agents that were dropped before they were done.
static LEFT: AtomicU64 = AtomicU64::new(0);

struct Waiting;

impl Drop for Waiting {
    fn drop(&mut self) {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
}

/// Behaviour that only this protocol has.
struct Native(&'static str);

#[async_trait]
impl Agent<Anthropic> for Native {
    async fn answer(
        &self,
        request: Request<Anthropic>,
        reply: Reply<Anthropic>,
    ) -> Result<(), AgentError> {
        match self.0 {
            "slow" => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                for word in ["one ", "two ", "three"] {
                    reply.text(word).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            "waits" => {
                let _waiting = Waiting;
                reply.text("I wait.").await?;
                std::future::pending::<()>().await;
            }
            "left" => reply.text(LEFT.load(Ordering::Relaxed).to_string()).await?,
            "silent" => {}
            "thinks" => {
                reply.reasoning("I should look.").await?;
                reply.status("Looking").await?;
                let results: Vec<_> = request.messages().map(|message| message.text).collect();
                reply.text(format!("{} messages", results.len())).await?;
            }
            "fails" => {
                reply.text("Par").await?;
                return Err(AgentError::new("The model is away."));
            }
            "fails-at-once" => return Err(AgentError::new("The model is away.")),
            "overloaded" => {
                let kind = ErrorObject::OVERLOADED;
                reply.end(ErrorObject::new(kind, "The model is away."))?;
            }
            "busy" => return Err(AgentError::new("Busy.").retryable()),
            "panics" => {
                reply.text("Par").await?;
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            "usage" => {
                reply.text("Hi").await?;
                reply.send(Usage::new(19, 10)).await?;
            }
            "length" => {
                reply.text("cut off").await?;
                reply.end(StopReason::MaxTokens)?;
            }
            "refusal" => {
                reply.text("I can't help.").await?;
                reply.end(StopReason::Refusal)?;
            }
            "calls" => {
                let call = |id: &str, n: u64| ToolUseBlock::new(id, "get_tide", &json!({"n": n}));
                reply.end(vec![call("toolu_A", 1)?, call("toolu_B", 2)?])?;
            }
            "relay/calls" => relay(CALLS, reply).await?,
            "relay/cut" => {
                let (half, _) = CALLS.split_at(CALLS.len() / 2);
                relay(half, reply).await?;
            }
            _ => return Err(AgentError::new("no such situation")),
        }
        Ok(())
    }
}

async fn relay(upstream: &[u8], reply: Reply<Anthropic>) -> Result<(), AgentError> {
    let mut relay = Relay::new();
    for piece in upstream.chunks(50) {
        relay.pass(piece, &reply).await?;
    }
    Ok(relay.end(reply)?)
}
