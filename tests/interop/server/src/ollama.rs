//! One model for each situation that a client of Ollama can meet.

use std::time::Duration;

use copilot_wire::protocol::{AgentError, AttachmentContent, Conversation, HistoryItem, ToolCall};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use outside_protocol::ollama::{DoneReason, Model, Ollama};
use serde_json::json;

use crate::Failure;
use crate::openai::{Confirm, Formed, Tool, Words};

const NATIVE: [&str; 10] = [
    "slow",
    "thinks",
    "sees",
    "fails",
    "fails-at-once",
    "busy",
    "panics",
    "usage",
    "length",
    "calls",
];

/// All of them.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let mut router = router
        .mount(Model::new("words"), Words)?
        .mount(Model::new("tool"), Tool)?
        .mount(Model::new("formed"), Formed)?
        .mount(Model::new("confirm"), Confirm)?;
    for name in NATIVE {
        router = router.mount(Model::new(name), Native(name))?;
    }
    Ok(router)
}

/// Behaviour that only this protocol has.
struct Native(&'static str);

#[async_trait]
impl Agent<Ollama> for Native {
    async fn answer(
        &self,
        request: Request<Ollama>,
        reply: Reply<Ollama>,
    ) -> Result<(), AgentError> {
        match self.0 {
            "slow" => {
                for word in ["one ", "two ", "three"] {
                    reply.text(word).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            "thinks" => {
                reply.reasoning("Two and two ").await?;
                reply.reasoning("is four.").await?;
                reply.text("Four.").await?;
            }
            "sees" => {
                let images = request.history().filter_map(|item| match item {
                    HistoryItem::Attachment(image) => Some(image.content),
                    _ => None,
                });
                for image in images.collect::<Vec<_>>() {
                    if let AttachmentContent::Base64(data) = image {
                        reply.text(data.into_owned()).await?;
                    }
                }
            }
            "fails" => {
                reply.text("Par").await?;
                return Err(AgentError::new("The model is away."));
            }
            "fails-at-once" => return Err(AgentError::new("The model is away.")),
            "busy" => return Err(AgentError::new("Busy.").retryable()),
            "panics" => {
                reply.text("Par").await?;
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            "usage" => {
                reply.text("Hi").await?;
                reply
                    .usage(copilot_wire::protocol::Usage::new(19, 10))
                    .await?;
            }
            "length" => {
                reply.text("cut off").await?;
                reply.end(DoneReason("length".into()))?;
            }
            "calls" => {
                let results: Vec<_> = request.results().collect();
                if !results.is_empty() {
                    let told = results.iter().map(|result| {
                        let arguments = result.arguments.as_ref();
                        let arguments = arguments.map_or("?", |json| json.text());
                        format!("{}{arguments}={}", result.name, result.content)
                    });
                    return Ok(reply.text(told.collect::<Vec<_>>().join(" ")).await?);
                }
                let call = |n: u64| ToolCall::new("get_tide", &json!({"n": n}));
                reply.calls(&[call(1)?, call(2)?])?;
            }
            _ => return Err(AgentError::new("no such situation")),
        }
        Ok(())
    }
}
