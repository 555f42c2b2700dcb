//! rig, which speaks to the models of many providers. The example asks one with OpenAI's chat
//! completions; each other provider's `Model` has the same stream.

use std::collections::HashMap;

use copilot_wire::protocol::{AgentError, Conversation, HistoryItem, Protocol, Role, Usage};
use copilot_wire::{Agent, Reply, Request, async_trait, protocol};
use futures_util::StreamExt;
use rig_core::Model;
use rig_core::completion::{CompletionRequest, CompletionResponse, ToolDefinition};
use rig_core::message::{
    AssistantContent, AssistantMessage, CallId, Message, ToolCall, ToolFunction, ToolName,
};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::wire::Chat;
use rig_core::streaming::{Item, StreamEvent};
use serde_json::json;

/// Asks a model through rig.
pub struct RigAgent(Model<Chat>);

impl RigAgent {
    /// Creates an agent on the model `model` of the endpoint at `base`.
    #[must_use]
    pub fn new(base: &str, model: &str) -> Self {
        let mut config = OpenAIConfig::new("none");
        config.base_url = base.to_owned();
        Self(config.client().chat(model))
    }
}

/// Returns a conversation as rig has it. Calls in a row are one message.
fn prompt(conversation: &impl Conversation) -> Result<CompletionRequest, AgentError> {
    let mut messages = Vec::new();
    let mut calls = Vec::new();
    // rig wants the name of the tool with a result; front ends of OpenAI's send the id of the call.
    let mut names = HashMap::new();
    for item in conversation.history() {
        if !matches!(item, HistoryItem::Call(_)) && !calls.is_empty() {
            let calls = AssistantMessage::new(std::mem::take(&mut calls));
            messages.push(Message::Assistant(calls));
        }
        match item {
            HistoryItem::Message(message) => messages.push(match message.role {
                Role::System => Message::system(message.text),
                Role::Assistant => Message::assistant(message.text),
                _ => Message::user(message.text),
            }),
            HistoryItem::Call(call) => {
                let id = call.id.clone().unwrap_or_default();
                let name = ToolName::new(&*call.name)?;
                names.insert(id.clone().into_owned(), name.clone());
                let function = ToolFunction::new(name, call.json()?.decode()?);
                calls.push(AssistantContent::ToolCall(ToolCall::from_wire(
                    id, function,
                )));
            }
            HistoryItem::Result(result) => {
                let id = result.call_id.unwrap_or_default();
                let name = match names.get(&*id) {
                    Some(name) => name.clone(),
                    None => ToolName::new(result.name)?,
                };
                messages.push(Message::tool_result(
                    CallId::from_wire(id),
                    name,
                    result.content,
                ));
            }
            _ => {}
        }
    }
    let mut request = CompletionRequest::from(messages);
    for tool in conversation.tools() {
        let schema = tool.parameters.map_or_else(
            || Ok(json!({"type": "object", "properties": {}})),
            |schema| schema.decode(),
        )?;
        let name = ToolName::new(tool.name)?;
        request
            .tools
            .push(ToolDefinition::new(name, tool.description, schema));
    }
    Ok(request)
}

/// Returns the calls of an answer that has ended.
fn calls(answer: &CompletionResponse) -> Result<Vec<protocol::ToolCall>, AgentError> {
    let calls = answer.choice.iter().filter_map(|content| match content {
        AssistantContent::ToolCall(call) => Some(&call.function),
        _ => None,
    });
    calls
        .map(|call| {
            Ok(protocol::ToolCall::new(
                call.name.to_string(),
                &call.arguments,
            )?)
        })
        .collect()
}

#[async_trait]
impl<P: Protocol> Agent<P> for RigAgent {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = prompt(&*request)?;
        drop(request);
        let mut events = self.0.stream(prompt)?;
        while let Some(event) = events.next().await {
            match event? {
                Item::Event(StreamEvent::Text { text, .. }) => reply.text(text).await?,
                Item::Event(StreamEvent::Reasoning { text, .. }) => reply.reasoning(text).await?,
                _ => {}
            }
        }
        // An error where the provider did not end the answer.
        let answer = events.finish().await?;
        let usage = &answer.usage;
        if let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) {
            reply.usage(Usage::new(input, output)).await?;
        }
        let calls = calls(&answer)?;
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }
}
