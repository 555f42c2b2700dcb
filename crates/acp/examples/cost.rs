//! The cost of an agent in an editor. Without arguments: the time until the program answers, the time until the first
//! byte of an answer, and the memory of 100 sessions. `acp COUNT` and `sse COUNT` say so many tokens over either, each
//! in a frame of its own, through the same pipe to the same reader, for a counter of instructions: `valgrind
//! --tool=callgrind`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::future::poll_fn;
use std::io::{BufRead, BufReader, Write};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::protocol::{AgentError, Conversation as _, Env, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use copilot_wire_acp::Server;
use futures::Stream as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _};

/// Says as many tokens as the prompt asks for.
struct Teller;

#[async_trait]
impl<P: Protocol> Agent<P> for Teller {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let count = request.prompt().unwrap_or_default().parse()?;
        for _ in 0..count {
            reply.text(" token").await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match *arguments {
        ["agent"] => Ok(Server::new(Teller).stdio()?),
        ["acp", count] => {
            let id = "00000000-0000-4000-8000-000000000000";
            let prompt = json!([{"type": "text", "text": count}]);
            let messages = [
                message(1, "session/new", json!({"cwd": "/", "mcpServers": []})),
                message(
                    2,
                    "session/prompt",
                    json!({"sessionId": id, "prompt": prompt}),
                ),
            ];
            runtime.block_on(async {
                let server = Server::new(Teller).env(Env::new(Fixed));
                let (mut own, its) = tokio::io::duplex(1 << 20);
                let (input, output) = tokio::io::split(its);
                let served = tokio::spawn(async move { server.connect(input, output).await });
                own.write_all(messages.concat().as_bytes()).await?;
                // The last line is the response to the second request.
                read(own, |line| line.starts_with(br#"{"jsonrpc":"2.0","id":2"#)).await?;
                served.abort();
                Ok(())
            })
        }
        ["sse", count] => {
            let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": count}]});
            let request: ChatRequest = serde_json::from_value(body)?;
            runtime.block_on(async {
                let request = Request::<OpenAi>::new(request);
                let mut body = Body::run(Arc::new(Teller), request, &Env::default());
                let (own, mut output) = tokio::io::duplex(1 << 20);
                tokio::spawn(async move {
                    while let Some(Ok(frame)) =
                        poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await
                    {
                        output.write_all(&frame).await.unwrap();
                    }
                });
                read(own, |line| line == b"data: [DONE]").await
            })
        }
        _ => measure(),
    }
}

/// Reads lines until the last one.
async fn read(
    input: impl AsyncRead + Unpin,
    is_last: impl Fn(&[u8]) -> bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = tokio::io::BufReader::new(input).split(b'\n');
    while let Some(line) = lines.next_segment().await? {
        if is_last(&line) {
            return Ok(());
        }
    }
    Err("the stream has no end".into())
}

/// Random bytes that are zeros, so that the id of the session is known.
struct Fixed;

impl copilot_wire::protocol::Environment for Fixed {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn message(id: u32, method: &str, params: Value) -> String {
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    )
}

fn measure() -> Result<(), Box<dyn std::error::Error>> {
    let (mut starts, mut firsts) = (Vec::new(), Vec::new());
    for round in 0..20 {
        let start = Instant::now();
        let mut agent = Command::new(std::env::current_exe()?);
        let mut agent = agent
            .arg("agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = agent.stdin.take().unwrap();
        let mut lines = BufReader::new(agent.stdout.take().unwrap()).lines();
        let mut ask =
            |id, method: &str, params| input.write_all(message(id, method, params).as_bytes());
        ask(0, "initialize", json!({"protocolVersion": 1}))?;
        lines.next().unwrap()?;
        starts.push(start.elapsed());
        for number in 0..100 {
            let folders = json!({"cwd": "/", "mcpServers": []});
            ask(1, "session/new", folders)?;
            let new: Value = serde_json::from_str(&lines.next().unwrap()?)?;
            let session = new.pointer("/result/sessionId").unwrap();
            let prompt = json!([{"type": "text", "text": "100"}]);
            let start = Instant::now();
            ask(
                2,
                "session/prompt",
                json!({"sessionId": session, "prompt": prompt}),
            )?;
            let mut is_first = true;
            for line in &mut lines {
                let line = line?;
                if is_first && line.contains("agent_message_chunk") {
                    is_first = false;
                    firsts.push(start.elapsed());
                }
                if line.contains("stopReason") {
                    break;
                }
            }
            if round == 0 && [0, 99].contains(&number) {
                let status = std::fs::read_to_string(format!("/proc/{}/status", agent.id()))?;
                let memory = status.lines().find(|line| line.starts_with("VmRSS"));
                println!(
                    "{} sessions with a turn of 100 tokens: {memory:?}",
                    number + 1
                );
            }
        }
        drop(input);
        agent.wait()?;
    }
    for (name, mut times) in [
        ("the program answers", starts),
        ("the first byte of an answer", firsts),
    ] {
        times.sort();
        let at = |part: usize| {
            times
                .get(times.len() * part / 100)
                .copied()
                .unwrap_or_default()
        };
        println!("{name}: median {:?}, 99th percentile {:?}", at(50), at(99));
    }
    Ok(())
}
