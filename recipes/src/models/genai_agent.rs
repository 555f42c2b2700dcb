//! genai, which speaks to the models of many providers.

use copilot_wire::protocol::{AgentError, Conversation, HistoryItem, Protocol, Role, Usage};
use copilot_wire::{Agent, Reply, Request, async_trait, protocol};
use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};

/// Asks a model through genai.
pub struct GenAiAgent {
    client: Client,
    target: ServiceTarget,
}

impl GenAiAgent {
    /// Creates an agent on the model `model` of the endpoint at `base`.
    ///
    /// # Errors
    ///
    /// When the HTTP client cannot be set up.
    pub fn new(base: &str, model: &str) -> Result<Self, genai::Error> {
        Ok(Self {
            client: Client::new()?,
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(format!("{base}/")),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(AdapterKind::OpenAI, model),
            },
        })
    }
}

/// Returns a conversation as genai has it. Calls in a row are one message.
fn prompt(conversation: &impl Conversation) -> Result<ChatRequest, AgentError> {
    let mut messages = Vec::new();
    let mut calls = Vec::new();
    for item in conversation.history() {
        if !matches!(item, HistoryItem::Call(_)) && !calls.is_empty() {
            messages.push(ChatMessage::from(std::mem::take(&mut calls)));
        }
        match item {
            HistoryItem::Message(message) => {
                let text = message.text.into_owned();
                messages.push(match message.role {
                    Role::System => ChatMessage::system(text),
                    Role::Assistant => ChatMessage::assistant(text),
                    _ => ChatMessage::user(text),
                });
            }
            HistoryItem::Call(call) => calls.push(ToolCall {
                call_id: call.id.clone().unwrap_or_default().into_owned(),
                fn_name: call.name.to_string(),
                fn_arguments: call.json()?.decode()?,
                thought_signatures: None,
            }),
            HistoryItem::Result(result) => {
                let id = result.call_id.unwrap_or_default();
                let response = ToolResponse::new(id, result.content);
                messages.push(response.into());
            }
            _ => {}
        }
    }
    let tools = conversation.tools().map(|tool| {
        let offered = Tool::new(tool.name.into_owned()).with_description(tool.description);
        match tool.parameters {
            Some(schema) => Ok(offered.with_schema(schema.decode()?)),
            None => Ok(offered),
        }
    });
    let tools = tools.collect::<Result<Vec<_>, AgentError>>()?;
    Ok(ChatRequest::new(messages).with_tools(tools))
}

#[async_trait]
impl<P: Protocol> Agent<P> for GenAiAgent {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = prompt(&*request)?;
        drop(request);
        let options = ChatOptions::default()
            .with_capture_tool_calls(true)
            .with_capture_usage(true);
        let target = self.target.clone();
        let answer = self.client.exec_chat_stream(target, prompt, Some(&options));
        let mut events = answer.await?.stream;
        while let Some(event) = events.next().await {
            match event? {
                ChatStreamEvent::Chunk(chunk) => reply.text(chunk.content).await?,
                ChatStreamEvent::ReasoningChunk(chunk) => reply.reasoning(chunk.content).await?,
                ChatStreamEvent::End(end) => {
                    if let Some(usage) = &end.captured_usage {
                        let tokens = |count: Option<i32>| {
                            count.and_then(|count| count.try_into().ok()).unwrap_or(0)
                        };
                        let [input, output] =
                            [usage.prompt_tokens, usage.completion_tokens].map(tokens);
                        reply.usage(Usage::new(input, output)).await?;
                    }
                    let calls = end.captured_into_tool_calls().unwrap_or_default();
                    let calls = calls
                        .iter()
                        .map(|call| protocol::ToolCall::new(&*call.fn_name, &call.fn_arguments));
                    let calls = calls.collect::<Result<Vec<_>, _>>()?;
                    if !calls.is_empty() {
                        reply.calls(&calls)?;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(AgentError::new(
            "The model stopped in the middle of its answer.",
        ))
    }
}
