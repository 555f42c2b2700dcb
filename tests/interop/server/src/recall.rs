//! An agent that tells what it remembers.

use copilot_wire::protocol::{
    AgentError, Conversation as _, HistoryItem, Protocol, Role, ToolCall,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde_json::json;

/// Asks for the tide when the user has said something, and tells what it remembers when it has the tide.
pub(crate) struct Recall;

#[async_trait]
impl<P: Protocol> Agent<P> for Recall {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let items: Vec<_> = request.history().collect();
        let offered = request.tools().any(|tool| tool.name == "get_tide");
        let is_asked = |item: &HistoryItem<'_>| matches!(item, HistoryItem::Message(it) if it.role == Role::User);
        if offered && items.last().is_some_and(is_asked) {
            reply.status("Looking it up").await?;
            let call = ToolCall::new("get_tide", &json!({"port": "Brest"}))?;
            return Ok(reply.call(call)?);
        }
        let words = items.iter().map(|item| match item {
            HistoryItem::Message(message) => match message.role {
                Role::User => format!("u:{}", message.text),
                Role::Assistant => "a".to_owned(),
                Role::System => format!("s:{}", message.text),
                _ => "o".to_owned(),
            },
            HistoryItem::Call(call) => format!("c:{}", call.name),
            HistoryItem::Result(result) => format!("r:{}", result.content),
            _ => "?".to_owned(),
        });
        Ok(reply.text(words.collect::<Vec<_>>().join(" ")).await?)
    }
}
