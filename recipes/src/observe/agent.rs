//! An agent whose model calls a tool: each call of the model and each run of the tool is a span.

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use copilot_wire::models::{AgentTool, Toolset, refused};
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures_util::{Stream, TryStreamExt};
use serde::Deserialize;

use super::traces;

/// Answers with a model, which may look at the tide.
pub struct Sailor {
    client: reqwest::Client,
    url: String,
    model: String,
    authorization: HeaderValue,
    tools: Toolset<'static>,
}

#[derive(Deserialize)]
struct Place {
    at: String,
}

/// Looks at the tide. The message of an error is for the model and the user, so it has no secrets.
async fn tide(place: Place) -> Result<&'static str, AgentError> {
    match &*place.at {
        "Brest" => Ok("4.1 m"),
        _ => Err(AgentError::new("no such place")),
    }
}

impl Sailor {
    /// Creates an agent on the model `model` of the endpoint at `base`, such as `http://127.0.0.1:11434/v1`. `contents`
    /// records what users ask, and what they are answered.
    ///
    /// # Errors
    ///
    /// When the key cannot be in a header.
    pub fn new(base: &str, key: &str, model: &str, contents: bool) -> Result<Self, AgentError> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {key}"))?;
        authorization.set_sensitive(true);
        let schema = serde_json::json!({
            "type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"],
        });
        let about = "Returns the height of the tide.";
        let tools = Toolset::new().with(AgentTool::new("get_tide", about, &schema, tide)?);
        Ok(Self {
            client: reqwest::Client::new(),
            url: format!("{base}/chat/completions"),
            model: model.to_owned(),
            authorization,
            tools: match contents {
                true => tools.record_contents(),
                false => tools,
            },
        })
    }

    /// Asks the model once. The span of the call is the current one.
    async fn post(
        &self,
        body: Bytes,
    ) -> Result<impl Stream<Item = reqwest::Result<Bytes>> + use<>, AgentError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, self.authorization.clone());
        traces::pass_on(&mut headers);
        let request = self.client.post(&self.url).headers(headers).body(body);
        // A URL may hold secrets, and errors are logged.
        let sent = request.send().await;
        let answer = sent.map_err(reqwest::Error::without_url)?;
        if !answer.status().is_success() {
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.bytes().await.unwrap_or_default();
            return Err(refused::<OpenAi>(status, &headers, &body));
        }
        Ok(answer.bytes_stream().map_err(reqwest::Error::without_url))
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Sailor {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut prompt = ChatRequest::from_conversation(&*request);
        prompt.model.clone_from(&self.model);
        let post = |body| self.post(body);
        self.tools.answer(prompt, &request, reply, post).await
    }
}
