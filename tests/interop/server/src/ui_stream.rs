//! One path for each situation that a page on the AI SDK can meet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::protocol::{AgentError, Chart, ChartKind, Conversation, Tool, ToolRun, Usage};
use copilot_wire::ui_stream::Mount;
use copilot_wire::{Reply, Request, Router};
use serde_json::json;

use crate::Failure;
use crate::openai::{Confirm, Tool as Caller, Words};

type Page = copilot_wire::ui_stream::UiStream;

/// All of them.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let router = mount_for(router, "/ui", true)?;
    mount_for(router, "/ui-5.0.0", false)
}

/// All of them below a path, for pages that accept a `finishReason` or not.
fn mount_for(router: Router, below: &str, finish_reason: bool) -> Result<Router, Failure> {
    let at = |name: &str| {
        let mount = Mount::new().finish_reason(finish_reason);
        mount.path(format!("{below}/{name}"))
    };
    let tool = Tool::new("getTide", "Returns the tide at a port.");
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    Ok(router
        .mount(at("words"), Words)?
        .mount(at("tool").tool(tool), Caller)?
        .mount(at("question"), Confirm)?
        .mount(at("approval").approvals(true), Confirm)?
        .mount_fn(at("runs"), runs)?
        .mount_fn(at("fails"), fails)?
        .mount_fn(at("slow"), move |_, reply| {
            slow(reply, Arc::clone(&dropped))
        })?
        .mount_fn(at("dropped"), move |_, reply| {
            let count = count.load(Ordering::SeqCst);
            async move { Ok(reply.text(count.to_string()).await?) }
        })?)
}

/// Thinks, runs a tool of its own twice, draws, and says what it cost.
async fn runs(_: Request<Page>, reply: Reply<Page>) -> Result<(), AgentError> {
    reply.reasoning("Where was it? ").await?;
    reply.reasoning("In the index.").await?;
    let asked = json!({"q": "tides"});
    reply
        .tool_run(ToolRun::new("search", &asked, &json!(["a page"]))?)
        .await?;
    let kind = ChartKind::Bar {
        x: "day".into(),
        y: vec!["height".into()],
    };
    let rows = json!([{"day": "Mon", "height": 4.2}]);
    reply.chart(Chart::new("Tides", kind, &rows)?).await?;
    reply.usage(Usage::new(19, 10)).await?;
    reply
        .tool_run(ToolRun::failed("search", &asked, "no such index")?)
        .await?;
    Ok(())
}

/// Fails, after some text if it was asked for text.
async fn fails(request: Request<Page>, reply: Reply<Page>) -> Result<(), AgentError> {
    if request.prompt().as_deref() == Some("late") {
        reply.text("Par").await?;
    }
    Err(AgentError::new("The model is away."))
}

/// Takes its time, and counts the times that nobody waited for it.
async fn slow(reply: Reply<Page>, dropped: Arc<AtomicUsize>) -> Result<(), AgentError> {
    struct Guard(Arc<AtomicUsize>, bool);
    impl Drop for Guard {
        fn drop(&mut self) {
            if !self.1 {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    let mut guard = Guard(dropped, false);
    for word in ["one ", "two ", "three"] {
        reply.text(word).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    guard.1 = true;
    Ok(())
}
