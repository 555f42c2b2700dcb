//! Target for the connection of an editor: any bytes, in any pieces, while turns run.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::SystemTime;

use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation as _, Env, Environment, Protocol, ToolRun,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_acp::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};

use super::input::{Chunks, Input};

/// A clock that stands, and random bytes that count: the first session is
/// `00000000-0000-4000-8000-000000000000`.
#[derive(Default)]
struct Fixed(AtomicU64);

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let length = bytes.len();
        bytes[length - 8..].copy_from_slice(&number.to_be_bytes());
    }
}

/// Does what the first letter of the prompt asks for.
struct Player;

#[async_trait]
impl<P: Protocol> Agent<P> for Player {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        match prompt.chars().next().unwrap_or_default() {
            'q' if request.decision().is_none() => {
                let question = Confirmation::new("q", &prompt, "");
                let answers = prompt.split(' ').skip(1).map(str::to_owned);
                reply.confirm(question.answers(answers.collect::<Vec<_>>()))?;
            }
            't' => {
                reply.status(&*prompt).await?;
                let run = ToolRun::new(&*prompt, &json!({}), &prompt)?;
                reply.tool_run(run).await?;
            }
            'h' => std::future::pending().await,
            'f' => return Err(AgentError::new(prompt)),
            _ => {
                let answer = request.decision().map(|answer| answer.verdict);
                let said = request.history().count();
                reply.text(format!("{prompt} {answer:?} {said}")).await?;
            }
        }
        Ok(())
    }
}

/// The input in pieces, with a turn of the runtime before each.
struct Pieces<'a> {
    chunks: Chunks<'a>,
    is_ready: bool,
    rest: &'a [u8],
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.is_ready = !self.is_ready;
        if self.is_ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        while self.rest.is_empty() {
            match self.chunks.next() {
                Some(chunk) => self.rest = chunk,
                None => return Poll::Ready(Ok(())),
            }
        }
        let (now, rest) = self.rest.split_at(self.rest.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// Reads any bytes as the messages of an editor; the first one is the size of the pieces.
pub fn acp(data: &[u8]) {
    let mut input = Input(data);
    let how = input.byte();
    let pieces = Pieces {
        chunks: Chunks::new(input.0, how),
        is_ready: false,
        rest: &[],
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let output = runtime.block_on(async {
        let server = Server::new(Player).env(Env::new(Fixed::default()));
        let server = server
            .model("a", "A")
            .model("b", "B")
            .command("c", "C", None);
        let (mut own, its) = tokio::io::duplex(64 << 20);
        server.connect(pieces, its).await.unwrap();
        let mut output = Vec::new();
        own.read_to_end(&mut output).await.unwrap();
        output
    });
    // Every line is a message, and no request has two responses.
    let mut open: HashMap<String, usize> = HashMap::new();
    for line in String::from_utf8_lossy(input.0).split('\n') {
        // A message that is cut off has a response too.
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let id = message.get("id").cloned().unwrap_or_default();
        *open.entry(id.to_string()).or_default() += 1;
        *open.entry(Value::Null.to_string()).or_default() += 1;
    }
    let output = String::from_utf8(output).unwrap();
    for line in output.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_none() {
            let is_result = message.get("result").is_some();
            assert_ne!(is_result, message.get("error").is_some(), "{line}");
            let left = open.get_mut(&message["id"].to_string());
            let left = left.unwrap_or_else(|| panic!("nobody asked: {line}"));
            *left = left
                .checked_sub(1)
                .unwrap_or_else(|| panic!("again: {line}"));
        }
    }
}
