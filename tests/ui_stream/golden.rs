//! Streams with chunks that only this protocol has, to the byte. Clients of every version read it in `tests/interop/ui-stream`.

use copilot_wire::json::Json;
use copilot_wire::protocol::AgentError;
use copilot_wire::ui_stream::{
    Data, File, MessageMetadata, Mount, ReasoningDelta, ToolInputAvailable, UiStream,
};
use copilot_wire::{Reply, Request};
use serde_json::json;

use crate::support::{agent, fixture, hello, post, router};

/// Says what only this protocol has.
pub(crate) async fn native(_: Request<UiStream>, reply: Reply<UiStream>) -> Result<(), AgentError> {
    for piece in ["Let me ", "think."] {
        let mut reasoning = ReasoningDelta::default();
        reasoning.delta = piece.into();
        reply.send(reasoning).await?;
    }
    let input = Json::encode(&json!({"q": "tides"}))?;
    let search = ToolInputAvailable::new("c1", "search", input.clone()).provider_executed();
    let other = ToolInputAvailable::new("c2", "search", input)
        .provider_executed()
        .dynamic();
    reply.send(search.clone()).await?;
    reply.send(other.clone()).await?;
    reply
        .send(search.output(Json::encode(&["a page"])?))
        .await?;
    reply.send(other.failure("no such index")).await?;
    reply.text("Found: ").await?;
    reply
        .send(Data::new("weather", &json!({"sky": "rain"}))?.id("w1"))
        .await?;
    reply.send(Data::new("progress", &7)?.transient()).await?;
    reply
        .send(File::new("data:image/png;base64,iVBORw0KGgo=", "image/png"))
        .await?;
    let metadata = MessageMetadata::new(Json::encode(&json!({"model": "tide-1"}))?);
    reply.send(metadata).await?;
    reply.text("rain.").await?;
    Ok(())
}

#[test]
fn what_only_this_protocol_has() {
    let router = router(Mount::new(), agent(native));
    assert_eq!(post(&router, &hello()), fixture("native.sse"));
}
