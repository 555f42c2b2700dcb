//! Every server answers, in pieces as they come, and drops the agent of a client that leaves.

use std::io;
use std::time::Duration;

use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Repeats what it is told and, told to wait, waits until its client leaves.
#[derive(Clone)]
struct Parrot(UnboundedSender<()>);

struct Leaving(UnboundedSender<()>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Parrot {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        reply.text(&prompt).await?;
        if prompt == "wait" {
            let _leaving = Leaving(self.0.clone());
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

async fn ask(address: std::net::SocketAddr, prompt: &str) -> TcpStream {
    let body = format!(
        r#"{{"model":"parrot","stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]}}"#
    );
    let head = format!(
        "POST /v1/chat/completions?a=b HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

async fn try_out<F, Fut>(serve: F)
where
    F: FnOnce(TcpListener, Router) -> Fut,
    Fut: Future<Output = io::Result<()>> + Send + 'static,
{
    let (left, mut leaves) = unbounded_channel();
    // poem notices that a client has left when it writes, so at a keep-alive.
    let router = Router::new();
    let router = router
        .mount(copilot_wire::openai::Model::new("parrot"), Parrot(left))
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(serve(listener, router));

    let mut answer = String::new();
    let mut stream = ask(address, "hello").await;
    timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains("content-type: text/event-stream"),
        "{answer}"
    );
    assert!(answer.contains(r#""content":"hello""#), "{answer}");
    assert!(answer.contains("data: [DONE]"), "{answer}");

    let mut stream = ask(address, "wait").await;
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(r#""content":"wait""#) {
        let read = timeout(PATIENCE, stream.read_buf(&mut seen))
            .await
            .unwrap()
            .unwrap();
        assert_ne!(read, 0, "the answer ended");
    }
    assert!(leaves.try_recv().is_err(), "the agent waits for its client");
    drop(stream);
    timeout(PATIENCE, leaves.recv()).await.unwrap().unwrap();
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn poem() {
    try_out(recipes::stacks::poem_server::serve).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn salvo() {
    try_out(recipes::stacks::salvo_server::serve).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warp() {
    try_out(recipes::stacks::warp_server::serve).await;
}
