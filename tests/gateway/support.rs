//! An agent, requests for it, and bodies that stall.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol, Usage};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use futures::executor::block_on;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use http::header::ORIGIN;
use http::{Response, StatusCode};

pub(crate) const ORIGIN_OF_WORKSPACE: &str = "https://pro.openbb.co";

/// Repeats what is asked, or does what it says.
pub(crate) struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        drop(request);
        match &*prompt {
            "fail" => return Err(std::io::Error::other("the disk\nis full").into()),
            "panic" => panic!("a bug in the agent"),
            "wait" => {
                reply.text("one").await?;
                std::future::pending::<()>().await;
            }
            _ => {}
        }
        for word in prompt.split(' ') {
            reply.text(word).await?;
        }
        reply.usage(Usage::new(7, 3)).await?;
        Ok(reply.status("Done").await?)
    }
}

pub(crate) type Chunks = BoxStream<'static, Result<Bytes, std::io::Error>>;

pub(crate) fn chunks(body: impl Into<Bytes>) -> Chunks {
    stream::iter([Ok(body.into())]).boxed()
}

pub(crate) fn post(path: &str) -> http::request::Builder {
    http::Request::post(path)
        .header("content-type", "application/json")
        .header(ORIGIN, ORIGIN_OF_WORKSPACE)
}

pub(crate) fn human(prompt: &str) -> String {
    format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#)
}

pub(crate) fn user(model: &str, prompt: &str) -> String {
    format!(
        r#"{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]}}"#
    )
}

pub(crate) fn handle(
    router: &Router,
    request: http::request::Builder,
    body: Chunks,
) -> Response<Body> {
    block_on(router.handle(request.body(body).unwrap()))
}

pub(crate) fn text(body: Body) -> String {
    let frames: Vec<_> = block_on(body.map(|frame| frame.unwrap().to_vec()).collect());
    String::from_utf8(frames.concat()).unwrap()
}

pub(crate) fn ask(
    router: &Router,
    request: http::request::Builder,
    body: String,
) -> (StatusCode, String) {
    let response = handle(router, request, chunks(body));
    (response.status(), text(response.into_body()))
}

pub(crate) fn get(router: &Router, path: &str) -> (StatusCode, String) {
    ask(router, http::Request::get(path), String::new())
}

pub(crate) fn document(router: &Router, path: &str) -> serde_json::Value {
    let (status, document) = get(router, path);
    assert_eq!(status, 200, "{path}");
    serde_json::from_str(&document).unwrap()
}

pub(crate) fn descriptor(id: &str) -> Descriptor {
    Descriptor::new(id, id, "Repeats").path(format!("/{id}/query"))
}

#[derive(Clone)]
pub(crate) struct User(pub(crate) &'static str);

/// A body that nobody must ask for.
pub(crate) fn unread() -> Chunks {
    stream::poll_fn(|_| panic!("the body is read")).boxed()
}

/// A body that stalls after its first chunk.
pub(crate) fn stalled(size: usize) -> Chunks {
    chunks(vec![b' '; size]).chain(stream::pending()).boxed()
}

pub(crate) fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
