//! Answers each line of standard input, a text and a question, as an agent that writes the text and then asks,
//! and prints what a client of chat completions reads.

use std::convert::Infallible;
use std::io::{self, BufRead as _, Write as _};

use bytes::Bytes;
use copilot_wire::openai::{Event, Model, OpenAi};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, EventDecoder};
use copilot_wire::{Reply, Request, Router};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use serde::Deserialize;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

/// What is said before the question, and the question.
#[derive(Deserialize)]
struct Turn {
    text: String,
    title: String,
    message: String,
}

/// Asks what the user says.
async fn ask(request: Request<OpenAi>, reply: Reply<OpenAi>) -> Result<(), AgentError> {
    let turn: Turn = serde_json::from_str(&request.prompt().unwrap_or_default())?;
    reply.text(turn.text).await?;
    Ok(reply.confirm(Confirmation::new("delete-1", turn.title, turn.message))?)
}

/// Returns the answer to a line; `None` if the agent may not ask.
fn answer(router: &Router, line: &str) -> Result<Option<String>, Failure> {
    let body =
        json!({"model": "asker", "stream": true, "messages": [{"role": "user", "content": line}]});
    let body = stream::iter([Ok::<_, Infallible>(Bytes::from(body.to_string()))]);
    let request = http::Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(body)?;
    let response = block_on(router.handle(request));
    let frames: Vec<Bytes> = block_on(response.into_body().map(|Ok(frame)| frame).collect());
    let bytes = frames.concat();

    let mut text = String::new();
    let mut input = bytes.as_slice();
    let mut decoder = EventDecoder::<OpenAi>::new();
    while let Some(event) = decoder.next(&mut input)? {
        match event {
            Event::Chunk(chunk) => {
                let contents = chunk
                    .choices
                    .iter()
                    .filter_map(|it| it.delta.content.as_deref());
                text.extend(contents);
            }
            Event::Error(_) => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(text))
}

fn main() -> Result<(), Failure> {
    let router = Router::new().mount_fn(Model::new("asker"), ask)?;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        serde_json::to_writer(&mut out, &answer(&router, &line?)?)?;
        writeln!(out)?;
    }
    Ok(())
}
