//! Agents made of closures, their bodies, and an environment that tests drive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Env, Environment, Outcome, Protocol, Ticks};
use copilot_wire::{Body, Reply, Request, agent_fn};
use futures::StreamExt;
use futures::channel::mpsc;
use futures::executor::block_on;

pub(crate) fn request() -> Request<OpenBb> {
    let body = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    Request::from_parts(parts.clone(), OpenBb::read(&parts, body).unwrap())
}

pub(crate) fn body<F, Fut>(agent: F) -> Body
where
    F: Fn(Reply<OpenBb>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    body_in(&Env::default(), agent)
}

pub(crate) fn body_in<F, Fut>(env: &Env, agent: F) -> Body
where
    F: Fn(Reply<OpenBb>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    Body::run(agent_fn(move |_, reply| agent(reply)), request(), env)
}

pub(crate) fn chunk(text: &str) -> String {
    format!("event: copilotMessageChunk\ndata: {{\"delta\":\"{text}\"}}\n\n")
}

pub(crate) fn failed() -> String {
    chunk("\\n\\nSorry, something went wrong and the answer is incomplete.")
}

pub(crate) fn frames(body: Body) -> Vec<String> {
    block_on(
        body.map(|frame| String::from_utf8(frame.unwrap().to_vec()).unwrap())
            .collect(),
    )
}

pub(crate) fn whole(body: Body) -> String {
    frames(body).concat()
}

/// The body of an answer without a stream, of a chat completion.
pub(crate) fn document<F, Fut>(agent: F) -> Body
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    document_in(&Env::default(), agent)
}

pub(crate) fn document_in<F, Fut>(env: &Env, agent: F) -> Body
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let body = Bytes::from_static(br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let request = Request::new(OpenAi::read(&parts, body).unwrap());
    let agent = agent_fn(move |_, reply| agent(reply));
    Body::run(agent, request, env)
}

/// The text of an answer without a stream.
pub(crate) fn content(document: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let content = document.pointer("/choices/0/message/content").unwrap();
    content.as_str().unwrap().to_owned()
}

/// Polls once and says what came.
pub(crate) fn poll(body: &mut Body) -> Poll<Option<String>> {
    let mut cx = Context::from_waker(Waker::noop());
    body.poll_next_unpin(&mut cx)
        .map(|frame| frame.map(|frame| String::from_utf8(frame.unwrap().to_vec()).unwrap()))
}

/// Remembers incidents, and has ticks that tests drive.
#[derive(Default)]
pub(crate) struct Observer {
    pub(crate) incidents: Mutex<Vec<String>>,
    pub(crate) ticks: Mutex<Option<mpsc::UnboundedReceiver<()>>>,
}

pub(crate) struct Observed(pub(crate) Arc<Observer>);

impl Environment for Observed {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        assert_eq!(period, Duration::from_millis(7500));
        Some(Box::pin(self.0.ticks.lock().unwrap().take()?))
    }
}

/// An environment with the ticks of `observer`, which writes down the faults of turns.
pub(crate) fn observed(observer: &Arc<Observer>) -> Env {
    let faults = Arc::clone(observer);
    Env::new(Observed(Arc::clone(observer))).observe(move |turn| {
        let protocol = turn.protocol;
        let line = match turn.outcome {
            Outcome::Failed { error, sent } => format!("{protocol} {error} {sent}"),
            Outcome::Panicked { sent } => format!("{protocol} panicked {sent}"),
            _ => return,
        };
        faults.incidents.lock().unwrap().push(line);
    })
}

/// Wakes nobody, and counts.
pub(crate) struct Count(pub(crate) AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
