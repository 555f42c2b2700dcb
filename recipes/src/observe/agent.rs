//! An agent whose model calls a tool: each call of the model and each run of the tool is a span.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use copilot_wire::agent::execute_tool;
use copilot_wire::json::Json;
use copilot_wire::models::{Upstream, chat, chat_with_contents, refused};
use copilot_wire::openai::{ChatMessage, ChatRequest, Function, OpenAi, Relay};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde::Deserialize;

use super::traces;

/// The number of times that the model may be asked in one turn.
const ROUNDS: usize = 8;

/// Answers with a model, which may look at the tide.
pub struct Sailor {
    client: reqwest::Client,
    url: String,
    model: String,
    authorization: HeaderValue,
    /// Records contents too: what users ask, and what they are answered.
    contents: bool,
}

#[derive(Deserialize)]
struct Place {
    at: String,
}

/// Looks at the tide. An error is text for the model, so it has no secrets.
async fn tide(arguments: Result<Place, String>) -> Result<&'static str, String> {
    match &*arguments?.at {
        "Brest" => Ok("4.1 m"),
        _ => Err("no such place".to_owned()),
    }
}

impl Sailor {
    /// Creates an agent on the model `model` of the endpoint at `base`, such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    ///
    /// When the key cannot be in a header.
    pub fn new(base: &str, key: &str, model: &str, contents: bool) -> Result<Self, AgentError> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {key}"))?;
        authorization.set_sensitive(true);
        Ok(Self {
            client: reqwest::Client::new(),
            url: format!("{base}/chat/completions"),
            model: model.to_owned(),
            authorization,
            contents,
        })
    }

    /// Asks the model once, in the span of the call.
    async fn ask<P: Protocol>(
        &self,
        prompt: &mut ChatRequest,
        reply: &Reply<P>,
    ) -> Result<ChatMessage, AgentError> {
        let body = OpenAi::body(prompt);
        let call = async {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(AUTHORIZATION, self.authorization.clone());
            traces::pass_on(&mut headers);
            let request = self.client.post(&self.url).headers(headers).body(body);
            // A URL may hold secrets, and errors are logged.
            let sent = request.send().await;
            let mut answer = sent.map_err(reqwest::Error::without_url)?;
            if !answer.status().is_success() {
                let (status, headers) = (answer.status(), answer.headers().clone());
                let body = answer.bytes().await.unwrap_or_default();
                return Err(refused::<OpenAi>(status, &headers, &body));
            }
            let mut relay = Relay::new();
            while let Some(bytes) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
                relay.pass(&bytes, reply).await?;
            }
            Ok(ChatMessage::from(&relay.finish()?))
        };
        match self.contents {
            true => chat_with_contents::<OpenAi, _, _>(prompt, call).await,
            false => chat::<OpenAi, _, _>(prompt, call).await,
        }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Sailor {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let schema = Json::parse(
            r#"{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}"#,
        )?;
        let tool = Function::new("get_tide", "Returns the height of the tide.");
        let mut prompt =
            ChatRequest::from_conversation(&*request).offer([tool.parameters(schema).into()]);
        prompt.model.clone_from(&self.model);
        for _ in 0..ROUNDS {
            let answer = self.ask(&mut prompt, &reply).await?;
            if answer.tool_calls.is_empty() {
                return Ok(());
            }
            prompt.messages.push(answer.clone());
            for call in &answer.tool_calls {
                let arguments = call.function.decode().map_err(|error| error.to_string());
                let run = match &*call.function.name {
                    // Its own name, not one that a model has made up: metrics have it as a label.
                    "get_tide" => execute_tool("get_tide", Some(&call.id), tide(arguments)).await,
                    _ => Err("no such tool".to_owned()),
                };
                let text = match run {
                    Ok(text) => text.to_owned(),
                    Err(error) => format!("error: {error}"),
                };
                prompt.messages.push(ChatMessage::result(&call.id, text));
            }
        }
        Err(AgentError::new("The model has called tools without end."))
    }
}
