//! A router with an agent, in this process.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use copilot_wire::github::{ChatRequest, GitHub, Message, Mount};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::AgentError;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::StreamExt;
use futures::executor::block_on;
use http::{HeaderMap, Method, StatusCode};

use crate::{debug_cli, vs_code};

type Answer = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send>>;

/// An agent that is a closure.
pub(crate) struct Run<F>(F);

#[async_trait]
impl<F> Agent<GitHub> for Run<F>
where
    F: Fn(Request<GitHub>, Reply<GitHub>) -> Answer + Send + Sync,
{
    async fn answer(
        &self,
        request: Request<GitHub>,
        reply: Reply<GitHub>,
    ) -> Result<(), AgentError> {
        (self.0)(request, reply).await
    }
}

pub(crate) fn agent<F, Fut>(run: F) -> impl Agent<GitHub> + 'static
where
    F: Fn(Request<GitHub>, Reply<GitHub>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    Run(move |request, reply| -> Answer { Box::pin(run(request, reply)) })
}

pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

pub(crate) fn send(
    router: &Router,
    method: Method,
    path: &str,
    headers: &HeaderMap,
    body: impl Into<Bytes>,
) -> Response {
    let body = futures::stream::iter([Ok::<Bytes, Infallible>(body.into())]);
    let mut request = http::Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().unwrap();
    let json = http::HeaderValue::from_static("application/json");
    request.headers_mut().insert("content-type", json);
    request.headers_mut().extend(headers.clone());
    let (parts, body) = block_on(router.handle(request)).into_parts();
    let body = block_on(body.map(Result::unwrap).collect::<Vec<_>>()).concat();
    Response {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body).unwrap(),
    }
}

pub(crate) fn post(router: &Router, body: impl Into<Bytes>) -> Response {
    send(router, Method::POST, "/github", &HeaderMap::new(), body)
}

/// Returns the reply to a user's message.
pub(crate) fn ask(agent: impl Agent<GitHub> + 'static) -> String {
    let router = Router::new().mount(Mount::unverified(), agent).unwrap();
    let request = ChatRequest::new([Message::new("user", "hi")]);
    let response = post(&router, request.to_json());
    assert_eq!(response.status, StatusCode::OK);
    response.body
}

/// Reads a reply with both strict checkers, which must accept it.
pub(crate) fn strictly(reply: &str) -> (debug_cli::Read, vs_code::Chat) {
    assert!(reply.starts_with(ACK), "{reply}");
    assert!(reply.ends_with(DONE), "{reply}");
    assert_eq!(reply.matches("[DONE]").count(), 1, "{reply}");
    assert_eq!(reply.matches("finish_reason").count(), 1, "{reply}");
    let cli = debug_cli::read(reply).unwrap_or_else(|error| panic!("{error}\n{reply}"));
    let relayed = vs_code::relay(reply).unwrap();
    let chat = vs_code::read(&relayed).unwrap_or_else(|error| panic!("{error}\n{reply}"));
    (cli, chat)
}

pub(crate) const ACK: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"role\":\"assistant\"}}]}\n\n";
pub(crate) const DONE: &str = "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"content\":null}}]}\n\ndata: [DONE]\n\n";
