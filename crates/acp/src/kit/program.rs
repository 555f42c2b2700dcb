//! A running agent as an endpoint of checks.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError};
use futures_core::Stream;
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc};

use crate::lines::{Line, Lines};

/// The path of the request that closes the input of the agent.
pub(super) const END: &str = "/end";

/// A running agent, for [`check`](copilot_wire_kit::check): the input and the output of its program, or of a
/// [`Server`](crate::Server) in process.
///
/// The body of a request are messages, a line each, and that of the response are the agent's messages, up to the
/// response to the last request. Requests of the agent are answered as by a user who cancels everything.
pub struct Program(Arc<Mutex<Pipes>>);

struct Pipes {
    input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    output: Lines<Box<dyn AsyncRead + Send + Unpin>>,
}

impl Program {
    /// Creates an endpoint from the input of an agent, to which messages are written, and its output.
    pub fn new(
        input: impl AsyncWrite + Send + Unpin + 'static,
        output: impl AsyncRead + Send + Unpin + 'static,
    ) -> Self {
        Self(Arc::new(Mutex::new(Pipes {
            input: Some(Box::new(input)),
            output: Lines::new(Box::new(output)),
        })))
    }
}

impl Pipes {
    async fn write(&mut self, messages: &[u8]) -> std::io::Result<()> {
        if let Some(input) = &mut self.input {
            input.write_all(messages).await?;
            input.flush().await?;
        }
        Ok(())
    }

    /// Passes the messages of the agent on, up to the response to the request `id`, or else to the end.
    async fn pass(&mut self, id: Option<Value>, to: &Pieces) {
        loop {
            let line = tokio::select! {
                line = self.output.next() => line,
                // The check waits no longer.
                () = to.closed() => return,
            };
            let line = match line {
                Ok(Some(Line::Text(line))) => line,
                Ok(Some(Line::TooLong)) => b"a line that is too long".to_vec(),
                Ok(None) if id.is_none() => return,
                Ok(None) => {
                    let _ = to
                        .send(Err(EndpointError::new("the agent has ended")))
                        .await;
                    return;
                }
                Err(error) => {
                    let _ = to.send(Err(EndpointError::new(error))).await;
                    return;
                }
            };
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            if to.send(Ok([&*line, b"\n"].concat().into())).await.is_err() {
                return;
            }
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(asked)) => {
                    let cancelled =
                        json!({"outcome": {"outcome": "cancelled"}, "action": "cancel"});
                    let answer = json!({"jsonrpc": "2.0", "id": asked, "result": cancelled});
                    // An agent that has ended is noticed above.
                    let _ = self.write(format!("{answer}\n").as_bytes()).await;
                }
                (None, response) if id.is_some() && response == id.as_ref() => return,
                _ => {}
            }
        }
    }
}

type Piece = Result<Bytes, EndpointError>;
type Pieces = mpsc::Sender<Piece>;

#[async_trait]
impl Endpoint for Program {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let mut pipes = Arc::clone(&self.0).lock_owned().await;
        let mut id = None;
        if request.uri().path() == END {
            if let Some(mut input) = pipes.input.take() {
                // An agent that has ended is noticed below.
                let _ = input.shutdown().await;
            }
        } else {
            let lines = request.body().split(|byte| *byte == b'\n');
            let requests = lines.filter_map(|line| {
                let message: Value = serde_json::from_slice(line).ok()?;
                message.get("id").cloned()
            });
            id = Some(requests.fold(Value::Null, |_, id| id));
            let messages = [request.body(), b"\n".as_slice()].concat();
            pipes.write(&messages).await.map_err(EndpointError::new)?;
        }
        let (to, from) = mpsc::channel(16);
        tokio::spawn(async move { pipes.pass(id, &to).await });
        Ok(Response::new(Box::pin(Received(from))))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

struct Received(mpsc::Receiver<Piece>);

impl Stream for Received {
    type Item = Piece;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        self.0.poll_recv(cx)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}
