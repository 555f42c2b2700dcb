//! One path for each situation that an AG-UI app can meet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::ag_ui::{AgUi, Custom, Mount, StateDelta, StateSnapshot};
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Conversation, HistoryItem, Status, ToolCall, ToolRun, Usage,
};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::json;

use crate::Failure;
use crate::openai::{Confirm, Tool, Words};

/// All of them.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let at = |name: &str| Mount::new().path(format!("/agui/{name}"));
    let mut router = router
        .mount(at("words"), Words)?
        .mount(at("tool"), Tool)?
        .mount(at("confirm"), Confirm)?
        .mount(at("interrupt").interrupts(true), Confirm)?;
    for name in NATIVE {
        router = router.mount(at(name), Native(name))?;
    }
    Ok(router)
}

const NATIVE: [&str; 9] = [
    "parts",
    "calls",
    "state",
    "history",
    "slow",
    "left",
    "fails",
    "fails-at-once",
    "panics",
];

/// The number of runs of `slow` that were dropped.
static LEFT: AtomicUsize = AtomicUsize::new(0);

struct Leaves;

impl Drop for Leaves {
    fn drop(&mut self) {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
}

struct Native(&'static str);

#[async_trait]
impl Agent<AgUi> for Native {
    async fn answer(&self, request: Request<AgUi>, reply: Reply<AgUi>) -> Result<(), AgentError> {
        match self.0 {
            "parts" => {
                reply.reasoning("The tides, then.").await?;
                reply.status("Looking").await?;
                let run = ToolRun::new("search", &json!({"q": "tides"}), &json!(["a page"]))?;
                reply.tool_run(run).await?;
                let run = ToolRun::failed("measure", &json!({}), "no gauge")?;
                reply.tool_run(run).await?;
                let status = Status::warning("Looking").detail("host", "a.example");
                reply.status(status).await?;
                reply.text("Before.").await?;
                let (x, y) = ("day".to_owned(), vec!["metres".to_owned()]);
                let rows = json!([{"day": "Mon", "metres": 4.2}]);
                let chart = Chart::new("Tides", ChartKind::Line { x, y }, &rows)?;
                reply.chart(chart).await?;
                reply.text("After.").await?;
                reply.usage(Usage::new(19, 10)).await?;
                reply
                    .send(Custom::new("progress", &json!({"none": null}))?)
                    .await?;
            }
            "calls" => {
                let call = |port: &str| ToolCall::new("get_tide", &json!({"port": port}));
                return Ok(reply.calls(&[call("Brest")?, call("Calais")?])?);
            }
            "state" => {
                let count = request.state.get("count").and_then(|count| count.as_u64());
                let count = count.unwrap_or_default();
                reply
                    .send(StateSnapshot::new(&json!({"count": count, "none": null}))?)
                    .await?;
                let patch = json!([{"op": "replace", "path": "/count", "value": count + 1}]);
                reply.send(StateDelta::new(&patch)?).await?;
            }
            "history" => {
                let items = request.history().map(|item| match item {
                    HistoryItem::Message(message) => format!("{:?}", message.role),
                    HistoryItem::Attachment(_) => "File".to_owned(),
                    HistoryItem::Call(call) => format!("Call {}", call.name),
                    HistoryItem::Result(result) if result.failed => "Failure".to_owned(),
                    HistoryItem::Result(_) => "Result".to_owned(),
                    _ => "?".to_owned(),
                });
                let items = items.collect::<Vec<_>>().join(", ");
                reply.text(items).await?;
            }
            "slow" => {
                let leaves = Leaves;
                for _ in 0..3 {
                    reply.text("one ").await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                // Nobody left.
                std::mem::forget(leaves);
            }
            "left" => {
                // The server hears of it a little later than the client does it.
                for _ in 0..100 {
                    if LEFT.load(Ordering::Relaxed) > 0 {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                let left = LEFT.swap(0, Ordering::Relaxed);
                reply.text(left.to_string()).await?;
            }
            "fails" => {
                reply.status("Looking").await?;
                reply.text("Par").await?;
                return Err(AgentError::new("It is away."));
            }
            "panics" => {
                reply.text("Par").await?;
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            _ => return Err(AgentError::new("It is away.")),
        }
        Ok(())
    }
}
